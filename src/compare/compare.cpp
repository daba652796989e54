#include "compare/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <set>
#include <tuple>
#include <utility>

#include "compare/statistics.hpp"
#include "core/error.hpp"
#include "core/wildcards.hpp"
#include "measure/statistics.hpp"

namespace xferbench::compare {

namespace {

constexpr double kSignificant = 0.05;

/// The number of one case in one file.
struct Value {
  std::string_view name;
  std::string_view unit;
  double median = 0;
  const Measurement* measurement = nullptr;  // null for a derived metric
};

/// Of a measurement of that name, else of a metric of that name; without a name, of what the case is about.
std::optional<Value> value_of(const Result& result, const std::optional<std::string>& name, const Options& options) {
  if (result.status != Status::ok) return std::nullopt;
  const Measurement* m = name ? result.measurement(*name)
                              : headline_of(result, declared_for(options.metrics_declared, result.config.scenario()));
  if (m != nullptr) return m->samples.empty() ? std::nullopt : std::optional(Value{m->name, m->unit, m->median, m});
  const Metric* metric = name ? result.metric(*name) : nullptr;
  return metric == nullptr ? std::nullopt : std::optional(Value{metric->name, metric->unit, metric->value});
}

/// As its scenario declares it; of a number that nobody declares, by its unit.
Better better_of(const Value& value, std::string_view scenario, const Options& options) {
  using Kind = MetricDeclaration::Kind;
  const Kind kind = value.measurement != nullptr ? Kind::measurement : Kind::metric;
  const auto* declared = find(declared_for(options.metrics_declared, scenario), kind, value.name);
  if (declared != nullptr) return declared->better;
  if (value.unit == "s") return Better::lower;
  return value.unit.ends_with("/s") ? Better::higher : Better::neither;
}

using Files = std::vector<const NamedReport*>;

Files files_of(std::initializer_list<std::span<const NamedReport>> sides) {
  Files files;
  for (const auto side : sides) {
    for (const NamedReport& named : side) files.push_back(&named);
  }
  return files;
}

/// What the files declare of each scenario, the first to name something deciding what it is, and what the options add.
MetricsDeclared all_declared(const Files& files, const Options& options) {
  MetricsDeclared all;
  std::set<std::tuple<std::string_view, MetricDeclaration::Kind, std::string_view>> known;
  const auto add = [&](const MetricsDeclared& declared) {
    for (const auto& [scenario, metrics] : declared) {
      std::vector<MetricDeclaration>& of_scenario = all[scenario];
      for (const MetricDeclaration& m : metrics) {
        if (known.emplace(scenario, m.kind, m.name).second) of_scenario.push_back(m);
      }
    }
  };
  for (const NamedReport* file : files) add(file->report.metrics_declared);
  add(options.metrics_declared);
  return all;
}

/// Why a case has no number.
std::string reason_of(const Result& result, const std::optional<std::string>& name) {
  if (result.status != Status::ok) return fmt::format("{}: {}", to_text(result.status), result.reason);
  return name ? fmt::format("has no {}", *name) : "has no samples";
}

/// The cases that the options leave of all files, each once, in the order in which they come.
std::vector<SameCase> cases_of(const Files& files, const Options& options) {
  std::vector<const Report*> reports;
  for (const NamedReport* file : files) reports.push_back(&file->report);
  std::vector<SameCase> cases = same_cases(reports);
  std::erase_if(cases, [&](const SameCase& c) {
    return !options.only.empty() &&
           std::ranges::none_of(options.only, [&](const std::string& pattern) { return matches(pattern, c.key); });
  });
  return cases;
}

using Results = std::span<const Result* const>;

/// Whether one of these files has the case.
bool is_in(Results files) {
  return std::ranges::any_of(files, [](const Result* result) { return result != nullptr; });
}

/// What one side has of a case.
struct SideValues {
  std::vector<Value> values;
  std::string reason;   // why a file has none
  bool failed = false;  // in one file at least
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

bool has_flag(const SideValues& side, std::string_view flag) {
  return std::ranges::any_of(side.values, [flag](const Value& v) {
    return v.measurement != nullptr && std::ranges::find(v.measurement->flags, flag) != v.measurement->flags.end();
  });
}

/// What is remarkable about samples and makes a comparison doubtful.
void add_flags(const SideValues& base, const SideValues& next, std::vector<std::string>& notes) {
  for (const char* flag : {"throttled", "drift", "bimodal", "not-warm", "gate-timeout", "slow-first"}) {
    const bool in_base = has_flag(base, flag);
    const bool in_next = has_flag(next, flag);
    if (in_base || in_next)
      notes.push_back(fmt::format("{} in {}", flag, !in_next ? "base" : in_base ? "both" : "new"));
  }
}

std::uint64_t seed_of(std::string_view key) {
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a: a case's interval does not depend on the other cases
  for (const char c : key) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return hash;
}

/// Compares case after case, then judges all together, because significance depends on how many there are.
class Comparer {
 public:
  Comparer(Comparison& comparison, std::size_t base_files, std::size_t next_files)
      : comparison_(comparison), base_files_(base_files), next_files_(next_files) {}

  void add(const SameCase& c) {
    const Results in_base = Results(c.results).first(base_files_);
    const Results in_next = Results(c.results).subspan(base_files_);
    const auto& name = comparison_.options.metric;
    const SideValues base = values_of(in_base, name, comparison_.options);
    // What a case is about in base is what new must have, too.
    const bool about = !base.values.empty() && base.values.front().measurement != nullptr;
    const SideValues next =
        values_of(in_next, about ? std::string(base.values.front().name) : name, comparison_.options);
    const bool fails_now = next.failed && !base.failed;
    if (base.values.empty() && next.values.empty() && !fails_now) {
      ++comparison_.not_compared;
      return;
    }
    Row& row = comparison_.rows.emplace_back();
    row.key = c.key;
    row.failed = fails_now;
    name_number(row, c, base, next);
    if (fails_now || (!base.values.empty() && (next.values.empty() || next.failed))) {
      row.verdict = Verdict::missing;
      if (!base.values.empty()) row.base = side(base);
      if (!base.reason.empty()) row.notes.push_back("in base " + base.reason);
      row.notes.push_back(is_in(in_next) ? "in new " + next.reason : "not in new");
    } else if (base.values.empty()) {
      row.verdict = Verdict::added;
      row.next = side(next);
      if (!base.reason.empty()) row.notes.push_back("in base " + base.reason);
    } else {
      fill(row, base, next);
    }
  }

  void judge() {
    std::vector<double> p_values;
    for (const Row& row : comparison_.rows) {
      if (row.p) p_values.push_back(*row.p);
    }
    const std::vector<double> adjusted = holm(p_values);
    warn_of_single_numbers();
    std::size_t tested = 0;
    for (Row& row : comparison_.rows) {
      if (row.p) row.p_holm = adjusted[tested++];
      if (row.base && row.next) row.verdict = verdict_of(row);
    }
    if (tested > 0 && least_p_ * static_cast<double>(tested) > kSignificant) warn_of_too_few(tested);
  }

 private:
  /// What was compared; where a case fails and never had a number, what was asked for.
  void name_number(Row& row, const SameCase& c, const SideValues& base, const SideValues& next) const {
    if (base.values.empty() && next.values.empty()) {
      row.measured = comparison_.options.metric.value_or("");
      return;
    }
    const Value& shown = (base.values.empty() ? next : base).values.front();
    const Result* first = *std::ranges::find_if(c.results, [](const Result* result) { return result != nullptr; });
    row.measured = shown.name;
    row.unit = shown.unit;
    row.better = better_of(shown, first->config.scenario(), comparison_.options);
  }

  [[nodiscard]] bool several() const { return base_files_ > 1 || next_files_ > 1; }

  /// Whose samples are compared; null where medians are the samples: of several files, which are several processes, and
  /// of derived metrics.
  [[nodiscard]] const Measurement* sampled(const SideValues& side) const {
    return several() ? nullptr : side.values.front().measurement;
  }

  [[nodiscard]] Sample sample(const SideValues& side) const {
    if (const Measurement* m = sampled(side)) return sample_of(m->samples);
    Sample medians;
    for (const Value& value : side.values) medians.sorted.push_back(value.median);
    std::ranges::sort(medians.sorted);
    medians.effective_size = static_cast<double>(medians.sorted.size());  // processes are independent
    return medians;
  }

  [[nodiscard]] Side side(const SideValues& values) const {
    if (const Measurement* m = sampled(values)) return {m->samples.size(), m->median};
    return {values.values.size(), statistics::median(sample(values).sorted)};
  }

  void add_notes(Row& row, const SideValues& base, const SideValues& next) const {
    const auto incomplete = [&](const SideValues& values, std::size_t files, const char* name) {
      if (values.values.size() < files) {
        row.notes.push_back(fmt::format("in {} of {} files of {}", values.values.size(), files, name));
      }
    };
    incomplete(base, base_files_, "base");
    incomplete(next, next_files_, "new");
    const Measurement* a = base.values.front().measurement;
    const Measurement* b = next.values.front().measurement;
    if (a != nullptr && b != nullptr && a->clock != b->clock) {
      row.notes.push_back(fmt::format("timed by {} in base and by {} in new", to_text(a->clock), to_text(b->clock)));
    }
    add_flags(base, next, row.notes);
  }

  void fill(Row& row, const SideValues& base, const SideValues& next) {
    row.base = side(base);
    row.next = side(next);
    add_notes(row, base, next);
    const auto other_unit = [&row](const Value& v) { return v.unit != row.unit; };
    if (std::ranges::any_of(base.values, other_unit) || std::ranges::any_of(next.values, other_unit)) {
      row.notes.emplace_back("in different units");
      return;
    }
    const Sample of_base = sample(base);
    const Sample of_next = sample(next);
    const auto estimate =
        comparison_.options.bootstrap ? bootstrap(of_base, of_next, seed_of(row.key)) : shift(test_, of_base, of_next);
    if (!estimate) {
      row.notes.emplace_back("has no ratio: a number is not above 0");
      return;
    }
    row.ratio = estimate->ratio;
    row.interval = estimate->interval;
    if (of_base.sorted.size() < 2 && of_next.sorted.size() < 2) return;  // one number a side: nothing to test
    if (inflation(of_base, of_next) > 1) {
      row.notes.push_back(fmt::format("autocorrelated: samples count as {:.0f} and {:.0f}", of_base.effective_size,
                                      of_next.effective_size));
    }
    row.p = test_.p_value(of_base, of_next);
    least_p_ = std::min(least_p_, least_p(of_base.sorted.size(), of_next.sorted.size()));
  }

  [[nodiscard]] Verdict verdict_of(const Row& row) const {
    const double threshold = comparison_.options.threshold;
    if (!row.interval) return Verdict::inconclusive;
    const auto [low, high] = *row.interval;
    const bool more = low > 1 + threshold;
    const bool less = high < 1 - threshold;
    if ((more || less) && row.p_holm && *row.p_holm <= kSignificant) {
      if (row.better == Better::neither) return Verdict::changed;
      return more == (row.better == Better::lower) ? Verdict::regressed : Verdict::improved;
    }
    return low >= 1 - threshold && high <= 1 + threshold ? Verdict::same : Verdict::inconclusive;
  }

  void warn_of_single_numbers() const {
    const auto untested = [](const Row& row) { return row.ratio && !row.p; };
    const auto row = std::ranges::find_if(comparison_.rows, untested);
    if (row == comparison_.rows.end()) return;
    comparison_.warnings.push_back(fmt::format(
        "{} is one number for each file: with one file a side there is a ratio and no test; compare several "
        "(--base FILE... --new FILE...)",
        row->measured));
  }

  void warn_of_too_few(std::size_t tested) const {
    std::size_t enough = 2;
    while (least_p(enough, enough) * static_cast<double>(tested) > kSignificant) ++enough;
    const char* what = several() ? "files" : comparison_.options.metric ? "files or samples" : "samples";
    comparison_.warnings.push_back(
        fmt::format("too few {0} for any verdict of {1} cases at once: {2} against {2} are the least; compare more, or "
                    "fewer cases (--only)",
                    what, tested, enough));
  }

  Comparison& comparison_;
  std::size_t base_files_;
  std::size_t next_files_;
  MannWhitney test_;
  double least_p_ = 1;
};

Source source_of(const NamedReport& named) {
  const Report& r = named.report;
  return {named.name, r.started_at, r.environment.gpu.name,
          r.tool.git.empty() ? r.tool.version : r.tool.version + " " + r.tool.git, r.verified};
}

std::vector<Source> sources_of(std::span<const NamedReport> reports) {
  std::vector<Source> sources;
  for (const NamedReport& named : reports) sources.push_back(source_of(named));
  return sources;
}

/// Empty for real times.
std::string profile_of(const Report& report) {
  return report.environment.simulated() ? report.environment.profile : "";
}

/// The profile, if any is simulated. Throws UsageError where not all are the same and that was not asked for.
std::optional<std::string> check_simulated(const Files& files, const Options& options) {
  const auto describe = [](const std::string& p) { return p.empty() ? "measured" : "simulated by profile " + p; };
  const std::string of_first = profile_of(files.front()->report);
  std::optional<std::string> simulated;
  for (const NamedReport* named : files) {
    const std::string profile = profile_of(named->report);
    if (!profile.empty()) simulated = profile;
    if (profile == of_first || options.allow_simulated) continue;
    throw UsageError(
        fmt::format("{} is {} and {} is {}: these cannot be compared; --allow-simulated does it all the same",
                    files.front()->name, describe(of_first), named->name, describe(profile)));
  }
  return simulated;
}

std::vector<std::string> doubts_of(const Files& files) {
  std::vector<std::string> all;
  for (const NamedReport* named : files) {
    for (std::string& doubt : doubts(*named)) all.push_back(std::move(doubt));
  }
  return all;
}

[[noreturn]] void refuse_empty(const Files& files, const Options& options) {
  if (options.only.empty()) throw UsageError("these files hold no case");
  const auto example =
      std::ranges::find_if(files, [](const NamedReport* named) { return !named->report.results.empty(); });
  const std::string first = example == files.end() ? ""
                                                   : fmt::format("; the first of {} is {}", (*example)->name,
                                                                 (*example)->report.results.front().config.key());
  throw UsageError(fmt::format("--only {}: no case matches{}", fmt::join(options.only, " --only "), first));
}

[[noreturn]] void refuse_numberless(const Options& options) {
  if (!options.metric) throw UsageError("no case was measured in any of these files");
  throw UsageError(fmt::format(
      "--metric {}: no case has a measurement or metric of that name; a results file names them", *options.metric));
}

}  // namespace

std::size_t Comparison::count(Verdict verdict) const {
  return static_cast<std::size_t>(std::ranges::count(rows, verdict, &Row::verdict));
}

bool Comparison::worse() const {
  return std::ranges::any_of(rows, [](const Row& r) { return r.verdict == Verdict::regressed || r.failed; });
}

bool Comparison::undecided() const {
  return std::ranges::any_of(rows, [](const Row& r) {
    return r.verdict == Verdict::inconclusive || r.verdict == Verdict::missing || r.verdict == Verdict::changed;
  });
}

Comparison compare(std::span<const NamedReport> base, std::span<const NamedReport> next, const Options& options) {
  const Files files = files_of({base, next});
  Comparison comparison;
  comparison.options = options;
  comparison.options.metrics_declared = all_declared(files, options);
  comparison.base = sources_of(base);
  comparison.next = sources_of(next);
  comparison.simulated = check_simulated(files, options);
  comparison.differences = differences(base, next);
  comparison.warnings = doubts_of(files);
  const std::vector<SameCase> cases = cases_of(files, options);
  if (cases.empty()) refuse_empty(files, options);
  const auto on_both = [&](const SameCase& c) {
    return is_in(Results(c.results).first(base.size())) && is_in(Results(c.results).subspan(base.size()));
  };
  if (std::ranges::none_of(cases, on_both)) {
    throw UsageError(fmt::format("{} and {} have no case in common: {} is only in one of them", base.front().name,
                                 next.front().name, cases.front().key));
  }
  Comparer comparer(comparison, base.size(), next.size());
  for (const SameCase& c : cases) comparer.add(c);
  // A case that fails now has a row without a number; that must not hide a misspelt metric.
  const auto has_number = [](const Row& row) { return row.base || row.next; };
  const bool numberless = std::ranges::none_of(comparison.rows, has_number);
  if (comparison.rows.empty() || (numberless && options.metric)) refuse_numberless(options);
  comparer.judge();
  return comparison;
}

// --- Side by side ---------------------------------------------------------------------------------------------------

namespace {

/// What tells the files apart: their GPUs, and the files' names where two have the same.
std::vector<std::string> columns_of(std::span<const NamedReport> reports) {
  std::vector<std::string> columns;
  for (const NamedReport& named : reports) {
    const std::string& gpu = named.report.environment.gpu.name;
    const auto shared = std::ranges::count_if(
        reports, [&](const NamedReport& other) { return other.report.environment.gpu.name == gpu; });
    const std::string file = std::filesystem::path(named.name).stem().string();
    std::string column = shared > 1 ? fmt::format("{} ({})", gpu, file) : gpu;
    for (std::size_t i = 2; std::ranges::find(columns, column) != columns.end(); ++i) {
      column = fmt::format("{} ({}) #{}", gpu, file, i);
    }
    columns.push_back(std::move(column));
  }
  return columns;
}

void mark_best(Across::Row& row) {
  if (row.better == Better::neither) return;
  const bool lower = row.better == Better::lower;
  const auto interval = [](const Across::Cell& c) { return c.ci95.value_or(Interval{c.median, c.median}); };
  const Across::Cell* best = nullptr;
  std::size_t there = 0;
  for (const auto& cell : row.cells) {
    if (!cell) continue;
    ++there;
    if (best == nullptr || (lower ? cell->median < best->median : cell->median > best->median)) best = &*cell;
  }
  if (there < 2) return;
  const Interval of_best = interval(*best);
  for (auto& cell : row.cells) {
    if (!cell) continue;
    const Interval own = interval(*cell);
    cell->best = own.low <= of_best.high && of_best.low <= own.high;
  }
}

/// One case in all files; nothing where none has a number of it.
std::optional<Across::Row> across_row(const SameCase& c, const Options& options) {
  Across::Row row{.key = std::string(c.key), .cells = std::vector<std::optional<Across::Cell>>(c.results.size())};
  bool any = false;
  for (std::size_t i = 0; i < c.results.size(); ++i) {
    const auto value = c.results[i] == nullptr ? std::nullopt : value_of(*c.results[i], options.metric, options);
    if (!value) continue;
    if (!std::exchange(any, true)) {
      row.measured = value->name;
      row.unit = value->unit;
      row.better = better_of(*value, c.results[i]->config.scenario(), options);
    }
    if (row.measured != value->name || row.unit != value->unit) continue;  // not the same thing
    const auto* m = value->measurement;
    row.cells[i] = Across::Cell{.median = value->median, .ci95 = m != nullptr ? m->ci95 : std::nullopt};
  }
  mark_best(row);
  return any ? std::optional(std::move(row)) : std::nullopt;
}

}  // namespace

Across across(std::span<const NamedReport> reports, const Options& options) {
  const Files files = files_of({reports});
  Across table;
  table.options = options;
  table.options.metrics_declared = all_declared(files, options);
  table.simulated = check_simulated(files, options);
  table.columns = columns_of(reports);
  table.sources = sources_of(reports);
  table.warnings = doubts_of(files);
  const std::vector<SameCase> cases = cases_of(files, options);
  if (cases.empty()) refuse_empty(files, options);
  for (const SameCase& c : cases) {
    if (auto row = across_row(c, table.options)) table.rows.push_back(std::move(*row));
  }
  if (table.rows.empty()) refuse_numberless(options);
  return table;
}

}  // namespace xferbench::compare
