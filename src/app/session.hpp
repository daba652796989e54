// Functions that all measuring commands share, for example to open the device and to choose the exit code.
#pragma once

#include <memory>
#include <optional>
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

/// Returns the GPUs that the user requested; without a request, those that the scenarios need.
GpuSelection gpus_for(const cli::DeviceChoice& choice, Descriptors scenarios);

/// Opens this machine with these GPUs, or the simulated machine. Throws NoDeviceError if there is no such GPU.
std::unique_ptr<Machine> open_machine(const cli::DeviceChoice& choice, const GpuSelection& gpus);

/// A machine with a watchdog thread that notices if its GPU does not respond.
struct MonitoredMachine {
  MonitoredMachine(const cli::DeviceChoice& choice, Descriptors scenarios)
      : machine(intercept(open_machine(choice, gpus_for(choice, scenarios)), watchdog.observer())) {}

  Watchdog watchdog;
  std::unique_ptr<Machine> machine;

  [[nodiscard]] Device& device() const { return machine->device(); }
  [[nodiscard]] const Environment& environment() const { return device().capabilities().environment; }
};

std::vector<const ScenarioDescriptor*> descriptors();
/// Returns the declarations of the metrics that results of these scenarios may have.
MetricsDeclared declared_by(Descriptors scenarios);

/// Returns the text style for standard output. If the user did not choose, only terminals get colours.
Style style_of(const cli::Presentation& show);
/// Returns whether the encoding of the locale is UTF-8; nullopt if no environment variable sets a locale.
std::optional<bool> locale_is_utf8();
/// Returns the number of columns of the terminal on standard output; 0 if there is no terminal or its width is unknown.
std::size_t columns_of_terminal();

/// Returns the environment variables that change CUDA's behaviour, with their values. They are stored with the results.
std::vector<std::pair<std::string, std::string>> cuda_variables();

/// Returns the current time in UTC in ISO 8601 format.
std::string utc_now();

/// Returns the command line as results files store it: the program's name followed by its arguments.
std::vector<std::string> whole_command(std::vector<std::string> arguments);

/// Returns a report without results, which contains the environment and the metric declarations of these scenarios.
Report begin_report(const cli::Measuring& measuring, const Device& device, Descriptors scenarios);

/// Prints one line for each failed case. Prints equal warnings, of which a sweep may have hundreds, as one line.
void print_warnings(const Report& report);

/// Returns 128 plus the signal number after an interrupt, `nothing_measured` if every case was skipped, `failed` if the
/// report is incomplete or a case failed, and otherwise `ok`.
int exit_code(const Report& report);

}  // namespace xferbench::app
