#include "app/commands.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cctype>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <map>
#include <optional>

#include "cli/help.hpp"
#include "cli/progress.hpp"
#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "device/host.hpp"
#include "device/open.hpp"
#include "report/info.hpp"
#include "report/json.hpp"
#include "report/output.hpp"
#include "report/table.hpp"
#include "report/timeline.hpp"
#include "run/findings.hpp"
#include "run/runner.hpp"
#include "scenarios/scenarios.hpp"

namespace xferbench::app {

namespace {

using cli::Command;

std::vector<ScenarioView> views() {
  std::vector<ScenarioView> all;
  for (const Scenario* scenario : scenarios()) all.push_back(scenario->view());
  return all;
}

std::unique_ptr<Device> open_device(const Command& command) {
  return command.simulate ? open_simulated(*command.simulate) : open_gpu(command.gpu.value_or(0), command.numa);
}

bool wants_color(const Command& command) {
  if (command.color != cli::ColorMode::automatic) return command.color == cli::ColorMode::always;
  const char* no_color = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) == 1 && (no_color == nullptr || *no_color == '\0');
}

/// Block elements where the locale's encoding has them.
Glyphs glyphs() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {  // the first that is set decides
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const std::string locale(value);
    const bool utf8 = locale.find("UTF-8") != std::string::npos || locale.find("utf8") != std::string::npos;
    return utf8 ? Glyphs::blocks : Glyphs::ascii;
  }
  return Glyphs::ascii;
}

std::string utc_now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

/// Environment variables that change what CUDA does and so belong to a result.
std::vector<std::pair<std::string, std::string>> cuda_variables() {
  std::vector<std::pair<std::string, std::string>> found;
  for (const char* name :
       {"CUDA_DEVICE_MAX_CONNECTIONS", "CUDA_DEVICE_ORDER", "CUDA_MODULE_LOADING", "CUDA_VISIBLE_DEVICES"}) {
    if (const char* value = std::getenv(name)) found.emplace_back(name, value);
  }
  return found;
}

Report begin_report(const std::vector<std::string>& arguments, const Device& device) {
  Report report;
  report.started_at = utc_now();
  report.command = {"xferbench"};
  report.command.insert(report.command.end(), arguments.begin(), arguments.end());
  report.environment = device.capabilities().environment;
  report.environment.variables = cuda_variables();
  return report;
}

/// If no case can run, that is a mistake in the command and not a result.
void refuse_if_none_can_run(const Command& command, Device& device) {
  std::string first;
  for (const PlannedCase& c : command.cases) {
    const auto reason = refusal(c, device, command.verify);
    if (!reason) return;
    if (first.empty()) first = c.config.key() + " " + *reason;
  }
  throw UsageError(first);
}

int exit_code(const Report& report) {
  if (const int signal = interrupted(); signal != 0) return 128 + signal;
  for (const Result& r : report.results) {
    if (r.status == Status::failed) return static_cast<int>(ExitCode::failed);
  }
  return static_cast<int>(ExitCode::ok);
}

/// Warnings that differ only in their numbers are of one kind.
std::string kind_of(const std::string& warning) {
  std::string kind;
  for (const char c : warning) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) kind += c;
  }
  return kind;
}

/// One line for each failed case, and one for each kind of warning: a sweep may have hundreds of the same.
void print_warnings(const Report& report) {
  struct Kind {
    std::string first;
    std::size_t cases = 0;
  };
  std::vector<std::string> order;
  std::map<std::string, Kind> kinds;
  for (const Result& r : report.results) {
    if (r.status == Status::failed) fmt::print(stderr, "xferbench: {} failed: {}\n", r.config.key(), r.reason);
    for (const std::string& warning : r.warnings) {
      Kind& kind = kinds[kind_of(warning)];
      if (kind.cases++ > 0) continue;
      kind.first = fmt::format("{}: {}", r.config.key(), warning);
      order.push_back(kind_of(warning));
    }
  }
  for (const std::string& key : order) {
    const Kind& kind = kinds[key];
    const std::string more = kind.cases == 2  ? " (and in 1 more case)"
                             : kind.cases > 2 ? fmt::format(" (and in {} more cases)", kind.cases - 1)
                                              : "";
    fmt::print(stderr, "xferbench: warning: {}{}\n", kind.first, more);
  }
}

/// A file of a run, if one was asked for. Losing it never ends the run: the table still shows the results, and the
/// error comes last.
class RunFile {
 public:
  explicit RunFile(const std::optional<std::string>& path) {
    if (path) file_.emplace(*path);
  }

  [[nodiscard]] bool wanted() const { return file_.has_value(); }
  [[nodiscard]] bool is_standard_output() const { return file_ && file_->is_standard_output(); }

  void update(const std::string& text) {
    attempt([&] { file_->update(text); });
  }
  void finish(const std::string& text) {
    attempt([&] { file_->finish(text); });
  }

  /// Throws the error of the last attempt to write, if it failed.
  void rethrow() const {
    if (error_) throw OutputError(*error_);
  }

 private:
  template <class Write>
  void attempt(const Write& write) {
    try {
      write();
      error_.reset();
    } catch (const OutputError& error) {
      error_ = error;
    }
  }

  std::optional<ResultsFile> file_;
  std::optional<OutputError> error_;
};

/// The report of a run in progress, and its files: one follows it, one is written at the end.
class LiveReport {
 public:
  LiveReport(Report report, const Command& command)
      : report_(std::move(report)), json_(command.json), timeline_(command.timeline) {
    if (json_.is_standard_output() && timeline_.is_standard_output()) {  // as "-" and /dev/stdout
      throw UsageError("--json and --timeline cannot both be standard output; give one of them a file");
    }
  }

  [[nodiscard]] const Report& report() const { return report_; }
  [[nodiscard]] bool owns_standard_output() const {
    return json_.is_standard_output() || timeline_.is_standard_output();
  }

  void add(const Result& result) {
    report_.results.push_back(result);
    // After Ctrl-C every case that is left is skipped at once, and finish() writes them all: a file for each would keep
    // the user waiting for minutes.
    if (!json_.wanted() || interrupted() != 0 || Clock::now() < next_update_) return;
    const auto begun = Clock::now();
    json_.update(to_json(report_));
    // The file grows with every case: at most a tenth of the time may go into rewriting it.
    next_update_ = Clock::now() + 9 * (Clock::now() - begun);
  }

  void finish() {
    report_.complete = interrupted() == 0;
    report_.findings = conclude(scenarios(), report_.results);
    if (json_.wanted()) json_.finish(to_json(report_));
    if (timeline_.wanted()) timeline_.finish(to_chrome_trace(report_));
  }

  /// Throws the error of a file that could not be written in the end.
  void rethrow() const {
    json_.rethrow();
    timeline_.rethrow();
  }

 private:
  using Clock = std::chrono::steady_clock;

  Report report_;
  RunFile json_;
  RunFile timeline_;
  Clock::time_point next_update_;
};

void run_with_progress(const Command& command, Device& device, LiveReport& live) {
  cli::Progress progress(!command.quiet, command.cases.size());
  const Bench bench{device,
                    command.policy,
                    command.seed,
                    command.verify,
                    [&progress](const SamplingProgress& p) { progress.sampled(p); },
                    command.timeline.has_value()};
  run_cases(
      command.cases, bench, [&progress](std::size_t i, const Case& c) { progress.begin(i, c); },
      [&live](const Result& result) { live.add(result); });
}

}  // namespace

int run(const Command& command, const std::vector<std::string>& arguments) {
  const std::unique_ptr<Device> device = open_device(command);
  refuse_if_none_can_run(command, *device);
  LiveReport live(begin_report(arguments, *device), command);
  install_interrupt_handlers();
  run_with_progress(command, *device, live);
  // The file before the table: a reader that goes away (xferbench ... | head) ends this program.
  live.finish();
  if (!command.quiet) print_warnings(live.report());
  if (!live.owns_standard_output()) {
    const Style style{wants_color(command)};
    write_standard_output(to_table(live.report(), views(), style) + to_gantts(live.report(), style, glyphs()));
  }
  live.rethrow();
  return exit_code(live.report());
}

int dry_run(const Command& command) {
  std::string text;
  for (const PlannedCase& c : command.cases) {
    const auto objection = c.scenario->objection(c.config);
    text += c.config.key() + (objection ? "  (skipped: " + *objection + ")" : "") + "\n";
  }
  write_standard_output(text);
  return 0;
}

/// What there is; a machine without a GPU has an answer too. A GPU asked for by number must exist.
int info(const Command& command) {
  std::string text = version_line() + "\n";
  std::optional<Environment::Host> host;
  try {
    const std::unique_ptr<Device> device = open_device(command);
    text += describe_gpu(device->capabilities().environment);
    host = device->capabilities().environment.host;
  } catch (const NoDeviceError& error) {
    if (command.gpu) throw;
    text += fmt::format("{:<12} none: {}\n", "GPU", error.what());
  }
  text += describe_host(host ? *host : describe_host());
  text += "simulate:";
  for (const auto& [name, description] : simulated_profiles()) text += fmt::format("\n  {:<16} {}", name, description);
  write_standard_output(text + "\n");
  return 0;
}

int list(const Command& command) {
  write_standard_output(command.about != nullptr ? cli::describe(command.about->view()) : cli::list(views()));
  return 0;
}

int help(const Command& command) {
  write_standard_output(command.about != nullptr ? cli::describe(command.about->view()) : cli::help(views()));
  return 0;
}

int version() {
  write_standard_output(version_line() + "\n");
  return 0;
}

}  // namespace xferbench::app
