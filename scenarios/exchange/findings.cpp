#include "scenarios/exchange/case.hpp"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "core/units.hpp"
#include "measure/statistics.hpp"
#include "run/findings.hpp"
#include "scenarios/exchange/endpoint.hpp"

namespace xferbench {

namespace {

using Measured = std::vector<const Result*>;

/// Returns a key of the method and settings of a result, without the pair of ranks.
std::string way_of(const Result& r, bool with_size) {
  const auto wanted = [=](std::string_view axis) {
    return axis != "pairs" && axis != "round" && (axis != "size" || with_size);
  };
  return key_of(r.config, wanted) + (r.in_fleet ? std::string(to_text(r.in_fleet->pace)) : "");
}

std::string method_of(const ExchangeCase& c) {
  return std::string(kExchangeMethods.at(static_cast<std::size_t>(c.method)));
}
std::string way_text(const ExchangeCase& c) { return c.both_ways ? "both" : "one"; }

Labels direction_labels(const Result& r) {
  Labels labels{{kFromRank, r.label(kFromRank)}, {kToRank, r.label(kToRank)}};
  const ExchangeCase c = exchange_case(r.config);
  labels.emplace_back("method", method_of(c));
  labels.emplace_back("way", way_text(c));
  if (r.in_fleet) labels.emplace_back("pace", to_text(r.in_fleet->pace));
  return labels;
}

/// Adds one linear fit of time over size for each direction of a pair.
void add_fits(const Measured& measured, std::vector<Finding>& findings) {
  std::vector<Path> paths;
  for (const Measured& direction : grouped(measured, [](const Result& r) {
         return fmt::format("{} {} {}", r.label(kFromRank), r.label(kToRank), way_of(r, false));
       })) {
    Path& path = paths.emplace_back(Path{.labels = direction_labels(*direction.front()), .points = {}});
    for (const Result* r : direction) {
      // For small payloads, uses the latency from round trips, because it depends on one clock only.
      const Measurement* latency = r->measurement(kExchangeLatency);
      const Measurement& time = latency != nullptr ? *latency : r->needed_measurement("exchange");
      path.points.push_back({static_cast<double>(exchange_case(r->config).bytes), time.median, time.ci95});
    }
  }
  std::ranges::move(fits_and_crossovers(paths, ""), std::back_inserter(findings));
}

/// Returns the bottleneck in words, for example "MPI host to host".
std::string_view limit_in_words(std::string_view limit) {
  if (limit == "d2h") return "D2H copy";
  return limit == "h2d" ? "H2D copy" : "MPI host to host";
}

/// Returns the bottleneck that most of the results have; empty if none has one.
std::string most_frequent_limit(const Measured& alike) {
  std::map<std::string, std::size_t> counts;
  for (const Result* r : alike) {
    if (const std::string limit = r->label("limited_by"); !limit.empty()) ++counts[limit];
  }
  if (counts.empty()) return {};
  return std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; })->first;
}

std::vector<double> values_of(const Measured& alike, std::string_view metric) {
  return list_of(found_for(alike, [&](const Result* r) { return r->metric(metric); }), &Metric::value);
}

Finding reached(const Measured& alike) {
  const Result& first = *alike.front();
  const std::vector<double> rates = values_of(alike, "bandwidth");
  const ExchangeCase c = exchange_case(first.config);
  const double rate = statistics::median(rates);
  std::string text = fmt::format(
      "{}, {}, {}{}: {} GB/s", method_of(c), c.both_ways ? "both ways" : "one way", format_size_readable(c.bytes),
      first.in_fleet ? fmt::format(", concurrency {}", to_text(first.in_fleet->pace)) : "", format_significant(rate));
  if (rates.size() > 1) {
    const auto [low, high] = std::ranges::minmax(rates);
    text +=
        fmt::format(" (median of {}, range {} to {})", rates.size(), format_significant(low), format_significant(high));
  }
  Finding finding{.kind = "exchange",
                  .labels = {{"method", method_of(c)}, {"way", way_text(c)}},
                  .metrics = {{"bandwidth", rate, "GB/s"}}};
  const std::vector<double> efficiencies = values_of(alike, "efficiency");
  if (const std::string limit = most_frequent_limit(alike); !limit.empty() && !efficiencies.empty()) {
    const double efficiency = statistics::median(efficiencies);
    text += fmt::format("; {} of the limit (bottleneck: {})", format_quantity(efficiency, "1"), limit_in_words(limit));
    finding.labels.emplace_back("limited_by", limit);
    finding.metrics.push_back({"efficiency", efficiency, "1"});
  }
  if (first.in_fleet) finding.labels.emplace_back("pace", to_text(first.in_fleet->pace));
  finding.text = std::move(text);
  return finding;
}

}  // namespace

std::vector<Finding> exchange_findings(std::span<const Result* const> results) {
  Measured measured;
  std::uint64_t largest = 0;
  for (const Result* r : results) {
    if (r->needed_measurement("exchange").samples.empty()) continue;  // the case was interrupted
    r->needed_metric("bandwidth");
    if (r->in_fleet && r->in_fleet->round > 1) continue;  // round 2 measures suspected ranks again
    measured.push_back(r);
    largest = std::max(largest, exchange_case(r->config).bytes);
  }
  std::vector<Finding> findings;
  if (measured.empty()) return findings;
  add_fits(measured, findings);
  const Measured of_largest =
      those_of(measured, [&](const Result* r) { return exchange_case(r->config).bytes == largest; });
  for (const Measured& alike : grouped(of_largest, [](const Result& r) { return way_of(r, true); })) {
    findings.push_back(reached(alike));
  }
  return findings;
}

}  // namespace xferbench
