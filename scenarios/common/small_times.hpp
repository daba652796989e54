// Not a scenario: what those have in common that time one small thing at a time.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "measure/region.hpp"
#include "measure/sampler.hpp"

namespace xferbench {

/// By the host's clock, in steps that time its parts.
Region in_steps(const char* name, std::vector<Region::Part> parts, std::function<void(LapTimer&)> steps);

/// A part of a region that is what the case is about. What is wrong with the region's passes is wrong with it.
Measurement main_part(const Series& series, std::string_view name);

}  // namespace xferbench
