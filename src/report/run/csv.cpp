#include "report/run/run_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/lists.hpp"
#include "core/printable.hpp"

namespace xferbench {

namespace {

using Cells = std::vector<std::string>;

// These names and the names of axes must differ; a test checks every scenario.
constexpr std::array kFixedColumns{
    "scenario",  "key",      "status",    "reason",  "kind", "name",   "unit",       "value",    "ci95_low",
    "ci95_high", "n",        "min",       "max",     "p90",  "p99",    "clock",      "stop",     "flags",
    "of_gpu",    "warnings", "backend",   "profile", "gpu",  "driver", "started_at", "verified", "injected_fault",
    "complete",  "rank",     "rank_host", "pace",    "round"};

/// Returns a text as a CSV cell. An apostrophe keeps spreadsheets from running a text that begins like a formula.
std::string text_cell(std::string_view text) {
  const bool formula = !text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos;
  const std::string safe = (formula ? "'" : "") + printable(text, ' ');
  if (safe.find_first_of(",\"") == std::string::npos) return safe;
  std::string quoted = "\"";
  for (const char c : safe) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string number_cell(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }
std::string number_cell(const std::optional<double>& value) { return value ? number_cell(*value) : ""; }

std::string axis_cell(const Result& result, const std::string& axis) {
  const Case::Param* param = result.config.find(axis);
  if (param == nullptr) return {};
  if (const auto* word = std::get_if<std::string>(&param->value)) return text_cell(*word);
  if (const auto* real = std::get_if<double>(&param->value)) return number_cell(*real);
  return fmt::format("{}", std::get<std::uint64_t>(param->value));
}

std::vector<std::string> axes_of(const Report& report, Descriptors scenarios) {
  std::vector<std::string> axes;
  for (const ScenarioDescriptor* scenario : scenarios) {
    const bool ran =
        std::ranges::any_of(report.results, [&](const Result& r) { return r.config.scenario() == scenario->name; });
    if (!ran) continue;
    for (const Axis& axis : scenario->axes) add_new(axes, axis.name);
  }
  return axes;
}

/// Number of columns that differ between the rows of a case: those from "kind" to "of_gpu".
constexpr std::size_t kOfNumber = 15;

std::string gpu_cell(const std::optional<int>& gpu) { return gpu ? fmt::format("{}", *gpu) : ""; }

Cells of_metric(const Metric& metric) {
  Cells cells{"metric", text_cell(metric.name), text_cell(metric.unit), number_cell(metric.value)};
  cells.resize(kOfNumber - 1);
  cells.push_back(gpu_cell(metric.gpu));
  return cells;
}

Cells of_measurement(const Measurement& m) {
  const auto known = [&m](double value) { return m.samples.empty() ? "" : number_cell(value); };
  return {"measurement",
          text_cell(m.name),
          text_cell(m.unit),
          known(m.median),
          m.ci95 ? number_cell(m.ci95->low) : "",
          m.ci95 ? number_cell(m.ci95->high) : "",
          fmt::format("{}", m.samples.size()),
          known(m.min),
          known(m.max),
          number_cell(m.p90),
          number_cell(m.p99),
          std::string(to_text(m.clock)),
          std::string(to_text(m.stop)),
          text_cell(fmt::format("{}", fmt::join(m.flags, " "))),
          gpu_cell(m.gpu)};
}

std::string rows_of(const Result& r, const Report& report, const std::vector<std::string>& axes) {
  const RankPlace* place = r.in_fleet && report.fleet ? report.fleet->place(r.in_fleet->rank) : nullptr;
  const Environment& e = place == nullptr ? report.environment : place->environment;
  const Cells before{text_cell(r.config.scenario()), text_cell(r.config.key()), std::string(to_text(r.status)),
                     text_cell(r.reason)};
  Cells after{text_cell(fmt::format("{}", fmt::join(r.warnings, "; "))),
              text_cell(e.backend),
              text_cell(e.profile),
              text_cell(e.gpu.name),
              text_cell(e.driver),
              text_cell(report.started_at),
              report.verified ? "yes" : "no",
              text_cell(e.injected_fault()),
              report.complete ? "yes" : "no",
              r.in_fleet ? fmt::format("{}", r.in_fleet->rank) : "",
              place == nullptr ? "" : text_cell(place->host),
              r.in_fleet ? std::string(to_text(r.in_fleet->pace)) : "",
              r.in_fleet ? fmt::format("{}", r.in_fleet->round) : ""};
  for (const std::string& axis : axes) after.push_back(axis_cell(r, axis));
  std::vector<Cells> numbers;
  for (const Measurement& m : r.measurements) numbers.push_back(of_measurement(m));
  for (const Metric& metric : r.metrics) numbers.push_back(of_metric(metric));
  if (numbers.empty()) numbers.emplace_back(kOfNumber);
  std::string text;
  for (const Cells& cells : numbers) {
    text += fmt::format("{},{},{}\n", fmt::join(before, ","), fmt::join(cells, ","), fmt::join(after, ","));
  }
  return text;
}

}  // namespace

void write_csv(const Report& report, Descriptors scenarios, const Sink& sink) {
  const std::vector<std::string> axes = axes_of(report, scenarios);
  std::string text = fmt::format("{}", fmt::join(kFixedColumns, ","));
  for (const std::string& axis : axes) text += "," + text_cell(axis);
  text += "\n";
  constexpr std::size_t kPiece = 1 << 16;
  for (const Result& r : report.results) {
    text += rows_of(r, report, axes);
    if (text.size() < kPiece) continue;
    sink(text);
    text.clear();
  }
  sink(text);
}

std::string to_csv(const Report& report, Descriptors scenarios) {
  std::string text;
  write_csv(report, scenarios, [&](std::string_view piece) { text += piece; });
  return text;
}

}  // namespace xferbench
