// What every command that measures does around its measuring: opens the device, begins a report, says what was
// doubtful, and chooses the exit code.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/command.hpp"
#include "device/intercepted.hpp"
#include "device/machine.hpp"
#include "device/open.hpp"
#include "paper/style.hpp"
#include "results/result.hpp"
#include "run/watchdog.hpp"

namespace xferbench::app {

/// The GPUs that were asked for; where none were, what these scenarios need.
GpuSelection gpus_for(const cli::DeviceChoice& choice, Descriptors scenarios);

/// This machine with these of its GPUs, or the modelled one. Throws NoDeviceError.
std::unique_ptr<Machine> open_machine(const cli::DeviceChoice& choice, const GpuSelection& gpus);

/// The same, with somebody who notices that its GPU does not come back.
struct WatchedMachine {
  WatchedMachine(const cli::DeviceChoice& choice, Descriptors scenarios)
      : machine(intercept(open_machine(choice, gpus_for(choice, scenarios)), watchdog.observer())) {}

  Watchdog watchdog;
  std::unique_ptr<Machine> machine;

  [[nodiscard]] Device& device() const { return machine->device(); }
  [[nodiscard]] const Environment& environment() const { return device().capabilities().environment; }
};

/// Of every scenario.
std::vector<const ScenarioDescriptor*> descriptors();
/// What the results of these scenarios may have.
MetricsDeclared declared_by(Descriptors scenarios);

/// Colours as the user wants them; if that was not said, on a terminal.
Style style_of(const cli::Presentation& show);
/// Columns of the terminal that standard output is; 0 where it is none, or does not say.
std::size_t columns_of_terminal();

/// Environment variables that change what CUDA does and so belong to a result.
std::vector<std::pair<std::string, std::string>> cuda_variables();

/// ISO 8601.
std::string utc_now();

/// As files have it: the program's name and its arguments.
std::vector<std::string> whole_command(std::vector<std::string> arguments);

/// A report without results, of cases of these scenarios, measured so.
Report begin_report(const cli::Measuring& measuring, const Device& device, Descriptors scenarios);

/// One line for each failed case, and one for each kind of warning: a sweep may have hundreds of the same.
void print_warnings(const Report& report);

int exit_code(const Report& report);

}  // namespace xferbench::app
