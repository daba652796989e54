// The machine in words, for `xferbench info` and above results. Pure functions from facts to text.
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

/// "NVIDIA H200, PCIe Gen5 x16, driver 580.1, Some CPU"; of several GPUs "2 x NVIDIA H200, ..."
std::string machine_line(const Environment& environment);

/// The GPUs, their links and what limits them; of several, how they reach each other and what they share. Names of what
/// belongs to the GPU above them are indented by two blanks.
Labels gpu_facts(const Environment& environment);
/// `gpus`: how many GPUs the facts are about.
Labels host_facts(const Environment::Host& host, std::size_t gpus = 1);

}  // namespace xferbench
