#include "app/session.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include "app/profile_input.hpp"
#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/lists.hpp"
#include "core/standard_error.hpp"
#include "ranks/launcher.hpp"
#include "results/utc.hpp"
#include "scenarios/scenarios.hpp"
#include "words/run.hpp"

namespace xferbench::app {

GpuSelection gpus_for(const cli::DeviceChoice& choice, Descriptors scenarios) {
  if (choice.gpus) return *choice.gpus;
  if (choice.gpu) return *choice.gpu;
  const bool several = std::ranges::any_of(scenarios, [](const auto* s) { return s->gpus == UsesGpus::several; });
  return several ? GpuSelection{.numbers = {}} : GpuSelection{};
}

std::unique_ptr<Machine> open_machine(const cli::DeviceChoice& choice, const GpuSelection& gpus) {
  if (!choice.simulate) return open_gpus(gpus, choice.numa);
  if (const auto text = load_profile(*choice.simulate)) return open_simulated(*text, gpus, choice.rank);
  return open_simulated(*choice.simulate, gpus, choice.rank);
}

std::vector<const ScenarioDescriptor*> descriptors() {
  return list_of(scenarios(), [](const Scenario* scenario) { return &scenario->descriptor(); });
}

MetricsDeclared declared_by(Descriptors scenarios) {
  MetricsDeclared declared;
  for (const ScenarioDescriptor* scenario : scenarios) declared.emplace(scenario->name, scenario->metrics);
  return declared;
}

std::size_t columns_of_terminal() {
  winsize size{};
  if (isatty(STDOUT_FILENO) != 1 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

namespace {

/// Whether this process is one of several ranks. Launchers give each rank a terminal of its own, and forward its output
/// to where the user directs it, often a file.
bool is_rank() {
  const auto launch = launch_of([](const char* name) { return std::getenv(name); });
  return launch && launch->size != 1;
}

bool colours(const cli::Presentation& show) {
  if (show.color != cli::ColorMode::automatic) return show.color == cli::ColorMode::always;
  const char* no_color = std::getenv("NO_COLOR");
  return is_able_terminal(STDOUT_FILENO) && !is_rank() && (no_color == nullptr || *no_color == '\0');
}

}  // namespace

std::optional<bool> locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {  // the first variable that is set decides
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const std::string_view locale(value);
    return locale.find("UTF-8") != std::string_view::npos || locale.find("utf8") != std::string_view::npos;
  }
  return std::nullopt;
}

Style style_of(const cli::Presentation& show) {
  return {.color = colours(show),
          .columns = show.wide ? 0 : columns_of_terminal(),
          .every_row = show.wide,
          .ascii = !locale_is_utf8().value_or(true)};
}

std::string utc_now() { return utc_text(std::time(nullptr)) + "Z"; }

std::vector<std::pair<std::string, std::string>> cuda_variables() {
  std::vector<std::pair<std::string, std::string>> found;
  for (const char* name : {"CUDA_DEVICE_MAX_CONNECTIONS", "CUDA_DEVICE_ORDER", "CUDA_MODULE_LOADING",
                           "CUDA_VISIBLE_DEVICES", kInjectVariable}) {
    if (const char* value = std::getenv(name)) found.emplace_back(name, value);
  }
  return found;
}

std::vector<std::string> whole_command(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "xferbench");
  return arguments;
}

Report begin_report(const cli::Measuring& measuring, const Device& device, Descriptors scenarios) {
  Report report;
  report.started_at = utc_now();
  report.command = whole_command(measuring.arguments);
  report.verified = measuring.verify;
  report.environment = device.capabilities().environment;
  report.environment.variables = cuda_variables();
  report.metrics_declared = declared_by(scenarios);
  return report;
}

int exit_code(const Report& report) {
  if (const int signal = interrupted(); signal != 0) return 128 + signal;
  const auto have = [&report](Status status) { return std::ranges::count(report.results, status, &Result::status); };
  const bool measured = have(Status::ok) + have(Status::failed) > 0;
  const bool well = report.complete && have(Status::failed) == 0;
  return static_cast<int>(!measured ? ExitCode::nothing_measured : (well ? ExitCode::ok : ExitCode::failed));
}

void print_warnings(const Report& report) {
  for (const Result& r : report.results) {
    if (r.status == Status::failed) tell(fmt::format("{} failed: {}", r.config.key(), r.reason));
  }
  for (const std::string& line : warning_lines(report)) tell("warning: " + line);
}

}  // namespace xferbench::app
