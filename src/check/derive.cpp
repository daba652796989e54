#include "check/derive.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.hpp"
#include "core/lists.hpp"
#include "core/units.hpp"
#include "model/student.hpp"

namespace xferbench::check {

namespace {

// --- Spread ---------------------------------------------------------------------------------------------------------

// probability that at least one limit of a file fails although nothing has changed
constexpr double kFalseAlarms = 0.05;
constexpr double kWeight = 4;     // weight of the assumed spread, and of the spread of all cases, in degrees of freedom
constexpr double kCertain = 1e6;  // degrees of freedom of a spread that is assumed to be known exactly
// smallest relative margin between a limit and the worst run, for runs that differ less because of a coarse clock
constexpr double kLeastMargin = 1e-3;

double mean_of(const LogsOfCase& logs) {
  return std::accumulate(logs.begin(), logs.end(), 0.0) / static_cast<double>(logs.size());
}

double squares_about(const LogsOfCase& logs, double mean) {
  return total_of(logs, [mean](double log) { return (log - mean) * (log - mean); });
}

/// The spread between runs, estimated from all cases together and the assumed spread.
struct CommonSpread {
  double variance = 0;
  double freedom = 0;  ///< degrees of freedom of the variance between the given runs; 0 if no case has several runs
  double shown = 0;    ///< variance between the given runs, without the assumed spread

  CommonSpread(std::span<const LogsOfCase> cases, double assumed) {
    double squares = 0;
    for (const LogsOfCase& logs : cases) {
      squares += squares_about(logs, mean_of(logs));
      freedom += static_cast<double>(logs.size()) - 1;
    }
    variance = (kWeight * assumed * assumed + squares) / (kWeight + freedom);
    shown = freedom > 0 ? squares / freedom : 0;
  }
  [[nodiscard]] double seen() const { return std::sqrt(shown); }
};

double log_limit(const LogsOfCase& logs, const CommonSpread& common, double probability) {
  const auto runs = static_cast<double>(logs.size());
  const double mean = mean_of(logs);
  const double worst = *std::ranges::max_element(logs);
  double spread = std::sqrt(common.variance);
  double freedom = kCertain;
  if (common.freedom > 0) {
    freedom = kWeight + runs - 1;
    spread = std::sqrt((kWeight * common.variance + squares_about(logs, mean)) / freedom);
  }
  const double factor = model::student_quantile(2 * (1 - probability), freedom);
  return std::max({mean + factor * spread * std::sqrt(1 + 1 / runs), worst + spread, worst + kLeastMargin});
}

// --- Which runs -----------------------------------------------------------------------------------------------------

void refuse_unlike(const NamedReport& one, const NamedReport& other) {
  const Environment& a = one.report.environment;
  const Environment& b = other.report.environment;
  const auto differ = [&](const std::string& of_a, const std::string& of_b) {
    throw UsageError(fmt::format("{} is {}, but {} is {}; derive expectations from each of them separately", one.name,
                                 of_a, other.name, of_b));
  };
  const auto kind = [](const Environment& e) {
    return e.simulated() ? fmt::format("simulated (profile {})", e.profile_text()) : std::string("real");
  };
  if (kind(a) != kind(b)) differ(kind(a), kind(b));
  if (a.gpu.name != b.gpu.name) differ(fmt::format("of '{}'", a.gpu.name), fmt::format("of '{}'", b.gpu.name));
}

/// Returns reasons why a run may be unsuitable as a reference; empty if there are none.
std::vector<std::string> doubts_of(const NamedReport& run) {
  std::vector<std::string> doubts;
  const auto failed = std::ranges::count(run.report.results, Status::failed, &Result::status);
  if (!run.report.complete) doubts.push_back(run.name + " was interrupted or is still running");
  if (failed > 0) doubts.push_back(fmt::format("{} has {} failed case{}", run.name, failed, failed == 1 ? "" : "s"));
  if (!run.report.verified) doubts.push_back(run.name + " was not verified (--no-verify)");
  return doubts;
}

std::vector<std::string> refuse_unsuitable(std::span<const NamedReport> runs, const DeriveOptions& options) {
  std::vector<std::string> doubts;
  for (const NamedReport& run : runs) {
    const Environment& e = run.report.environment;
    refuse_unlike(runs.front(), run);
    if (run.report.fleet) {
      throw UsageError(fmt::format(
          "{} has {} ranks, and the results of a rank depend on the other ranks; use runs of a single process",
          run.name, run.report.fleet->ranks.size()));
    }
    if (e.simulated() && !options.allow_simulated) {
      throw UsageError(fmt::format(
          "{} is simulated (profile {}) and says nothing about a real GPU; --allow-simulated uses it anyway", run.name,
          e.profile_text(kChangesInHeadings)));
    }
    if (!e.injected_fault().empty()) {
      throw UsageError(
          fmt::format("{} has an injected fault ({}); limits need runs without faults", run.name, e.injected_fault()));
    }
    for (std::string& doubt : doubts_of(run)) doubts.push_back(std::move(doubt));
  }
  if (doubts.empty() || options.allow_doubtful) return doubts;
  throw UsageError(fmt::format("{}; limits need good runs; --allow-doubtful uses it anyway", fmt::join(doubts, "; ")));
}

// --- Which numbers --------------------------------------------------------------------------------------------------

/// The headline (main measurement) of one case in all runs that have the case.
struct Headline {
  std::string key;
  std::string name;
  std::string unit;
  Better better = Better::neither;
  /// medians of the runs; if there is only one run, the worse end of its confidence interval
  std::vector<double> medians{};
};

Better direction_of(const Measurement& m, std::span<const MetricDeclaration> declared) {
  const MetricDeclaration* declaration = find(declared, MetricDeclaration::Kind::measurement, m.name);
  if (declaration != nullptr) return declaration->better;
  return m.unit == "s" ? Better::lower : Better::neither;
}

double number_of(const Measurement& m, Better better, bool alone) {
  if (!alone || !m.ci95) return m.median;
  return better == Better::higher ? std::max(m.ci95->low, m.min) : std::max(m.median, m.ci95->high);
}

/// Collects the headlines (main measurements) of all cases, in the order of the runs.
class Headlines {
 public:
  Headlines(std::span<const NamedReport> runs, const DeriveOptions& options) : alone_(runs.size() == 1) {
    for (const NamedReport& run : runs) {
      for (const Result& result : run.report.results) {
        const auto own = declared_for(run.report.metrics_declared, result.config.scenario());
        const auto declared = own.empty() ? declared_for(options.metrics_declared, result.config.scenario()) : own;
        const Measurement* m = result.status == Status::ok ? headline_of(result, declared) : nullptr;
        if (m != nullptr) add(result.config.key(), *m, direction_of(*m, declared));
      }
    }
  }

  [[nodiscard]] const std::vector<Headline>& all() const { return all_; }
  [[nodiscard]] const std::vector<std::string>& left_out() const { return left_out_; }

 private:
  void add(const std::string& key, const Measurement& m, Better better) {
    // numbers outside of this range are measurement errors and are not written as limits
    constexpr double kLeast = 1e-12;
    constexpr double kMost = 1e15;
    const double number = number_of(m, better, alone_);
    if (better == Better::neither || !(number > kLeast && number < kMost)) {
      const std::string why = better == Better::neither
                                  ? "it is not declared whether higher or lower is better"
                                  : fmt::format("{} is too small or too large for a limit", number);
      left_out_.push_back(fmt::format("{} gets no limit: {}: {}", key, m.name, why));
      return;
    }
    const auto [place, is_new] = places_.try_emplace(key, all_.size());
    if (is_new) all_.push_back({.key = key, .name = m.name, .unit = m.unit, .better = better});
    Headline& headline = all_[place->second];
    if (headline.name == m.name && headline.unit == m.unit) headline.medians.push_back(number);
  }

  bool alone_;
  std::vector<Headline> all_;
  std::map<std::string, std::size_t> places_;
  std::vector<std::string> left_out_;
};

/// Returns the logarithms of the medians. They are negated if higher is better, so that smaller is always better.
LogsOfCase logs_of(const Headline& headline) {
  const double sign = headline.better == Better::higher ? -1 : 1;
  return list_of(headline.medians, [sign](double median) { return sign * std::log(median); });
}

// --- Writing limits --------------------------------------------------------------------------------------------------

/// Returns the unit in which a time of `value` seconds is easiest to read. If `unit` is not "s", returns it unchanged.
std::string unit_for(double value, const std::string& unit) {
  if (unit != "s") return unit;
  return value < 1e-6 ? "ns" : value < 1e-3 ? "us" : value < 1 ? "ms" : "s";
}

/// Rounds the limit to four significant digits, in the direction in which the given runs still meet it.
Quantity rounded_limit(double value, const std::string& base, bool upwards) {
  const std::string unit = unit_for(value, base);
  const double factor = in_base_unit(1, unit).value;
  const double number = value / factor;
  const double step = std::pow(10.0, std::floor(std::log10(number)) - 3);
  const double kept = (upwards ? std::ceil(number / step) : std::floor(number / step)) * step;
  return *parse_quantity(fmt::format("{:.4g} {}", kept, unit));
}

Expectation expectation_for(const Headline& headline, double log_limit, std::size_t runs) {
  Expectation e;
  e.name = headline.key;
  e.cases = headline.key;
  e.number = headline.name;
  e.is_measurement = true;
  e.optional = headline.medians.size() < runs;
  if (headline.better == Better::higher) {
    e.at_least = Limit{rounded_limit(std::exp(-log_limit), headline.unit, false), {}};
  } else {
    e.at_most = Limit{rounded_limit(std::exp(log_limit), headline.unit, true), {}};
  }
  return e;
}

std::string description_of(std::span<const NamedReport> runs, const DeriveOptions& options, const CommonSpread& spread,
                           std::size_t limits, const std::vector<std::string>& doubts) {
  const Environment& e = runs.front().report.environment;
  const auto names =
      list_of(runs, [](const NamedReport& run) { return fmt::format("{} of {}", run.name, run.report.started_at); });
  const std::string assumed = format_percent(options.assumed_spread);
  const std::string known =
      spread.freedom == 0
          ? fmt::format("assumed spread between runs {}", assumed)
          : fmt::format("spread between runs {}, from {} measured and {} assumed, which has the weight of {:.0f} runs",
                        format_percent(std::sqrt(spread.variance)), format_percent(spread.seen()), assumed, kWeight);
  return fmt::format(
      "{}made by xferbench expect from {} good run{} ({}): {}; 95 of 100 such runs meet all {} limits{}{}",
      e.simulated() ? fmt::format("SIMULATED by profile {}; ", e.profile_text(kChangesInHeadings)) : "", runs.size(),
      runs.size() == 1 ? "" : "s", fmt::join(names, ", "), known, limits,
      doubts.empty() ? "" : "; doubtful: ", fmt::join(doubts, "; "));
}

}  // namespace

std::vector<double> log_limits(std::span<const LogsOfCase> cases, double assumed_spread) {
  const CommonSpread common(cases, assumed_spread);
  const double probability = 1 - kFalseAlarms / static_cast<double>(std::max<std::size_t>(1, cases.size()));
  return list_of(cases, [&](const LogsOfCase& logs) { return log_limit(logs, common, probability); });
}

Derived derive(std::span<const NamedReport> runs, const DeriveOptions& options) {
  Derived derived;
  derived.warnings = refuse_unsuitable(runs, options);
  const std::vector<std::string> doubts = derived.warnings;
  const Headlines headlines(runs, options);
  derived.warnings.insert(derived.warnings.end(), headlines.left_out().begin(), headlines.left_out().end());
  if (headlines.all().empty())
    throw UsageError("no case was measured in any of these files, so no limits can be derived");
  if (headlines.all().size() > kMostExpectations) {
    throw UsageError(fmt::format("{} cases are too many: a file can have {} limits; pass fewer files",
                                 headlines.all().size(), kMostExpectations));
  }
  const std::vector<LogsOfCase> logs = list_of(headlines.all(), logs_of);
  const std::vector<double> limits = log_limits(logs, options.assumed_spread);
  std::vector<double> margins;
  for (std::size_t i = 0; i < limits.size(); ++i) {
    derived.expectations.all.push_back(expectation_for(headlines.all()[i], limits[i], runs.size()));
    margins.push_back(std::expm1(limits[i] - *std::ranges::max_element(logs[i])));
  }
  derived.least_margin = std::ranges::min(margins);
  derived.most_margin = std::ranges::max(margins);
  derived.expectations.gpu = runs.front().report.environment.gpu.name;
  derived.expectations.description =
      description_of(runs, options, CommonSpread(logs, options.assumed_spread), limits.size(), doubts);
  return derived;
}

}  // namespace xferbench::check
