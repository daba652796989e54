#include "app/session.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <ctime>
#include <string_view>

#include "core/interrupt.hpp"
#include "device/open.hpp"
#include "report/run/run_report.hpp"
#include "report/trace/timeline.hpp"
#include "results/json.hpp"
#include "scenarios/scenarios.hpp"

namespace xferbench::app {

std::unique_ptr<Machine> open_machine(const cli::DeviceChoice& choice) {
  return choice.simulate ? open_simulated(*choice.simulate) : open_gpu(choice.gpu.value_or(0), choice.numa);
}

std::vector<const ScenarioDescriptor*> descriptors() {
  std::vector<const ScenarioDescriptor*> all;
  for (const Scenario* scenario : scenarios()) all.push_back(&scenario->descriptor());
  return all;
}

MetricsDeclared declared_by(Descriptors scenarios) {
  MetricsDeclared declared;
  for (const ScenarioDescriptor* scenario : scenarios) declared.emplace(scenario->name, scenario->metrics);
  return declared;
}

Style style_of(const cli::Presentation& show) {
  if (show.color != cli::ColorMode::automatic) return {show.color == cli::ColorMode::always};
  const char* no_color = std::getenv("NO_COLOR");
  return {isatty(STDOUT_FILENO) == 1 && (no_color == nullptr || *no_color == '\0')};
}

namespace {

std::string utc_now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> cuda_variables() {
  std::vector<std::pair<std::string, std::string>> found;
  for (const char* name :
       {"CUDA_DEVICE_MAX_CONNECTIONS", "CUDA_DEVICE_ORDER", "CUDA_MODULE_LOADING", "CUDA_VISIBLE_DEVICES"}) {
    if (const char* value = std::getenv(name)) found.emplace_back(name, value);
  }
  return found;
}

Report begin_report(const std::vector<std::string>& arguments, const Device& device, Descriptors scenarios) {
  Report report;
  report.started_at = utc_now();
  report.command = {"xferbench"};
  report.command.insert(report.command.end(), arguments.begin(), arguments.end());
  report.environment = device.capabilities().environment;
  report.environment.variables = cuda_variables();
  report.metrics_declared = declared_by(scenarios);
  return report;
}

int exit_code(const Report& report) {
  if (const int signal = interrupted(); signal != 0) return 128 + signal;
  for (const Result& r : report.results) {
    if (r.status == Status::failed) return static_cast<int>(ExitCode::failed);
  }
  return static_cast<int>(ExitCode::ok);
}

namespace {

/// Warnings that differ only in their numbers are of one kind.
std::string kind_of(const std::string& warning) {
  std::string kind;
  for (const char c : warning) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) kind += c;
  }
  return kind;
}

}  // namespace

void print_warnings(const Report& report) {
  struct Kind {
    std::string kind;
    std::string first;  // the case and its warning
    std::size_t cases = 0;
  };
  std::vector<Kind> kinds;
  for (const Result& r : report.results) {
    if (r.status == Status::failed) fmt::print(stderr, "xferbench: {} failed: {}\n", r.config.key(), r.reason);
    for (const std::string& warning : r.warnings) {
      const std::string kind = kind_of(warning);
      auto known = std::ranges::find(kinds, kind, &Kind::kind);
      if (known == kinds.end()) known = kinds.insert(known, {kind, fmt::format("{}: {}", r.config.key(), warning)});
      ++known->cases;
    }
  }
  for (const auto& [kind, first, cases] : kinds) {
    const std::string more =
        cases == 1 ? "" : fmt::format(" (and in {} more case{})", cases - 1, cases == 2 ? "" : "s");
    fmt::print(stderr, "xferbench: warning: {}{}\n", first, more);
  }
}

LiveReport::LiveReport(Report report, const cli::OutputFiles& files, ToText to_markdown, const KnownResults& known)
    : report_(std::move(report)) {
  for (const auto& [index, result] : known) {
    indexes_.push_back(index);
    report_.results.push_back(result);
  }
  std::vector<cli::NamedFile> opened;
  const auto open = [&](const char* flag, const std::optional<std::string>& path, Writer writer) {
    if (!path) return;
    outputs_.push_back({ResultsFile(*path), std::move(writer), std::string_view(flag) != "timeline", std::nullopt});
    opened.push_back({flag, outputs_.back().file.target()});
  };
  const auto at_once = [](ToText to_text) -> Writer {
    return [to_text = std::move(to_text)](const Report& r, const Sink& sink) { sink(to_text(r)); };
  };
  open("json", files.json, write_json);
  open("csv", files.csv, at_once([](const Report& r) { return to_csv(r, descriptors()); }));
  open("markdown", files.markdown, at_once(std::move(to_markdown)));
  open("timeline", files.timeline, at_once(to_chrome_trace));
  cli::refuse_shared_files(opened);  // once more, as "-" and /dev/stdout are the same
  update();
}

bool LiveReport::owns_standard_output() const {
  return std::ranges::any_of(outputs_, [](const Output& output) { return output.file.is_standard_output(); });
}

void LiveReport::put(std::size_t index, const Result& result) {
  const auto place = std::ranges::lower_bound(indexes_, index);
  const auto at = report_.results.begin() + (place - indexes_.begin());
  if (place != indexes_.end() && *place == index) {
    *at = result;
  } else {
    report_.results.insert(at, result);
    indexes_.insert(place, index);
  }
  update();
}

void LiveReport::replace(std::vector<Result> results) {
  report_.results = std::move(results);
  update();
}

void LiveReport::update() {
  // After Ctrl-C every case that is left is skipped at once, and finish() writes them all: a file for each would keep
  // the user waiting for minutes.
  if (interrupted() != 0 || Clock::now() < next_update_) return;
  const auto begun = Clock::now();
  for (Output& output : outputs_) {
    if (output.follows) write(output, &ResultsFile::update);
  }
  // The files grow with every case: at most a tenth of the time may go into rewriting them.
  next_update_ = Clock::now() + 9 * (Clock::now() - begun);
}

void LiveReport::finish(std::vector<Finding> findings) {
  report_.complete = interrupted() == 0;
  report_.findings = std::move(findings);
  for (Output& output : outputs_) write(output, &ResultsFile::finish);
}

void LiveReport::write(Output& output, void (ResultsFile::*how)(const TextWriter&) const) const {
  try {
    (output.file.*how)([&](const Sink& sink) { output.writer(report_, sink); });
    output.error.reset();
  } catch (const OutputError& error) {
    output.error = error;
  }
}

void LiveReport::rethrow() const {
  for (const Output& output : outputs_) {
    if (output.error) throw OutputError(*output.error);
  }
}

}  // namespace xferbench::app
