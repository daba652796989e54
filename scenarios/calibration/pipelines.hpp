// Not a scenario: figures of a profile that follow from what overlap says its operations cost.
#pragma once

#include <span>

#include "scenarios/calibration/figures.hpp"

namespace xferbench {

void add_pipelines(std::span<const NamedReport> runs, Figures& figures);

}  // namespace xferbench
