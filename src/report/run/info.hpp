// `xferbench info`: the machine in words. Pure functions from facts to text.
#pragma once

#include <string>
#include <vector>

#include "results/result.hpp"

namespace xferbench {

/// "xferbench 0.1.0 (abc1234), gcc 12.2, CUDA 13.0, Release"
std::string version_line();

/// What link and memory can do at most, in GB/s; what is unknown is absent.
std::vector<Metric> limits_of(const Environment::Gpu& gpu);

/// The GPU, its link and their limits.
std::string describe_gpu(const Environment& environment);
std::string describe_host(const Environment::Host& host);

}  // namespace xferbench
