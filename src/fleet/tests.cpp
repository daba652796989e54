// Collects the results of a fleet into tests: one number of one case and the values of all ranks.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "core/lists.hpp"
#include "fleet/judgement.hpp"
#include "measure/statistics.hpp"

namespace xferbench::fleet {

namespace {

constexpr std::string_view kRate = "GB/s";

/// The main number of a case, which is compared between ranks.
struct Headline {
  std::string_view name;
  std::string_view unit;
  Better better = Better::neither;
  double value = 0;
};

/// Derives from the unit whether higher or lower is better. Used for old files, which do not declare metrics.
Better better_by_unit(std::string_view unit) {
  if (unit == kRate) return Better::higher;
  return unit == "s" ? Better::lower : Better::neither;
}

/// Returns the result's first rate that has a table column; if there is no such rate, the main measurement.
std::optional<Headline> headline_number(const Result& result, const Measurement* timed,
                                        std::span<const MetricDeclaration> declared) {
  for (const MetricDeclaration& d : declared) {
    const bool shown = d.kind == MetricDeclaration::Kind::metric && !d.heading.empty();
    if (!shown || d.unit != kRate || d.better != Better::higher) continue;
    if (const Metric* m = result.metric(d.name)) return Headline{m->name, m->unit, d.better, m->value};
  }
  if (timed == nullptr) return std::nullopt;
  const MetricDeclaration* d = find(declared, MetricDeclaration::Kind::measurement, timed->name);
  return Headline{timed->name, timed->unit, d != nullptr ? d->better : better_by_unit(timed->unit), timed->median};
}

/// Returns the clock error as a share of a pass. Samples are means over a batch, so a pass takes `batch` times as long.
double clock_share_of(const InFleet& in_fleet, const Measurement* timed) {
  if (timed == nullptr || timed->unit != "s" || !(timed->median > 0)) return 0;
  return in_fleet.clock_uncertainty / (timed->median * timed->batch);
}

/// Returns the bytes of a pass, computed from its rate; 0 if the number is no rate.
double payload_of(const Headline& number, const Measurement* timed) {
  constexpr double kGiga = 1e9;
  if (number.unit != kRate || timed == nullptr || timed->unit != "s") return 0;
  return number.value * kGiga * timed->median * timed->batch;
}

/// Returns the bytes that all ranks moved in a pass, divided by the median time from the first begin to the last end,
/// in GB/s; nullopt if the ranks did not all make the same passes.
std::optional<double> aggregate_rate(const Test& test) {
  const InFleet* first = test.values.front().in_step;
  const auto like_first = [first](const Test::Value& v) {
    return v.in_step != nullptr && v.payload > 0 && v.in_step->begins.size() == first->begins.size() &&
           v.in_step->ends.size() == first->begins.size() && !v.pair;
  };
  if (first == nullptr || first->begins.empty() || !std::ranges::all_of(test.values, like_first)) return std::nullopt;
  const double payload = total_of(test.values, &Test::Value::payload);
  std::vector<double> makespans;
  for (std::size_t pass = 0; pass < first->begins.size(); ++pass) {
    double begin = first->begins[pass];
    double end = first->ends[pass];
    for (const Test::Value& v : test.values) {
      begin = std::min(begin, v.in_step->begins[pass]);
      end = std::max(end, v.in_step->ends[pass]);
    }
    makespans.push_back(end - begin);
  }
  const double makespan = statistics::median(makespans);
  return makespan > 0 ? std::optional(payload / makespan / 1e9) : std::nullopt;
}

/// Whether the number can be compared. A time of 0 is no measurement; a rate of 0 is the worst possible one.
bool is_usable(const Headline& number) {
  if (!std::isfinite(number.value)) return false;
  return number.better == Better::lower ? number.value > 0 : number.value >= 0;
}

/// Whether a rank's transfers with all partners form one test, or the transfers of each case form a test of their own.
enum class Partners { together, apart };

std::string key_of(const Result& result, Partners partners, bool of_pair) {
  const std::string& key = result.config.key();
  return of_pair && partners == Partners::together ? without_round_of_partners(key) : key;
}

/// Groups the results of a report into tests, by case, concurrency and metric.
class Gatherer {
 public:
  explicit Gatherer(Partners partners) : partners_(partners) {}

  void add(const Result& result, const Headline& number, const Test::Value& value) {
    const std::string key = key_of(result, partners_, value.pair.has_value());
    std::vector<std::size_t>& of_case = by_key_[key];
    const auto is_it = [&](std::size_t i) {
      return tests_[i].pace == result.in_fleet->pace && tests_[i].metric == number.name;
    };
    auto found = std::ranges::find_if(of_case, is_it);
    if (found == of_case.end()) {
      found = of_case.insert(found, tests_.size());
      tests_.push_back({.key = key,
                        .pace = result.in_fleet->pace,
                        .metric = std::string(number.name),
                        .unit = std::string(number.unit),
                        .better = number.better,
                        .path = result.in_fleet->path,
                        .values = {}});
    }
    tests_[*found].values.push_back(value);
  }

  std::vector<Test> in_order() && {
    const auto place = [](const Test::Value& v) { return std::pair(v.rank, v.pair); };
    for (Test& test : tests_) std::ranges::stable_sort(test.values, {}, place);
    return std::move(tests_);
  }

 private:
  Partners partners_;
  std::vector<Test> tests_;
  std::unordered_map<std::string, std::vector<std::size_t>> by_key_;
};

std::vector<Test> gathered(const Report& report, unsigned round, Partners partners) {
  Gatherer tests(partners);
  for (const Result& result : report.results) {
    if (result.status != Status::ok || !result.in_fleet || result.in_fleet->round != round) continue;
    const auto declared = declared_for(report.metrics_declared, result.config.scenario());
    const Measurement* timed = headline_of(result, declared);
    const auto number = headline_number(result, timed, declared);
    if (!number || !is_usable(*number)) continue;
    tests.add(result, *number,
              {.rank = result.in_fleet->rank,
               .value = number->value,
               .clock_share = clock_share_of(*result.in_fleet, timed),
               .pair = result.ranks_of_transfer(),
               .payload = payload_of(*number, timed),
               .in_step = &*result.in_fleet,
               .key = result.config.key()});
  }
  return std::move(tests).in_order();
}

}  // namespace

std::string Test::name() const { return fmt::format("{} pace={}", key, to_text(pace)); }

std::vector<Test> tests_of(const Report& report, unsigned round) { return gathered(report, round, Partners::apart); }

std::vector<Test> judged_tests_of(const Report& report, unsigned round) {
  return gathered(report, round, Partners::together);
}

std::vector<Summary> summarise(const std::vector<Test>& tests) {
  std::vector<Summary> all;
  for (const Test& test : tests) {
    if (test.values.empty()) continue;
    const std::vector<double> numbers = list_of(test.values, &Test::Value::value);
    const auto [lowest, highest] = std::ranges::minmax_element(test.values, {}, &Test::Value::value);
    Summary& one = all.emplace_back(
        Summary{.test = &test, .median = statistics::median(numbers), .lowest = *lowest, .highest = *highest});
    if (one.median > 0) one.spread = (highest->value - lowest->value) / one.median;
    // Transfers between ranks may run one after the other within a pass, so their rates cannot be added.
    const bool between_ranks =
        std::ranges::any_of(test.values, [](const Test::Value& v) { return v.pair.has_value(); });
    if (test.unit == kRate && !between_ranks) one.together = aggregate_rate(test).value_or(total_of(numbers));
  }
  return all;
}

}  // namespace xferbench::fleet
