// `xferbench info`: the machine in words. Pure functions from facts to text.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "results/result.hpp"

namespace xferbench {

/// "xferbench 0.1.0 (abc1234), gcc 12.2, CUDA 13.0, Release"
std::string version_line();

/// What link, memory and NVLinks can do at most, in GB/s; what is unknown is absent.
std::vector<Metric> limits_of(const Environment::Gpu& gpu);

/// The GPUs, their links and what limits them; of several, how they reach each other and what they share. All lines fit
/// 80 columns.
std::string describe_gpus(const Environment& environment);
/// `gpus`: how many GPUs the facts are about.
std::string describe_host(const Environment::Host& host, std::size_t gpus = 1);

}  // namespace xferbench
