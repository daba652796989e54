// Which cases do the same work, so that one can be faster than another. Pure functions.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/axis.hpp"

namespace xferbench::validation {

/// A case, and those of its axes that say what is done, and not how; none: all, but for those that name a way of doing
/// it (kind_of()).
struct Work {
  const Case* config = nullptr;
  std::span<const std::string_view> axes{};
};

/// A name for each case's work, alike for those that do the same: "overlap 16 MiB, 10 rounds". Params that are alike in
/// all cases of a scenario are left out, but for size, direction and rounds.
std::vector<std::string> names_of_work(std::span<const Work> cases);

/// What tells ways of doing the same apart: "engines"; the scenario's name where nothing does.
std::string kind_of(const Case& c);

}  // namespace xferbench::validation
