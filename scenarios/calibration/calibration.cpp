#include "scenarios/calibration/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "scenarios/calibration/figures.hpp"

namespace xferbench {

namespace {

/// Raises each host-memory bandwidth of the profile to the measured copy rate if this rate is higher, because host
/// memory is at least as fast as the copies from and to it.
void add_host_memory(Figures& figures) {
  struct Share {
    const char* memory;
    const char* rate;
    const char* of_rate;  ///< name of the factor by which `rate` changes while both directions run; null: 1
  };
  for (const auto& [memory, rate, of_rate] : {Share{"socket_memory.in", "h2d_rate", nullptr},
                                              {"socket_memory.out", "d2h_rate", nullptr},
                                              {"socket_memory.duplex_in", "h2d_rate", "h2d_duplex_rate"},
                                              {"socket_memory.duplex_out", "d2h_rate", "d2h_duplex_rate"}}) {
    if (!figures.has(rate)) continue;
    const double moved = figures.known(rate) * (of_rate == nullptr ? 1 : figures.known(of_rate));
    if (moved > figures.known(memory))
      figures.add(memory, moved, std::nullopt, "lower bound from " + figures.source(rate));
  }
}

void add_environment(const NamedReport& run, Figures& figures) {
  const Environment::Gpu& gpu = run.report.environment.gpu;
  const auto add = [&](const char* field, double value) {
    if (value > 0) figures.add(field, value, std::nullopt, run.name + ": environment");
  };
  add("multiprocessors", gpu.multiprocessors);
  add("memory_bytes", static_cast<double>(gpu.memory_bytes));
  add("sm_clock_hz", gpu.max_sm_clock_hz);
  add("memory_bandwidth", gpu.memory_bandwidth);
  // The simulated device models at most two copy engines; more would change nothing.
  add("copy_engines", std::min(2U, gpu.copy_engines));
  if (!gpu.pcie) return;
  add("pcie_generation", gpu.pcie->generation);
  add("pcie_width", gpu.pcie->width);
}

void require_one_machine(std::span<const NamedReport> runs, bool simulated_too) {
  for (const NamedReport& run : runs) {
    const Environment& e = run.report.environment;
    if (e.simulated() && !simulated_too) {
      throw UsageError(
          fmt::format("{} was measured on a simulated device, so a profile made from it describes no real machine; use "
                      "--allow-simulated to accept it",
                      run.name));
    }
    if (e.gpu.name != runs.front().report.environment.gpu.name) {
      throw UsageError(fmt::format(
          "{} is from {}, but {} is from {}: a profile describes one GPU model; give results of one model only",
          runs.front().name, runs.front().report.environment.gpu.name, run.name, e.gpu.name));
    }
  }
}

}  // namespace

Calibration calibrate(std::span<const NamedReport> runs, const BaseNumber& base, bool simulated_too) {
  require_one_machine(runs, simulated_too);
  Calibration calibration{.gpu = runs.front().report.environment.gpu.name};
  calibration.simulated =
      std::ranges::any_of(runs, [](const NamedReport& r) { return r.report.environment.simulated(); });
  Figures figures(calibration, base);
  // The order matters: later functions subtract costs that earlier functions have found.
  add_pipelines(runs, figures);
  add_pinned_copies(runs, figures);
  add_calls(runs, figures);
  add_pageable_copies(runs, figures);
  add_kernels_on_link(runs, figures);
  add_inside(runs, figures);
  add_pieces(runs, figures);
  add_files(runs, figures);
  add_host_memory(figures);
  add_environment(runs.front(), figures);
  return calibration;
}

}  // namespace xferbench