// What all measuring commands share: opening the device, beginning a report, printing warnings and choosing the exit
// code.
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

/// The requested GPUs; if none were, those that the scenarios need.
GpuSelection gpus_for(const cli::DeviceChoice& choice, Descriptors scenarios);

/// Opens this machine with these GPUs, or the simulated one. Throws NoDeviceError.
std::unique_ptr<Machine> open_machine(const cli::DeviceChoice& choice, const GpuSelection& gpus);

/// A machine with a watchdog that notices if its GPU does not answer.
struct MonitoredMachine {
  MonitoredMachine(const cli::DeviceChoice& choice, Descriptors scenarios)
      : machine(intercept(open_machine(choice, gpus_for(choice, scenarios)), watchdog.observer())) {}

  Watchdog watchdog;
  std::unique_ptr<Machine> machine;

  [[nodiscard]] Device& device() const { return machine->device(); }
  [[nodiscard]] const Environment& environment() const { return device().capabilities().environment; }
};

/// The descriptors of all scenarios.
std::vector<const ScenarioDescriptor*> descriptors();
/// The metrics that results of these scenarios may have.
MetricsDeclared declared_by(Descriptors scenarios);

/// The style for standard output. Without a choice of the user, only terminals get colours.
Style style_of(const cli::Presentation& show);
/// Whether the encoding of the locale is UTF-8; nothing if no variable sets a locale.
std::optional<bool> locale_is_utf8();
/// Columns of the terminal that standard output is; 0 where it is none, or does not say.
std::size_t columns_of_terminal();

/// Environment variables that change CUDA's behaviour and so belong to a result.
std::vector<std::pair<std::string, std::string>> cuda_variables();

/// The current time in UTC as ISO 8601.
std::string utc_now();

/// The command line as files store it: the program's name and its arguments.
std::vector<std::string> whole_command(std::vector<std::string> arguments);

/// A report without results, with the environment and the metrics of these scenarios.
Report begin_report(const cli::Measuring& measuring, const Device& device, Descriptors scenarios);

/// Prints one line for each failed case and one for each kind of warning: a sweep may have hundreds of the same.
void print_warnings(const Report& report);

/// 128 + the signal after an interrupt, `nothing_measured` if every case was skipped, `failed` if the report is
/// incomplete or a case failed; else `ok`.
int exit_code(const Report& report);

}  // namespace xferbench::app
