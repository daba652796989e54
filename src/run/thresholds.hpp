// `tune` for several works, such as several sizes: which configuration to choose for each. Pure functions.
#pragma once

#include <string_view>

#include "run/tuner.hpp"

namespace xferbench {

/// Returns a key that cases of the same work share.
std::string work_key(const Case& c, std::span<const std::string_view> work_axes);

/// Groups cases by the values of these axes, in the order in which the values appear.
std::vector<std::vector<Case>> by_work(std::span<const Case> cases, std::span<const std::string_view> work_axes);

/// Returns findings of kind "choice", one for each of several works, and of kind "threshold", which name the values of
/// an axis at which the choice changes. A choice is the simplest configuration within 1 % of the fastest. Its labels
/// are its values of the axes that `tune` varied, except axes with the default value in all choices. Works without a
/// measured configuration are left out.
std::vector<Finding> threshold_findings(const ScenarioDescriptor& scenario, std::span<const Tuned> works);

}  // namespace xferbench
