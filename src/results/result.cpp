#include "results/result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "core/error.hpp"
#include "core/lists.hpp"
#include "version.hpp"

namespace xferbench {

std::optional<double> relative_half_width(const Measurement& measurement) {
  if (!measurement.ci95 || measurement.median <= 0) return std::nullopt;
  return (measurement.ci95->high - measurement.ci95->low) / 2 / measurement.median;
}

std::string Result::identity() const {
  if (!in_fleet) return config.key();
  const std::string round = in_fleet->round > 1 ? fmt::format(" round={}", in_fleet->round) : "";
  return fmt::format("{} pace={} rank={}{}", config.key(), to_text(in_fleet->pace), in_fleet->rank, round);
}

void Result::release_samples() {
  for (Measurement& m : measurements) m.samples.release();
  measurements.shrink_to_fit();
  metrics.shrink_to_fit();
}

bool Result::has_released_samples() const {
  return std::ranges::any_of(measurements, [](const Measurement& m) { return m.samples.are_released(); });
}

namespace {

std::optional<int> rank_in(const std::string& label) {
  int rank = 0;
  const char* end = label.data() + label.size();
  const auto [stopped, error] = std::from_chars(label.data(), end, rank);
  if (label.empty() || error != std::errc() || stopped != end) return std::nullopt;
  return rank;
}

/// Returns the word of that label; empty if there is no such label.
std::string word_of(const Labels& labels, std::string_view name) {
  const auto* const found = found_in(labels, name, &Labels::value_type::first);
  return found == nullptr ? "" : found->second;
}

/// Returns the entry with that name and GPU; without a GPU, the entry of the whole case.
template <class T>
const T* one_of(const std::vector<T>& all, std::string_view name, std::optional<int> gpu) {
  return found_in(all, std::pair(name, gpu),
                  [](const T& one) { return std::pair(std::string_view(one.name), one.gpu); });
}

template <class T>
const T& needed(const T* found, const Result& result, std::string_view what, std::string_view name) {
  if (found != nullptr) return *found;
  throw InputError(fmt::format("{} has no {} '{}', which every result of {} must have", result.config.key(), what, name,
                               result.config.scenario()));
}

}  // namespace

std::optional<std::pair<int, int>> Result::ranks_of_transfer() const {
  const auto from = rank_in(label(kFromRank));
  const auto to = rank_in(label(kToRank));
  if (!from || !to) return std::nullopt;
  return std::pair(*from, *to);
}

bool ran_to_its_end(const Result& result) {
  if (result.status != Status::ok) return result.status == Status::failed;
  return std::ranges::none_of(result.measurements, [](const Measurement& m) { return m.stop == Stop::interrupted; });
}

const Measurement* headline_of(const Result& result, std::span<const MetricDeclaration> declared) {
  for (const MetricDeclaration& metric : declared) {
    const Measurement* m = metric.headline ? result.measurement(metric.name) : nullptr;
    if (m != nullptr && !m->samples.empty()) return m;
  }
  const auto of_case = [](const Measurement& m) { return !m.gpu; };
  const auto first = std::ranges::find_if(result.measurements, of_case);
  return first == result.measurements.end() || first->samples.empty() ? nullptr : &*first;
}

std::span<const MetricDeclaration> declared_for(const MetricsDeclared& all, std::string_view scenario) {
  const auto found = all.find(scenario);
  return found == all.end() ? std::span<const MetricDeclaration>() : found->second;
}

const Measurement* Result::measurement(std::string_view name, std::optional<int> gpu) const {
  return one_of(measurements, name, gpu);
}

Tool this_tool() { return {build::kVersion, build::kGit, build::kCompiler, build::kCuda, build::kType}; }

std::string Result::label(std::string_view name) const { return word_of(labels, name); }

std::string Finding::label(std::string_view name) const { return word_of(labels, name); }

const Metric* Result::metric(std::string_view name, std::optional<int> gpu) const { return one_of(metrics, name, gpu); }

const Measurement& Result::needed_measurement(std::string_view name) const {
  return needed(measurement(name), *this, "measurement", name);
}

const Metric& Result::needed_metric(std::string_view name) const { return needed(metric(name), *this, "metric", name); }

double Result::median(std::string_view name) const {
  const Measurement* m = measurement(name);
  return m == nullptr ? 0 : m->median;
}

double Result::value(std::string_view name) const {
  const Metric* m = metric(name);
  return m == nullptr ? 0 : m->value;
}

std::vector<NamedReport> by_process(std::vector<NamedReport> files) {
  std::vector<NamedReport> all;
  for (NamedReport& file : files) {
    const std::vector<FurtherProcess> further = std::exchange(file.report.further_processes, {});
    all.push_back(std::move(file));
    for (const FurtherProcess& process : further) {
      all.push_back(all.back());
      all.back().report.started_at = process.started_at;
      all.back().report.results = process.results;
    }
  }
  return all;
}

std::vector<SameCase> same_cases(std::span<const Report* const> reports) {
  return same_cases(reports, [](const Report&, const Result& result) { return result.identity(); });
}

std::vector<SameCase> same_cases(std::span<const Report* const> reports, const Identify& identify) {
  std::vector<SameCase> cases;
  std::unordered_map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    for (const Result& result : reports[i]->results) {
      std::string identity = identify(*reports[i], result);
      if (identity.empty()) continue;
      const auto [at, is_new] = index.try_emplace(std::move(identity), cases.size());
      if (is_new) cases.push_back({at->first, std::vector<const Result*>(reports.size())});
      cases[at->second].results[i] = &result;
    }
  }
  return cases;
}

}  // namespace xferbench
