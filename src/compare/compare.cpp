#include "compare/compare.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compare/evidence.hpp"
#include "compare/files.hpp"
#include "compare/fleets.hpp"
#include "compare/judgement.hpp"
#include "compare/spreads.hpp"
#include "core/lists.hpp"
#include "core/units.hpp"
#include "measure/statistics.hpp"

namespace xferbench::compare {

namespace {

using Results = std::span<const Result* const>;

/// Returns whether at least one of these files has a result for the case.
bool is_in(Results files) {
  return std::ranges::any_of(files, [](const Result* result) { return result != nullptr; });
}

/// Returns why a result has no number to compare.
std::string reason_of(const Result& result, const std::optional<std::string>& name) {
  if (result.status != Status::ok) return fmt::format("{}: {}", to_text(result.status), result.reason);
  return name ? fmt::format("has no {}", *name) : "has no samples";
}

/// The numbers of one case in all files of one side.
struct SideValues {
  std::vector<Value> values;
  std::string reason;   // why a file has no number for the case
  bool failed = false;  // the case failed in at least one file
};

SideValues values_of(Results results, const std::optional<std::string>& name, const Options& options) {
  SideValues side;
  for (const Result* result : results) {
    if (result == nullptr) continue;
    if (const auto value = value_of(*result, name, options)) {
      side.values.push_back(*value);
    } else if (!side.failed) {
      side.reason = reason_of(*result, name);
      side.failed = result->status == Status::failed;
    }
  }
  return side;
}

std::vector<ProcessNumber> numbers_of(const SideValues& side) {
  return list_of(side.values, [](const Value& v) {
    return v.measurement != nullptr ? process_number(v.measurement->samples)
                                    : ProcessNumber{.median = v.median, .error = {}};
  });
}

bool has_flag(const SideValues& side, std::string_view flag) {
  return std::ranges::any_of(
      side.values, [flag](const Value& v) { return v.measurement != nullptr && has_item(v.measurement->flags, flag); });
}

/// Adds a note for each flag of the samples (such as `throttled` or `drift`) that makes a comparison doubtful.
void add_flags(const SideValues& base, const SideValues& new_side, std::vector<std::string>& notes) {
  for (const char* flag : {"throttled", "drift", "bimodal", "not-warm", "gate-timeout", "slow-first"}) {
    const bool in_base = has_flag(base, flag);
    const bool in_next = has_flag(new_side, flag);
    if (!in_base && !in_next) continue;
    notes.push_back(fmt::format("{} in {}", flag, !in_next ? "base" : in_base ? "both" : "new"));
  }
}

bool identical(const SideValues& base, const SideValues& new_side) {
  const auto same = [](const Value& a, const Value& b) {
    return a.measurement != nullptr && b.measurement != nullptr && a.measurement->samples == b.measurement->samples;
  };
  return std::ranges::equal(base.values, new_side.values, same);
}

std::uint64_t seed_of(std::string_view key) {
  // FNV-1a hash. Each case has its own seed, so that its bootstrap does not depend on which other cases are compared.
  std::uint64_t hash = 14695981039346656037U;
  for (const char c : key) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return hash;
}

/// Compares the two sides case by case. Then tests all cases together, because significance depends on their number.
class Comparer {
 public:
  Comparer(Comparison& comparison, std::size_t base_files, std::size_t next_files)
      : comparison_(comparison), base_files_(base_files), next_files_(next_files) {
    if (!comparison.options.known_spreads) return;
    for (const CaseSpread& known : comparison.options.known_spreads->cases) {
      known_spreads_.emplace(std::pair<std::string_view, std::string_view>(known.key, known.measured), &known);
    }
  }

  void add(const SameCase& c) {
    const Results in_base = Results(c.results).first(base_files_);
    const Results in_next = Results(c.results).subspan(base_files_);
    const auto& name = comparison_.options.metric;
    const SideValues base = values_of(in_base, name, comparison_.options);
    // If the headline (main measurement) of the base side is compared, the new side must have that measurement, too.
    const bool about = !base.values.empty() && base.values.front().measurement != nullptr;
    const SideValues new_side =
        values_of(in_next, about ? std::string(base.values.front().name) : name, comparison_.options);
    const bool fails_now = new_side.failed && !base.failed;
    if (base.values.empty() && new_side.values.empty() && !fails_now) {
      ++comparison_.not_compared;
      if (new_side.failed) comparison_.failing.push_back(fmt::format("{} ({})", c.identity, new_side.reason));
      return;
    }
    Row& row = comparison_.rows.emplace_back();
    row.key = c.identity;
    row.failed = fails_now;
    name_number(row, c, base, new_side);
    if (!base.values.empty()) row.base = side(base);
    if (fails_now || (!base.values.empty() && (new_side.values.empty() || new_side.failed))) {
      row.verdict = Verdict::missing;
      const std::string now = is_in(in_next) ? "in new " + new_side.reason : "not in new";
      row.reason = base.reason.empty() ? now : fmt::format("in base {}, {}", base.reason, now);
    } else if (base.values.empty()) {
      row.verdict = Verdict::added;
      row.new_side = side(new_side);
      row.reason = is_in(in_base) ? "in base " + base.reason : "not in base";
    } else {
      row.new_side = side(new_side);
      note(row, base, new_side);
    }
  }

  /// Tests the numbers of all rows for significance and stores the test results in the rows.
  void test_all_cases() {
    MannWhitney ranks;
    pool();
    TestSettings how{.cases = pending_.size(),
                     .threshold = comparison_.options.threshold,
                     .bootstrap = comparison_.options.bootstrap};
    for (const Pending& pending : pending_) {
      Row& row = comparison_.rows[pending.row];
      how.before = prior_spread(row, pending.base.size() + pending.new_side.size() > 2);
      how.seed = seed_of(row.key);
      const ChangeEvidence found = test_change(ranks, pending.base, pending.new_side, how);
      row.test = found.test;
      row.ratio = found.ratio;
      row.interval = found.interval;
      row.within = found.within;
      row.p = found.p;
      row.spread = found.spread;
      row.spread_from = found.spread_from;
      row.observed_spread = found.seen;
      row.detectable_ratios = found.detectable_ratios;
      if (row.identical) {  // the samples are exactly the same on both sides, so a test is not needed
        row.interval.reset();
        row.within.reset();
        row.p.reset();
        row.detectable_ratios.reset();
        row.test = TestUsed::none;
      }
      if (!found.ratio) row.notes.emplace_back("has no ratio: a number is 0 or negative");
    }
  }

 private:
  /// Stores name, unit and better direction of the compared number in the row. Without numbers, stores only the name.
  void name_number(Row& row, const SameCase& c, const SideValues& base, const SideValues& new_side) const {
    if (base.values.empty() && new_side.values.empty()) {
      row.measured = comparison_.options.metric.value_or("");
      return;
    }
    const Value& shown = (base.values.empty() ? new_side : base).values.front();
    const Result* first = *std::ranges::find_if(c.results, [](const Result* result) { return result != nullptr; });
    row.measured = shown.name;
    row.unit = shown.unit;
    row.better = better_of(shown, first->config.scenario(), comparison_.options);
  }

  [[nodiscard]] Side side(const SideValues& values) const {
    const bool several = base_files_ > 1 || next_files_ > 1;
    const Measurement* m = values.values.front().measurement;
    if (!several && m != nullptr) return {m->samples.size(), m->median};
    const std::vector<double> medians = list_of(values.values, &Value::median);
    return {medians.size(), statistics::median(medians)};
  }

  void note(Row& row, const SideValues& base, const SideValues& new_side) {
    const auto incomplete = [&](const SideValues& values, std::size_t files, const char* name) {
      if (values.values.size() < files) {
        row.notes.push_back(fmt::format("in {} of {} files of {}", values.values.size(), files, name));
      }
    };
    incomplete(base, base_files_, "base");
    incomplete(new_side, next_files_, "new");
    const Measurement* a = base.values.front().measurement;
    const Measurement* b = new_side.values.front().measurement;
    if (a != nullptr && b != nullptr && a->clock != b->clock) {
      row.notes.push_back(fmt::format("clock {} in base and {} in new", to_text(a->clock), to_text(b->clock)));
    }
    add_flags(base, new_side, row.notes);
    const auto other_unit = [&row](const Value& v) { return v.unit != row.unit; };
    if (std::ranges::any_of(base.values, other_unit) || std::ranges::any_of(new_side.values, other_unit)) {
      row.notes.emplace_back("units differ");
      return;
    }
    row.identical = identical(base, new_side);
    pending_.push_back({comparison_.rows.size() - 1, numbers_of(base), numbers_of(new_side)});
    if (base_files_ == 1 && next_files_ == 1)
      note_dependence(row, pending_.back().base[0], pending_.back().new_side[0]);
  }

  /// Adds notes if the samples of a single process are autocorrelated or drift, which makes them weaker evidence.
  static void note_dependence(Row& row, const ProcessNumber& base, const ProcessNumber& new_side) {
    if (inflation(base.sample, new_side.sample) > 1) {
      row.notes.push_back(fmt::format("autocorrelated samples: effective sample sizes {:.0f} and {:.0f}",
                                      base.sample.effective_size, new_side.sample.effective_size));
    }
    if (const double drift = std::max(base.drift, new_side.drift); drift > 0) {
      row.notes.push_back(fmt::format("drift of {} is counted as spread", format_percent(drift)));
    }
  }

  [[nodiscard]] PriorSpread prior_spread(const Row& row, bool several_processes) const {
    const auto known = known_spreads_.find({row.key, row.measured});
    if (known != known_spreads_.end()) {
      return {known->second->spread, static_cast<double>(known->second->processes - 1), SpreadSource::known};
    }
    if (pooled_ && several_processes) return *pooled_;
    const double assumed = comparison_.options.assumed_spread;
    return {assumed, assumed > 0 ? kAssumedFreedom : 0, SpreadSource::assumed};
  }

  /// Estimates the spread between processes from all cases together. If the assumed spread is 0, the test of a case
  /// uses only its own processes.
  void pool() {
    if (comparison_.options.assumed_spread <= 0) return;
    std::vector<ObservedVariance> all;
    for (const Pending& pending : pending_) {
      if (comparison_.rows[pending.row].identical) continue;
      if (const auto seen = observed_variance(pending.base, pending.new_side)) all.push_back(*seen);
    }
    if (const auto seen = pooled(all)) pooled_ = {std::sqrt(seen->value), seen->freedom, SpreadSource::measured, true};
  }

  /// A row whose numbers have been collected but not yet tested.
  struct Pending {
    std::size_t row;
    std::vector<ProcessNumber> base;
    std::vector<ProcessNumber> new_side;
  };

  Comparison& comparison_;
  std::size_t base_files_;
  std::size_t next_files_;
  std::map<std::pair<std::string_view, std::string_view>, const CaseSpread*> known_spreads_;
  std::vector<Pending> pending_;
  std::optional<PriorSpread> pooled_{};
};

/// Throws UsageError if the known spreads are from another GPU model than the files. Warns if only the GPU differs.
void check_spreads(const Files& files, Comparison& comparison) {
  const auto& known = comparison.options.known_spreads;
  if (!known) return;
  for (const NamedReport* file : files) {
    const Environment& environment = file->report.environment;
    if (!of_same_kind(*known, environment)) {
      throw UsageError(
          fmt::format("--spread: the spreads are from {}, but {} is from {}; measure spreads there: xferbench --repeat "
                      "7 --json FILE --spread FILE ...",
                      kind_of(*known), file->name, kind_of(environment)));
    }
    if (!of_same_gpu(*known, environment)) {
      comparison.warnings.push_back(fmt::format("{} is from another {} than the spreads", file->name, kind_of(*known)));
    }
  }
}

void warn_of_same_runs(std::span<const NamedReport> base, std::span<const NamedReport> new_side,
                       Comparison& comparison) {
  for (const NamedReport& a : base) {
    for (const NamedReport& b : new_side) {
      if (a.report.started_at != b.report.started_at || a.report.results != b.report.results) continue;
      // Add the warning only once, even if the files contain several processes.
      add_new(comparison.warnings,
              fmt::format("{} and {} are the same run, so no change can be found", a.name, b.name));
    }
  }
}

}  // namespace

std::size_t Comparison::count(Verdict verdict) const {
  return static_cast<std::size_t>(std::ranges::count(rows, verdict, &Row::verdict));
}

std::optional<double> Row::detectable_slowdown() const {
  if (identical) return 0;
  if (!detectable_ratios) return std::nullopt;
  const double more = detectable_ratios->high - 1;
  const double less = 1 - detectable_ratios->low;
  if (better == Better::neither) return std::max(more, less);
  return better == Better::lower ? more : less;
}

Comparison compare(std::span<const NamedReport> base, std::span<const NamedReport> new_side, const Options& options) {
  const Files files = files_of({base, new_side});
  check_medians(files);
  Comparison comparison;
  comparison.options = options;
  comparison.options.metrics_declared = all_declared(files, options);
  comparison.base = sources_of(base);
  comparison.new_side = sources_of(new_side);
  comparison.simulated = check_simulated(files, options);
  comparison.differences = differences(base, new_side);
  comparison.warnings = doubts_of(files);
  check_spreads(files, comparison);
  warn_of_same_runs(base, new_side, comparison);
  comparison.match = matching(files, options);
  comparison.matched = matched_text(files, base.size(), comparison.match);
  const std::vector<SameCase> cases = cases_of(files, options, comparison.match);
  const auto on_both = [&](const SameCase& c) {
    return is_in(Results(c.results).first(base.size())) && is_in(Results(c.results).subspan(base.size()));
  };
  if (std::ranges::none_of(cases, on_both)) {
    throw UsageError(
        fmt::format("{} and {} have no case in common: for example, {} is only in one of them. 'xferbench "
                    "compare --across FILES' shows them side by side",
                    base.front().name, new_side.front().name, cases.front().identity));
  }
  Comparer comparer(comparison, base.size(), new_side.size());
  for (const SameCase& c : cases) {
    const std::size_t before = comparison.rows.size();
    comparer.add(c);
    if (comparison.rows.size() > before)
      comparison.rows.back().place = place_of(files, c, base.size(), comparison.match);
  }
  // A case that fails on the new side has a row without a number, which must not hide that --metric is misspelt.
  const auto has_number = [](const Row& row) { return row.base || row.new_side; };
  const bool numberless = std::ranges::none_of(comparison.rows, has_number);
  if (comparison.rows.empty() || (numberless && options.metric)) refuse_numberless(files, options);
  comparer.test_all_cases();
  judge(comparison);
  return comparison;
}

}  // namespace xferbench::compare
