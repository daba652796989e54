// Describes the machine in words, for `xferbench info` and the lines above results. Pure functions from facts to text.
#pragma once

#include "results/result.hpp"

namespace xferbench {

/// Returns for example "xferbench 0.1.0 (abc1234), gcc 12.2, CUDA 13.0, Release".
std::string version_line();

/// Returns the theoretical peak rates of link, memory and NVLinks in GB/s, without those that are unknown.
std::vector<Metric> limits_of(const Environment::Gpu& gpu);

/// Returns for example "NVIDIA H200, PCIe Gen5 x16, driver 580.1, Some CPU"; several GPUs as "2 x NVIDIA H200, ...".
std::string machine_line(const Environment& environment);

/// Returns facts about the GPUs, their links and their limits; for several GPUs, also how they reach each other and
/// what they share. Names that are indented by two blanks are facts about the GPU above them.
Labels gpu_facts(const Environment& environment);
/// Returns facts about the host. `gpus`: number of the GPUs that the facts are about.
Labels host_facts(const Environment::Host& host, std::size_t gpus = 1);

}  // namespace xferbench
