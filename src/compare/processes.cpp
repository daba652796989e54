#include "compare/processes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <tuple>

#include "compare/spreads.hpp"
#include "core/lists.hpp"
#include "measure/statistics.hpp"
#include "model/student.hpp"
#include "results/utc.hpp"

namespace xferbench::compare {

std::string family_of(const std::string& file) {
  constexpr std::size_t kMostDigits = 3;
  const std::string stem = stem_of(file).string();
  const std::size_t last = stem.find_last_not_of("0123456789");
  if (last == std::string::npos || stem[last] != '-') return "";
  const std::size_t digits = stem.size() - last - 1;
  return digits == 0 || digits > kMostDigits ? "" : stem.substr(0, last);
}

namespace {

/// Returns the command without the flags for output files, whose names differ between processes.
std::vector<std::string> command_of(const Report& report) {
  constexpr std::array<std::string_view, 5> kOutputs{"--json", "--csv", "--markdown", "--html", "--process"};
  std::vector<std::string> words;
  for (std::size_t i = 0; i < report.command.size(); ++i) {
    const std::string_view word = report.command[i];
    const std::size_t end = std::min(word.find('='), word.size());
    if (!has_item(kOutputs, word.substr(0, end))) {
      words.push_back(report.command[i]);
    } else if (end == word.size()) {
      ++i;
    }
  }
  return words;
}

bool started_soon_after(const Report& one, const Report& other) {
  constexpr double kLongest = 3600;  // longest time between the starts of two processes of one run, seconds
  const auto first = parse_utc(one.started_at);
  const auto next = parse_utc(other.started_at);
  return first && next && std::abs(std::difftime(*next, *first)) <= kLongest;
}

bool of_same_run(const NamedReport& one, const NamedReport& other) {
  const std::string family = family_of(one.name);
  return !family.empty() && family == family_of(other.name) && one.name != other.name && !one.report.fleet &&
         !other.report.fleet && one.report.tool.version == other.report.tool.version &&
         one.report.tool.git == other.report.tool.git && command_of(one.report) == command_of(other.report) &&
         of_same_machine(one.report.environment, other.report.environment) &&
         started_soon_after(one.report, other.report);
}

/// Returns the 95 % confidence interval of the geometric mean of the medians; nullopt if there is only one median, or
/// if one is not above 0.
std::optional<Interval> interval_of(const std::vector<double>& medians) {
  const auto n = static_cast<double>(medians.size());
  if (n < 2 || std::ranges::min(medians) <= 0) return std::nullopt;
  const double middle = total_of(medians, [n](double median) { return std::log(median) / n; });
  const double half = model::student_quantile(0.05, n - 1) * std::sqrt(log_variance(medians) / n);
  return Interval{std::exp(middle - half), std::exp(middle + half)};
}

/// Returns the median of a percentile over the processes that have this percentile; nullopt if no process has it.
std::optional<double> median_of(const std::vector<const Measurement*>& processes,
                                std::optional<double> Measurement::*percentile) {
  const std::vector<double> values = found_for(processes, percentile);
  return values.empty() ? std::nullopt : std::optional(statistics::median(values));
}

/// Replaces the samples by the medians of the processes, and each percentile by the median of the processes'
/// percentiles. Minimum and maximum are those of all samples of all processes.
void pool(Measurement& m, const std::vector<const Result*>& results) {
  std::vector<const Measurement*> processes;
  std::vector<double> medians;
  std::vector<std::string> flags;
  for (const Result* result : results) {
    const Measurement* own = result->measurement(m.name, m.gpu);
    if (own == nullptr || own->samples.empty()) continue;
    processes.push_back(own);
    medians.push_back(own->median);
    std::ranges::copy(own->flags, std::back_inserter(flags));
  }
  if (medians.empty()) return;
  std::ranges::sort(flags);
  flags.erase(std::unique(flags.begin(), flags.end()), flags.end());
  const std::optional<double> p90 = median_of(processes, &Measurement::p90);
  const std::optional<double> p99 = median_of(processes, &Measurement::p99);
  const double least = (*std::ranges::min_element(processes, {}, &Measurement::min))->min;
  const double most = (*std::ranges::max_element(processes, {}, &Measurement::max))->max;
  m.samples = medians;
  statistics::summarise(m);
  m.min = least;
  m.max = most;
  m.p90 = p90;
  m.p99 = p99;
  m.flags = std::move(flags);
  m.ci95 = interval_of(medians);
}

void pool(Metric& metric, const std::vector<const Result*>& results) {
  const auto found = found_for(results, [&](const Result* r) { return r->metric(metric.name, metric.gpu); });
  metric.value = statistics::median(list_of(found, &Metric::value));
}

/// Merges the results that several processes have for one case. Null means that a process does not have the case.
Result of_all(const std::vector<const Result*>& of_processes) {
  std::vector<const Result*> good;
  for (const Result* result : of_processes) {
    if (result != nullptr && result->status == Status::failed) return *result;
    if (result != nullptr && result->status == Status::ok) good.push_back(result);
  }
  if (good.empty()) return **std::ranges::find_if(of_processes, [](const Result* r) { return r != nullptr; });
  Result all = *good.front();
  for (Measurement& m : all.measurements) pool(m, good);
  for (Metric& metric : all.metrics) pool(metric, good);
  for (const Result* result : good) {
    for (const std::string& warning : result->warnings) add_new(all.warnings, warning);
  }
  return all;
}

}  // namespace

std::filesystem::path stem_of(std::filesystem::path file) {
  if (file.extension() == ".xz") file.replace_extension();
  return file.replace_extension();
}

bool of_same_machine(const Environment& one, const Environment& other) {
  const auto facts = [](const Environment& e) {
    return std::tuple(e.backend, e.profile_text(), e.gpu.name, e.gpu.uuid, e.host.cpu, e.host.logical_cpus);
  };
  return facts(one) == facts(other);
}

std::vector<Processes> runs_of(std::vector<NamedReport> files) {
  std::vector<Processes> runs;
  for (NamedReport& file : files) {
    const auto known = std::ranges::find_if(runs, [&](const Processes& run) { return of_same_run(run.back(), file); });
    Processes& run = known != runs.end() ? *known : runs.emplace_back();
    std::ranges::move(by_process({std::move(file)}), std::back_inserter(run));
  }
  return runs;
}

NamedReport pooled_run(Processes processes) {
  if (processes.size() == 1) return std::move(processes.front());
  const auto reports = list_of(processes, [](const NamedReport& process) { return &process.report; });
  auto results = list_of(same_cases(reports), [](const SameCase& c) { return of_all(c.results); });
  NamedReport all = processes.front();
  const std::string last = std::filesystem::path(processes.back().name).filename().string();
  all.name = fmt::format("{}{} ({} processes)", all.name, processes.back().name == all.name ? "" : " to " + last,
                         processes.size());
  for (const NamedReport& process : processes) {
    all.report.complete = all.report.complete && process.report.complete;
    all.report.verified = all.report.verified && process.report.verified;
  }
  all.report.results = std::move(results);
  return all;
}

}  // namespace xferbench::compare
