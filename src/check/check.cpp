#include "check/check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <set>
#include <unordered_map>

#include "check/command.hpp"
#include "core/error.hpp"
#include "core/lists.hpp"
#include "core/printable.hpp"
#include "core/shell.hpp"
#include "core/spelling.hpp"
#include "core/units.hpp"
#include "core/wildcards.hpp"
#include "measure/statistics.hpp"
#include "model/pcie.hpp"

namespace xferbench::check {

namespace {

/// Returns the value of --simulate that selects the report's profile: the profile's name, or the path of its file.
std::string simulated_by(const Report& report) {
  constexpr std::string_view kFlag = "--simulate";
  const std::vector<std::string>& words = report.command;
  for (std::size_t i = 0; i < words.size() && !report.environment.profile_base.empty(); ++i) {
    if (words[i] == kFlag && i + 1 < words.size()) return words[i + 1];
    if (words[i].starts_with(std::string(kFlag) + "=")) return words[i].substr(kFlag.size() + 1);
  }
  return report.environment.profile;
}

/// Counts the steps of a check and throws if there are too many. Each expectation may be compared with each case, and a
/// pattern with each letter of a key. Without this limit, files of a few megabytes could take days.
class Effort {
 public:
  explicit Effort(const std::string& source) : source_(source) {}

  void spend(std::uint64_t steps) {
    constexpr std::uint64_t kMost = 300'000'000;  // this many steps take about a second
    steps_ += steps;
    if (steps_ <= kMost) return;
    throw UsageError(source_ + ": too many patterns and names for this number of cases; check fewer at once");
  }
  bool matches(std::string_view pattern, std::string_view text) {
    std::uint64_t steps = 0;
    const bool found = xferbench::matches(pattern, text, steps);
    spend(steps);
    return found;
  }

 private:
  const std::string& source_;
  std::uint64_t steps_ = 0;
};

// --- Which cases ----------------------------------------------------------------------------------------------------

bool meets(const Case::Param& param, const Wanted& wanted, Effort& effort) {
  if (const auto* text = std::get_if<std::string>(&param.value)) return effort.matches(wanted.text, *text);
  effort.spend(1);
  if (!wanted.amount) return wanted.text == "*";
  const auto* whole = std::get_if<std::uint64_t>(&param.value);
  const double value = whole != nullptr ? static_cast<double>(*whole) : std::get<double>(param.value);
  switch (wanted.bound) {
    case Bound::equal: return value == *wanted.amount;
    case Bound::less: return value < *wanted.amount;
    case Bound::at_most: return value <= *wanted.amount;
    case Bound::more: return value > *wanted.amount;
    case Bound::at_least: return value >= *wanted.amount;
  }
  return false;
}

/// Axis name with which a condition selects the concurrency of a fleet (which ranks measure at the same time). No case
/// has a parameter of this name; the concurrency is stored in Result::in_fleet.
constexpr std::string_view kConcurrencyAxis = "pace";

bool meets(const Result& result, const Condition& condition, Effort& effort) {
  effort.spend(result.config.params().size());
  if (result.in_fleet && condition.axis == kConcurrencyAxis) {
    return std::ranges::any_of(condition.any_of, [&](const Wanted& wanted) {
      return effort.matches(wanted.text, to_text(result.in_fleet->pace));
    });
  }
  const Case::Param* param = result.config.find(condition.axis);
  if (param == nullptr) return false;
  return std::ranges::any_of(condition.any_of, [&](const Wanted& wanted) { return meets(*param, wanted, effort); });
}

/// Returns whether the key pattern or a condition of the expectation contains the parameter `gpus`.
bool names_gpus(const Expectation& e) {
  return e.cases.find(fmt::format("/{}=", kGpusOfCase)) != std::string::npos ||
         std::ranges::any_of(e.where, [](const Condition& c) { return c.axis == kGpusOfCase; });
}

bool meets_all(const Expectation& e, const Result& result, Effort& effort) {
  return std::ranges::all_of(e.where, [&](const Condition& condition) { return meets(result, condition, effort); });
}

/// The cases of a run, indexed by key. The index keeps the check fast if there are thousands of cases and as many
/// expectations that name one case each.
class Cases {
 public:
  explicit Cases(const std::vector<Result>& results) {
    for (const Result& result : results) {
      all_.push_back(&result);
      by_key_[result.config.key()].push_back(&result);
    }
  }
  /// Returns the cases with the expectation's key if the expectation has a key without wildcards; otherwise all cases.
  [[nodiscard]] const std::vector<const Result*>& near(const Expectation& e) const {
    const bool is_pattern = e.cases.find_first_of("*?") != std::string::npos;
    if (e.cases.empty() || is_pattern) return all_;
    const auto found = by_key_.find(e.cases);
    return found == by_key_.end() ? none_ : found->second;
  }

 private:
  std::vector<const Result*> all_;
  std::vector<const Result*> none_;
  std::unordered_map<std::string_view, std::vector<const Result*>> by_key_;
};

// --- Numbers --------------------------------------------------------------------------------------------------------

std::optional<double> statistic_of(const Measurement& m, Statistic statistic) {
  if (m.samples.empty()) return std::nullopt;
  switch (statistic) {
    case Statistic::median: return m.median;
    case Statistic::p90: return m.p90;
    case Statistic::p99: return m.p99;
    case Statistic::min: return m.min;
    case Statistic::max: return m.max;
  }
  return std::nullopt;
}

std::optional<Metric> measured(const Result& result, const std::string& name, Statistic statistic) {
  const Measurement* m = result.measurement(name);
  if (m == nullptr) return std::nullopt;
  const auto value = statistic_of(*m, statistic);
  return value ? std::optional(Metric{name, *value, m->unit}) : std::nullopt;
}

std::optional<Metric> number_of(const Result& result, const Expectation& e) {
  if (e.is_measurement) return measured(result, e.number, e.statistic);
  const Metric* metric = result.metric(e.number);
  return metric == nullptr ? std::nullopt : std::optional(*metric);
}

/// Returns the number of which a limit is a share. `name` is "link" (PCIe bandwidth, d2h for cases with dir=d2h, else
/// h2d), "memory" (GPU memory bandwidth), or the name of another number of the case.
std::optional<Metric> whole_of(const std::string& name, const Result& result, const Environment::Gpu& gpu) {
  if (name == "link") {
    const model::PcieLimits link = model::pcie_limits(gpu.pcie);
    return Metric{name, (result.config.is("dir", "d2h") ? link.d2h : link.h2d) / 1e9, "GB/s"};
  }
  if (name == "memory") return Metric{name, gpu.memory_bandwidth / 1e9, "GB/s"};
  if (const Metric* metric = result.metric(name)) return *metric;
  return measured(result, name, Statistic::median);
}

// --- Judging one expectation ----------------------------------------------------------------------------------------

/// A case, with the number and the limits that one expectation checks.
struct Judged {
  const Result* result = nullptr;
  std::optional<Metric> found{};
  double lower = 0;                                        ///< lower limit in the unit of the number; 0: there is none
  double upper = 0;                                        ///< upper limit in the unit of the number; 0: there is none
  double above = std::numeric_limits<double>::infinity();  ///< number / lower limit; at least 1 if the limit is met
  double below = 0;                                        ///< number / upper limit; at most 1 if the limit is met
  std::string note{};
  [[nodiscard]] bool holds() const { return found && above >= 1 && below <= 1; }
  /// Returns the factor by which the number is better than its limits; at least 1 if all are met, 0 if `note` is set.
  [[nodiscard]] double headroom() const { return note.empty() ? std::min(above, below > 0 ? 1 / below : above) : 0; }
};

class Judge {
 public:
  Judge(const Expectation& e, const Report& report, const std::string& source, Descriptors scenarios, Effort& effort)
      : e_(e), report_(report), source_(source), scenarios_(scenarios), effort_(effort) {}

  [[nodiscard]] Row row(const Cases& cases) {
    for (const Result* result : cases.near(e_)) {
      if (!is_about(*result)) continue;
      refuse_conditions(*result);
      if (result->status != Status::skipped && meets_all(e_, *result, effort_)) look_at(*result);
    }
    Row row;
    row.name = e_.name;
    row.expected = expected();
    if (judged_.empty()) {
      row.verdict = e_.optional && lacking_.empty() ? Verdict::not_measured : Verdict::no_case;
      row.note = without_number();
      if (lacking_.empty()) row.command = command();
      return row;
    }
    if (e_.aggregate == Aggregate::every) {  // cases that lack the number count as failed
      for (const Result* result : lacking_) {
        judged_.push_back({.result = result, .note = fmt::format("has no '{}'", e_.number)});
      }
    }
    row.cases = judged_.size();
    if (e_.aggregate == Aggregate::median && std::ranges::none_of(judged_, has_note)) {
      decide_by_median(row);
    } else {
      decide_by_one(row);
    }
    return row;
  }

 private:
  /// Returns whether the scenario and key match the expectation. Cases on several GPUs match only if the expectation
  /// names GPUs, because several GPUs together would meet any limit of one.
  [[nodiscard]] bool is_about(const Result& result) const {
    effort_.spend(1);
    // ignore the second round of a fleet: it repeats only cases in which a rank looked slow
    if (result.in_fleet && result.in_fleet->round > 1) return false;
    if (result.config.has(kGpusOfCase) && !names_gpus(e_)) return false;
    return (e_.cases.empty() || effort_.matches(e_.cases, result.config.key())) &&
           (e_.scenario.empty() || effort_.matches(e_.scenario, result.config.scenario()));
  }

  static bool has_note(const Judged& j) { return !j.note.empty(); }

  void look_at(const Result& result) {
    Judged j{.result = &result};
    if (result.status == Status::failed) {
      j.note = "failed: " + result.reason;
      judged_.push_back(std::move(j));
      return;
    }
    effort_.spend(result.metrics.size() + result.measurements.size());
    j.found = number_of(result, e_);
    if (!j.found) return lacking_.push_back(&result);
    if (e_.at_least) {
      j.lower = amount_of(*e_.at_least, j);
      j.above = j.lower > 0 ? j.found->value / j.lower : 0;
    }
    if (e_.at_most) {
      j.upper = amount_of(*e_.at_most, j);
      j.below = j.upper > 0 ? j.found->value / j.upper : 0;
    }
    judged_.push_back(std::move(j));
  }

  /// Throws UsageError if a condition allows a word as the value of a numeric axis, because no case has such a value.
  void refuse_conditions(const Result& result) const {
    for (const auto& [axis, any_of] : e_.where) {
      effort_.spend(result.config.params().size());
      const Case::Param* param = result.config.find(axis);
      if (param == nullptr || std::holds_alternative<std::string>(param->value)) continue;
      const auto wrong = std::ranges::find_if_not(any_of, [](const Wanted& w) { return w.amount || w.text == "*"; });
      if (wrong == any_of.end()) continue;
      throw UsageError(fmt::format(
          "{}: {}: '{}' is not a valid value of the axis '{}' of {}; expected a number or a size, such as 8 or 256MiB",
          source_, e_.name, wrong->text, axis, result.config.scenario()));
    }
  }

  /// Returns the limit in the unit of the case's number. If the limit is a share of a number that the case lacks,
  /// returns 0 and adds a note.
  double amount_of(const Limit& limit, Judged& j) const {
    const Metric& found = *j.found;
    if (limit.of.empty()) {
      const std::string& unit = limit.amount.unit.empty() ? std::string("1") : limit.amount.unit;
      if (unit != found.unit) refuse_unit(found, limit.amount);
      return limit.amount.value;
    }
    const auto whole = whole_of(limit.of, *j.result, gpu_of(*j.result));
    if (!whole || !(whole->value > 0)) {
      j.note = fmt::format("the share needs '{}', which this case does not have", limit.of);
      return 0;
    }
    if (whole->unit != found.unit) {
      throw UsageError(fmt::format("{}: {}: {} is in {}, {} in {}; a share needs two numbers in the same unit", source_,
                                   e_.name, e_.number, found.unit, limit.of, whole->unit));
    }
    return limit.amount.value * whole->value;
  }

  /// Returns the place of the rank that measured the result; null without a fleet or if the place is unknown.
  [[nodiscard]] const RankPlace* place_of(const Result& result) const {
    return result.in_fleet && report_.fleet ? report_.fleet->place(result.in_fleet->rank) : nullptr;
  }
  [[nodiscard]] const Environment::Gpu& gpu_of(const Result& result) const {
    const RankPlace* place = place_of(result);
    return place == nullptr ? report_.environment.gpu : place->environment.gpu;
  }

  [[noreturn]] void refuse_unit(const Metric& found, const Quantity& limit) const {
    const std::string unit = found.unit == "1" ? "a ratio without unit" : "in " + found.unit;
    throw UsageError(fmt::format("{}: {}: {} is {}, but its limit {}", source_, e_.name, e_.number, unit,
                                 limit.unit.empty() ? "has no unit; write it, as in \"52 GB/s\"" : "in " + limit.unit));
  }

  /// Returns a spelling suggestion if a condition names an axis that no case has; otherwise an empty text.
  [[nodiscard]] std::string misspelt_axis() const {
    if (e_.where.empty()) return {};
    std::set<std::string> axes;
    for (const Result& result : report_.results) {
      if (!e_.scenario.empty() && !effort_.matches(e_.scenario, result.config.scenario())) continue;
      effort_.spend(kOfName * result.config.params().size());
      for (const Case::Param& param : result.config.params()) axes.insert(param.name);
      if (result.in_fleet) axes.emplace(kConcurrencyAxis);
    }
    const std::vector<std::string> known(axes.begin(), axes.end());
    for (const Condition& condition : e_.where) {
      if (axes.contains(condition.axis)) continue;
      return fmt::format(": no case has the axis '{}'{}", condition.axis, suggestion(condition.axis, known));
    }
    return {};
  }

  /// Returns a command that measures the number of the expectation on the device of these results.
  [[nodiscard]] std::string command() const {
    const Environment& environment = report_.environment;
    const std::string command = measuring_command(e_, scenarios_);
    if (command.empty() || !environment.simulated()) return command;
    return command + " --simulate " + shell_word(simulated_by(report_));
  }

  /// Returns why no case has the number of the expectation.
  [[nodiscard]] std::string without_number() const {
    const bool has_scenario = e_.scenario.empty() || std::ranges::any_of(report_.results, [&](const Result& r) {
                                return effort_.matches(e_.scenario, r.config.scenario());
                              });
    if (!has_scenario) return fmt::format("no case of {}", e_.scenario);
    if (lacking_.empty()) return "no case matches" + misspelt_axis();
    std::set<std::string> names;
    for (const Result* result : lacking_) {
      effort_.spend(kOfName * (e_.is_measurement ? result->measurements.size() : result->metrics.size()));
      if (e_.is_measurement) {
        for (const Measurement& m : result->measurements) names.insert(m.name);
      } else {
        for (const Metric& m : result->metrics) names.insert(m.name);
      }
    }
    const std::vector<std::string> others(names.begin(), names.end());
    return fmt::format("no matching case has '{}'{}", e_.number, suggestion(e_.number, others));
  }

  void decide_by_one(Row& row) const {
    const auto by_headroom = [](const Judged& a, const Judged& b) { return a.headroom() < b.headroom(); };
    const auto decides = e_.aggregate == Aggregate::best ? std::ranges::max_element(judged_, by_headroom)
                                                         : std::ranges::min_element(judged_, by_headroom);
    row.key = decides->result->identity();
    if (const RankPlace* place = place_of(*decides->result)) row.place = where_text(*place);
    row.note = decides->note;
    show_number(row, *decides);
    row.verdict = decides->note.empty() && decides->holds() ? Verdict::holds : Verdict::fails;
  }

  template <class Member>
  [[nodiscard]] double median_of(const Member& member) const {
    return statistics::median(list_of(judged_, member));
  }

  void decide_by_median(Row& row) const {
    Judged middle{.found = judged_.front().found,
                  .lower = median_of(&Judged::lower),
                  .upper = median_of(&Judged::upper),
                  .above = median_of(&Judged::above),
                  .below = median_of(&Judged::below)};
    middle.found->value = median_of([](const Judged& j) { return j.found->value; });
    row.verdict = middle.holds() ? Verdict::holds : Verdict::fails;
    show_number(row, middle);
  }

  /// Stores the number, its margin and its limit in the row. Of two limits, uses the one with the smaller margin.
  void show_number(Row& row, const Judged& j) const {
    row.found = j.found;
    if (!j.found) return;
    row.shown = format_with_unit(j.found->value, j.found->unit);
    if (has_note(j)) return;
    const bool by_lower = e_.at_least && (!e_.at_most || j.above - 1 <= 1 - j.below);
    const Limit& limit = by_lower ? *e_.at_least : *e_.at_most;
    row.margin = by_lower ? j.above - 1 : 1 - j.below;
    row.limit = Metric{row.found->name, by_lower ? j.lower : j.upper, j.found->unit};
    if (limit.of.empty()) {
      row.shown = in_written_unit(j.found->value, limit.amount);
    } else {
      const double share = (by_lower ? j.above : j.below) * limit.amount.value;
      row.shown = fmt::format("{} ({})", in_written_unit(share, limit.amount), row.shown);
    }
  }

  static std::string limit_text(const Limit& limit) {
    if (limit.of.empty()) return written(limit.amount);
    const bool is_of_machine = limit.of == "link" || limit.of == "memory";
    return fmt::format("{} of {}", written(limit.amount), is_of_machine ? "the " + limit.of : limit.of);
  }

  [[nodiscard]] std::string expected() const {
    std::string text = e_.aggregate == Aggregate::best ? "best: " : e_.aggregate == Aggregate::median ? "median: " : "";
    if (e_.at_least) text += "at least " + limit_text(*e_.at_least);
    if (e_.at_most) text += (e_.at_least ? ", at most " : "at most ") + limit_text(*e_.at_most);
    return text;
  }

  static constexpr std::uint64_t kOfName = 20;  // steps that Effort counts for each name added to a set

  const Expectation& e_;
  const Report& report_;
  const std::string& source_;
  Descriptors scenarios_;
  Effort& effort_;
  std::vector<Judged> judged_;
  std::vector<const Result*> lacking_;  // cases that match the expectation but lack its number
};

/// Throws UsageError for a limit in an unknown unit. Without this check, the mistake would go unnoticed if no case
/// matches the expectation.
void refuse_unknown_units(const Expectations& expectations, const Report& report, Descriptors scenarios) {
  std::vector<std::string> known = units_of_limits();
  std::set<std::string> declared;
  const auto add = [&declared](std::span<const MetricDeclaration> metrics) {
    for (const MetricDeclaration& metric : metrics) declared.insert(metric.unit);
  };
  for (const ScenarioDescriptor* scenario : scenarios) add(scenario->metrics);
  for (const auto& [scenario, metrics] : report.metrics_declared) add(metrics);
  for (const std::string& unit : declared) {
    const bool is_new = !has_item(known, unit);
    if (is_new && !unit.empty() && unit != "1") known.push_back(unit);
  }
  for (const Expectation& e : expectations.all) {
    for (const std::optional<Limit>* limit : {&e.at_least, &e.at_most}) {
      const std::string unit = *limit ? (*limit)->amount.written : "";
      if (unit.empty() || unit == "1" || has_item(known, unit)) continue;
      throw UsageError(fmt::format("{}: {}: unknown unit '{}', expected one of {}{}", expectations.source, e.name,
                                   printable(unit), fmt::join(known, ", "), suggestion(unit, known)));
    }
  }
}

void refuse_others(const Report& report, std::string_view name, const Expectations& expectations,
                   bool allow_simulated) {
  const Environment& e = report.environment;
  if (e.simulated() && !allow_simulated) {
    throw UsageError(fmt::format(
        "{} is simulated (profile {}) and says nothing about a real GPU; --allow-simulated checks it anyway", name,
        e.profile_text(kChangesInHeadings)));
  }
  const auto refuse_other = [&](const std::string& gpu) {
    if (expectations.gpu.empty() || matches(expectations.gpu, gpu)) return;
    throw UsageError(fmt::format("{} comes from '{}', but {} is for '{}'; choose expectations for that GPU", name, gpu,
                                 expectations.source, expectations.gpu));
  };
  refuse_other(e.gpu.name);
  if (!report.fleet) return;
  for (const RankPlace& place : report.fleet->ranks) refuse_other(place.environment.gpu.name);
}

/// Returns whether --resume can continue the run, which is not possible for `tune` and with --timeline.
bool can_be_resumed(const Report& report, std::string_view name) {
  const auto rules_it_out = [](const std::string& word) { return word == "tune" || word.starts_with("--timeline"); };
  return name != "-" && !report.fleet && !report.command.empty() && std::ranges::none_of(report.command, rules_it_out);
}

}  // namespace

std::size_t Checked::count(Verdict verdict) const {
  return static_cast<std::size_t>(std::ranges::count(rows, verdict, &Row::verdict));
}

bool Checked::all_hold() const {
  return complete && count(Verdict::holds) > 0 && count(Verdict::fails) == 0 && count(Verdict::no_case) == 0;
}

Checked check(const Report& report, std::string_view name, const Expectations& expectations, const Options& options) {
  refuse_others(report, name, expectations, options.allow_simulated);
  refuse_unknown_units(expectations, report, options.scenarios);
  Checked checked;
  checked.results = printable(name);
  checked.expectations = printable(expectations.source);
  checked.description = expectations.description;
  checked.gpu = report.fleet ? gpus_text(*report.fleet) : report.environment.gpu.name;
  checked.simulated = report.environment.simulated() ? report.environment.profile_text(kChangesInHeadings) : "";
  checked.injected_fault = report.environment.injected_fault();
  if (can_be_resumed(report, name)) checked.continued_by = "xferbench --resume " + shell_word(name);
  checked.started_at = report.started_at;
  checked.complete = report.complete && (!report.fleet || report.fleet->missing.empty());
  checked.verified = report.verified;
  const Cases cases(report.results);
  Effort effort(expectations.source);
  for (const Expectation& e : expectations.all) {
    checked.rows.push_back(Judge(e, report, expectations.source, options.scenarios, effort).row(cases));
  }
  return checked;
}

}  // namespace xferbench::check
