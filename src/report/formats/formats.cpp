// Bencher Metric Format and the input of github-action-benchmark.
#include "report/formats/formats.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "core/lists.hpp"
#include "words/trust.hpp"

namespace xferbench {

namespace formats {

namespace {

/// A number that represents a case to other programs.
struct CaseNumber {
  std::string name;  ///< name of the measurement or metric
  std::string unit;  ///< unit, as in the results file
  Better better = Better::neither;
  double value = 0;
  std::optional<Interval> interval{};  ///< 95 % confidence interval
  bool is_headline = false;
};

/// Returns the interval of a rate, which was derived from the measured time.
std::optional<Interval> interval_of_rate(double rate, const Measurement& time) {
  if (!time.ci95 || time.ci95->low <= 0) return std::nullopt;
  // min and max: rounding must not move an end of the interval past the rate.
  return Interval{std::min(rate, rate * time.median / time.ci95->high),
                  std::max(rate, rate * time.median / time.ci95->low)};
}

/// Returns the headline of the case and the metric by which its scenario chooses the best case (Answer::best).
std::vector<CaseNumber> numbers_of(const Result& result, const ScenarioDescriptor& scenario) {
  using enum MetricDeclaration::Kind;
  std::vector<CaseNumber> numbers;
  const Measurement* time = headline_of(result, scenario.metrics);
  if (time == nullptr) return numbers;
  const MetricDeclaration* headline = find(scenario.metrics, measurement, time->name);
  numbers.push_back(
      {time->name, time->unit, headline == nullptr ? Better::lower : headline->better, time->median, time->ci95, true});
  const MetricDeclaration* best = find(scenario.metrics, metric, scenario.answer.best);
  const Metric* value = best == nullptr ? nullptr : result.metric(best->name);
  if (value != nullptr && best->name != time->name) {
    numbers.push_back({value->name, value->unit, best->better, value->value,
                       value->unit == "GB/s" ? interval_of_rate(value->value, *time) : std::nullopt});
  }
  std::erase_if(numbers, [](const CaseNumber& number) { return !std::isfinite(number.value); });
  return numbers;
}

/// Returns the number in another unit. One present unit is `factor` new units; the better direction stays the same.
CaseNumber scaled(CaseNumber number, double factor, std::string unit) {
  number.value *= factor;
  if (number.interval) number.interval = Interval{number.interval->low * factor, number.interval->high * factor};
  number.unit = std::move(unit);
  return number;
}

/// Returns the name of the case in series of other programs. Numbers that were simulated or measured with an injected
/// fault get a name of their own, so that they are never compared with others.
std::string series_name(const Report& report, const Result& result) {
  const std::vector<std::string> marks = trust_of(report).words();
  return marks.empty() ? result.identity() : fmt::format("{} [{}]", result.identity(), fmt::join(marks, ", "));
}

/// Calls `write` with each usable result of the report and its numbers. Of results with the same identity, only the
/// first is used. Returns how many results were left out or not written, for which `write` returns false.
template <class Write>
std::size_t for_each_case(const Report& report, Descriptors scenarios, const Write& write) {
  std::set<std::string> seen;
  std::size_t written = 0;
  for (const Result& result : report.results) {
    const auto* scenario = found_in(scenarios, result.config.scenario(), &ScenarioDescriptor::name);
    if (scenario == nullptr || !is_usable(report, result) || !seen.insert(result.identity()).second) continue;
    if (write(result, numbers_of(result, **scenario))) ++written;
  }
  return report.results.size() - written;
}

/// The time of the headline becomes Bencher's measure "latency", in nanoseconds. Other numbers become measures of their
/// own names, in the unit of the results.
Formatted to_bmf(const Report& report, Descriptors scenarios) {
  nlohmann::json benchmarks = nlohmann::json::object();
  const std::size_t left_out = for_each_case(report, scenarios, [&](const Result& result, const auto& numbers) {
    for (const CaseNumber& found : numbers) {
      const bool is_latency = found.is_headline && found.unit == "s";
      const CaseNumber number = found.unit == "s" ? scaled(found, 1e9, "ns") : found;
      nlohmann::json& metric = benchmarks[series_name(report, result)][is_latency ? "latency" : number.name];
      metric["value"] = number.value;
      if (!number.interval) continue;
      metric["lower_value"] = number.interval->low;
      metric["upper_value"] = number.interval->high;
    }
    return !numbers.empty();
  });
  return {benchmarks.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n", left_out};
}

/// Returns what github-action-benchmark shows beside the number: one fact in each line.
std::string extra_text(const Report& report, const Result& result, const CaseNumber& number) {
  std::vector<std::string> lines;
  if (number.interval) {
    lines.push_back(
        fmt::format("95 % interval: {} to {} {}", number.interval->low, number.interval->high, number.unit));
  }
  if (!report.environment.gpu.name.empty()) lines.push_back("GPU: " + report.environment.gpu.name);
  for (std::string& alarm : trust_of(report).alarms()) lines.push_back(std::move(alarm));
  for (const std::string& warning : result.warnings) lines.push_back(warning);
  return fmt::format("{}", fmt::join(lines, "\n"));
}

Formatted to_github(const Report& report, Descriptors scenarios, Better better) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  const std::size_t left_out = for_each_case(report, scenarios, [&](const Result& result, const auto& numbers) {
    const std::size_t before = list.size();
    for (const CaseNumber& found : numbers) {
      if (found.better != better) continue;
      const CaseNumber number = found.unit == "s" ? scaled(found, 1e6, "us") : found;
      nlohmann::ordered_json entry{
          {"name", series_name(report, result) + " " + number.name}, {"unit", number.unit}, {"value", number.value}};
      // The reader accepts the number after "±" only if it has at least two characters.
      if (number.interval) {
        entry["range"] = fmt::format("± {:#.6g}", (number.interval->high - number.interval->low) / 2);
      }
      entry["extra"] = extra_text(report, result, number);
      list.push_back(std::move(entry));
    }
    return list.size() > before;
  });
  return {list.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n", left_out};
}

}  // namespace

bool is_usable(const Report& report, const Result& result) {
  return report.verified && result.status == Status::ok && ran_to_its_end(result);
}

}  // namespace formats

Formatted to_format(ReportFormat format, const Report& report, Descriptors scenarios) {
  switch (format) {
    case ReportFormat::bmf: return formats::to_bmf(report, scenarios);
    case ReportFormat::github_smaller: return formats::to_github(report, scenarios, Better::lower);
    case ReportFormat::github_bigger: return formats::to_github(report, scenarios, Better::higher);
    case ReportFormat::nvbandwidth: break;
  }
  return formats::to_nvbandwidth(report);
}

}  // namespace xferbench
