#include "check/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <set>

#include "core/error.hpp"
#include "core/printable.hpp"
#include "core/spelling.hpp"
#include "core/units.hpp"
#include "core/wildcards.hpp"
#include "measure/statistics.hpp"
#include "model/bounds.hpp"

namespace xferbench::check {

namespace {

/// How much has been looked at: every expectation may look at every case, and patterns at every letter of a key. Files
/// of a few megabytes could keep the program busy for days.
class Effort {
 public:
  explicit Effort(const std::string& source) : source_(source) {}

  void spend(std::uint64_t steps) {
    constexpr std::uint64_t kMost = 300'000'000;  // about a second
    steps_ += steps;
    if (steps_ <= kMost) return;
    throw UsageError(source_ + ": its patterns and names are too many for so many cases; check fewer at once");
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

/// Whether a number can ever be it.
bool is_for_numbers(const Wanted& wanted) { return wanted.amount || wanted.text == "*"; }

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

bool meets(const Result& result, const Condition& condition, Effort& effort) {
  effort.spend(result.config.params().size());
  const Case::Param* param = result.config.find(condition.axis);
  if (param == nullptr) return false;
  return std::ranges::any_of(condition.any_of, [&](const Wanted& wanted) { return meets(*param, wanted, effort); });
}

/// Whether it is of the scenario and the keys that an expectation is about.
bool is_about(const Expectation& e, const Result& result, Effort& effort) {
  effort.spend(1);
  return (e.cases.empty() || effort.matches(e.cases, result.config.key())) &&
         (e.scenario.empty() || effort.matches(e.scenario, result.config.scenario()));
}

bool meets_all(const Expectation& e, const Result& result, Effort& effort) {
  return std::ranges::all_of(e.where, [&](const Condition& condition) { return meets(result, condition, effort); });
}

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

/// What a limit is a share of: the link, the memory, or another number of the case.
std::optional<Metric> whole_of(const std::string& name, const Result& result, const Environment::Gpu& gpu) {
  if (name == "link" || name == "memory") {
    const double link = gpu.pcie ? model::pcie_limit(gpu.pcie->generation, gpu.pcie->width) : 0;
    return Metric{name, (name == "link" ? link : gpu.memory_bandwidth) / 1e9, "GB/s"};
  }
  if (const Metric* metric = result.metric(name)) return *metric;
  return measured(result, name, Statistic::median);
}

// --- Judging one expectation ----------------------------------------------------------------------------------------

/// What a case is for an expectation.
struct Judged {
  const Result* result = nullptr;
  std::optional<Metric> found{};
  double above = std::numeric_limits<double>::infinity();  ///< number over its lower limit: holds from 1 on
  double below = 0;                                        ///< number over its upper limit: holds up to 1
  std::string note{};
  [[nodiscard]] bool holds() const { return found && above >= 1 && below <= 1; }
  /// How far inside its limits, as a factor; below 1 outside.
  [[nodiscard]] double headroom() const { return note.empty() ? std::min(above, below > 0 ? 1 / below : above) : 0; }
};

class Judge {
 public:
  Judge(const Expectation& e, const Report& report, const std::string& source, Effort& effort)
      : e_(e), report_(report), source_(source), effort_(effort) {}

  [[nodiscard]] Row row() {
    for (const Result& result : report_.results) {
      if (!is_about(e_, result, effort_)) continue;
      refuse_conditions(result);
      if (result.status != Status::skipped && meets_all(e_, result, effort_)) look_at(result);
    }
    Row row;
    row.name = e_.name;
    row.expected = expected();
    if (judged_.empty()) {
      row.verdict = e_.optional && lacking_.empty() ? Verdict::not_measured : Verdict::no_case;
      row.note = without_number();
      return row;
    }
    if (e_.aggregate == Aggregate::every) judge_lacking();
    row.cases = judged_.size();
    if (e_.aggregate == Aggregate::median && std::ranges::none_of(judged_, has_note)) {
      decide_by_median(row);
    } else {
      decide_by_one(row);
    }
    return row;
  }

 private:
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
    if (e_.at_least) j.above = over(j, *e_.at_least);
    if (e_.at_most) j.below = over(j, *e_.at_most);
    judged_.push_back(std::move(j));
  }

  /// "Every case" are those without the number, too.
  void judge_lacking() {
    for (const Result* result : lacking_) {
      judged_.push_back({.result = result, .note = fmt::format("has no '{}'", e_.number)});
    }
  }

  /// A condition that no value of a number's axis can meet would leave cases out without a word.
  void refuse_conditions(const Result& result) const {
    for (const auto& [axis, any_of] : e_.where) {
      effort_.spend(result.config.params().size());
      const Case::Param* param = result.config.find(axis);
      if (param == nullptr || std::holds_alternative<std::string>(param->value)) continue;
      const auto wrong = std::ranges::find_if_not(any_of, is_for_numbers);
      if (wrong == any_of.end()) continue;
      throw UsageError(
          fmt::format("{}: {}: '{}' is no value of the axis '{}' of {}; expected a number or a size, such "
                      "as 8 or 256MiB",
                      source_, e_.name, wrong->text, axis, result.config.scenario()));
    }
  }

  /// The number over its limit.
  double over(Judged& j, const Limit& limit) const {
    const Metric& found = *j.found;
    if (limit.of.empty()) {
      const std::string& unit = limit.amount.unit.empty() ? std::string("1") : limit.amount.unit;
      if (unit != found.unit) refuse_unit(found, limit.amount);
      return found.value / limit.amount.value;
    }
    const auto whole = whole_of(limit.of, *j.result, report_.environment.gpu);
    if (!whole || !(whole->value > 0)) {
      j.note = fmt::format("there is no '{}' to take a share of", limit.of);
      return 0;
    }
    if (whole->unit != found.unit) {
      throw UsageError(fmt::format("{}: {}: {} is in {}, {} in {}; a share needs the same unit", source_, e_.name,
                                   e_.number, found.unit, limit.of, whole->unit));
    }
    return found.value / (limit.amount.value * whole->value);
  }

  [[noreturn]] void refuse_unit(const Metric& found, const Quantity& limit) const {
    const std::string unit = found.unit == "1" ? "a ratio without unit" : "in " + found.unit;
    throw UsageError(fmt::format("{}: {}: {} is {}, its limit {}", source_, e_.name, e_.number, unit,
                                 limit.unit.empty() ? "has no unit; write it, as in \"52 GB/s\"" : "in " + limit.unit));
  }

  /// An axis that no case has at all was perhaps meant to be another.
  [[nodiscard]] std::string misspelt_axis() const {
    std::set<std::string> axes;
    for (const Result& result : report_.results) {
      if (!e_.scenario.empty() && !effort_.matches(e_.scenario, result.config.scenario())) continue;
      effort_.spend(kOfName * result.config.params().size());
      for (const Case::Param& param : result.config.params()) axes.insert(param.name);
    }
    const std::vector<std::string> known(axes.begin(), axes.end());
    for (const Condition& condition : e_.where) {
      if (axes.contains(condition.axis)) continue;
      return fmt::format(": none has the axis '{}'{}", condition.axis, suggestion(condition.axis, known));
    }
    return {};
  }

  /// Why no case has the number.
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
    return fmt::format("no case that matches has '{}'{}", e_.number, suggestion(e_.number, others));
  }

  void decide_by_one(Row& row) const {
    const auto by_headroom = [](const Judged& a, const Judged& b) { return a.headroom() < b.headroom(); };
    const auto decides = e_.aggregate == Aggregate::best ? std::ranges::max_element(judged_, by_headroom)
                                                         : std::ranges::min_element(judged_, by_headroom);
    row.found = decides->found;
    row.key = decides->result->config.key();
    row.note = decides->note;
    row.verdict = decides->note.empty() && decides->holds() ? Verdict::holds : Verdict::fails;
  }

  template <class Member>
  [[nodiscard]] double median_of(const Member& member) const {
    std::vector<double> values;
    for (const Judged& j : judged_) values.push_back(std::invoke(member, j));
    return statistics::median(values);
  }

  void decide_by_median(Row& row) const {
    row.found = judged_.front().found;
    row.found->value = median_of([](const Judged& j) { return j.found->value; });
    const bool above = !e_.at_least || median_of(&Judged::above) >= 1;
    const bool below = !e_.at_most || median_of(&Judged::below) <= 1;
    row.verdict = above && below ? Verdict::holds : Verdict::fails;
  }

  static std::string limit_text(const Limit& limit) {
    if (!limit.of.empty()) {
      return fmt::format("{} of {}", format_percent(limit.amount.value),
                         limit.of == "link" || limit.of == "memory" ? "the " + limit.of : limit.of);
    }
    return format_with_unit(limit.amount.value, limit.amount.unit.empty() ? "1" : limit.amount.unit);
  }

  [[nodiscard]] std::string expected() const {
    std::string text = e_.aggregate == Aggregate::best     ? "the best "
                       : e_.aggregate == Aggregate::median ? "the median "
                                                           : "";
    if (e_.at_least) text += "at least " + limit_text(*e_.at_least);
    if (e_.at_most) text += (e_.at_least ? ", at most " : "at most ") + limit_text(*e_.at_most);
    return text;
  }

  static constexpr std::uint64_t kOfName = 20;  // steps, to have a name once

  const Expectation& e_;
  const Report& report_;
  const std::string& source_;
  Effort& effort_;
  std::vector<Judged> judged_;
  std::vector<const Result*> lacking_;  // cases that match and have no such number
};

void refuse_others(const Report& report, std::string_view name, const Expectations& expectations,
                   bool allow_simulated) {
  const Environment& e = report.environment;
  if (e.simulated() && !allow_simulated) {
    throw UsageError(
        fmt::format("{} is simulated (profile {}) and says nothing of a real GPU; --allow-simulated "
                    "checks it all the same",
                    name, e.profile));
  }
  if (!expectations.gpu.empty() && !matches(expectations.gpu, e.gpu.name)) {
    throw UsageError(fmt::format("{} comes from '{}', but {} is for '{}'; choose expectations for that GPU", name,
                                 e.gpu.name, expectations.source, expectations.gpu));
  }
}

}  // namespace

std::size_t Checked::count(Verdict verdict) const {
  return static_cast<std::size_t>(std::ranges::count(rows, verdict, &Row::verdict));
}

bool Checked::all_hold() const {
  return complete && count(Verdict::holds) > 0 && count(Verdict::fails) == 0 && count(Verdict::no_case) == 0;
}

Checked check(const Report& report, std::string_view name, const Expectations& expectations, bool allow_simulated) {
  refuse_others(report, name, expectations, allow_simulated);
  Checked checked;
  checked.results = printable(name);
  checked.expectations = printable(expectations.source);
  checked.description = expectations.description;
  checked.gpu = report.environment.gpu.name;
  checked.simulated = report.environment.simulated() ? report.environment.profile : "";
  checked.started_at = report.started_at;
  checked.complete = report.complete;
  checked.verified = report.verified;
  Effort effort(expectations.source);
  for (const Expectation& e : expectations.all) {
    checked.rows.push_back(Judge(e, report, expectations.source, effort).row());
  }
  return checked;
}

}  // namespace xferbench::check
