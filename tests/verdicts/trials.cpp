// Error rates of `compare`: made-up suites of 29 cases, with many kinds of noise and a known truth, are compared as the
// program compares files. Prints the tables of docs/lab/verdicts.md; exits with 1 if there are more false alarms than
// promised.
//
//   verdict_trials --suites 1000          the tables, takes minutes
//   verdict_trials --suites 20            as in scripts/test --full; the quick tests use 2
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <future>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "compare/compare.hpp"
#include "compare/spreads.hpp"
#include "measure/statistics.hpp"

namespace xferbench::compare {
namespace {

constexpr std::size_t kCases = 29;  // number of cases in suite ci
constexpr double kPromised = 0.05;  // share of suites that fail although nothing changed

enum class Noise { normal, lognormal, bimodal, ar1, drift };
constexpr std::array<std::string_view, 5> kNoiseNames{"normal", "lognormal", "bimodal", "AR(1) 0.5", "drift 4 %"};
constexpr std::array kNoises{Noise::normal, Noise::lognormal, Noise::bimodal, Noise::ar1, Noise::drift};
constexpr std::array<std::size_t, 3> kSamples{10, 30, 100};
constexpr std::array<std::size_t, 4> kProcesses{1, 3, 5, 7};
constexpr std::array kSpreads{0.0, 0.005, 0.015, 0.03};
constexpr double kOfSharedHost = 0.0045;  // spread of the median case of suite ci, measured on a shared host

/// Parameters of a trial.
struct Trial {
  Noise noise = Noise::normal;
  std::size_t samples = 30;
  std::size_t processes = 1;
  double spread = 0;    ///< between processes: standard deviation of the logarithm of their level
  bool uneven = false;  ///< `spread` is of the median case; others vary, one in ten has 4.4 times as much
  bool known = false;   ///< judged with spreads measured on seven further processes
  double slowdown = 1;  ///< of the first case
  double assumed = Options().assumed_spread;
};

using Random = std::mt19937_64;

/// By bisection, since the standard library only has erf.
double inverse_error_function(double y) {
  double low = -4;
  double high = 4;
  for (int halved = 0; halved < 50; ++halved) {
    const double middle = (low + high) / 2;
    (std::erf(middle) < y ? low : high) = middle;
  }
  return low;
}

double normal(Random& random) { return std::normal_distribution<double>()(random); }

/// Samples of one process around a level: 2 % wide, or two modes 5 % apart, or a drift of 4 %.
std::vector<double> samples_of(const Trial& trial, double level, Random& random) {
  constexpr double kWidth = 0.02;
  std::vector<double> samples(trial.samples);
  const double slope = random() % 2 == 0 ? 0.04 : -0.04;
  double state = normal(random);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    double x = 1;
    switch (trial.noise) {
      case Noise::normal: x += kWidth * normal(random); break;
      case Noise::lognormal: x += kWidth * (std::exp(normal(random)) - 1); break;
      case Noise::bimodal: x += (random() % 2 == 0 ? 0.05 : 0) + 0.005 * normal(random); break;
      case Noise::ar1:
        state = 0.5 * state + std::sqrt(0.75) * normal(random);
        x += kWidth * state;
        break;
      case Noise::drift:
        x += slope * static_cast<double>(i) / static_cast<double>(samples.size()) + kWidth / 2 * normal(random);
        break;
    }
    samples[i] = level * x;
  }
  return samples;
}

/// The spread of case i. Large and small spreads alternate; case 0, which may be slower, has the median.
double spread_of(const Trial& trial, std::size_t i) {
  constexpr double kWidth = 1.16;  // of the logarithms of spreads: median 0.45 %, 2 % at the 90th percentile
  if (!trial.uneven || i == 0) return trial.spread;
  const double place = (static_cast<double>(i * 11 % kCases) + 0.5) / static_cast<double>(kCases);
  return trial.spread * std::exp(kWidth * std::sqrt(2.0) * inverse_error_function(2 * place - 1));
}

/// One process with all cases of the suite; the first case is slower by `slowdown`.
NamedReport process_of(const Trial& trial, double slowdown, Random& random) {
  NamedReport named{.name = "trial", .report = {}};
  named.report.complete = true;
  named.report.started_at = fmt::format("{}", random());
  named.report.environment.backend = "cuda";
  named.report.environment.gpu.name = "none";
  for (std::size_t i = 0; i < kCases; ++i) {
    const double level = 1e-3 * std::exp(spread_of(trial, i) * normal(random)) * (i == 0 ? slowdown : 1);
    Result result(Case("suite"));
    StoredCase::key(result.config) = fmt::format("suite/case={}", i);
    Measurement m;
    m.name = "copy";
    m.samples = samples_of(trial, level, random);
    m.median = statistics::median(m.samples);
    result.measurements.push_back(std::move(m));
    named.report.results.push_back(std::move(result));
  }
  return named;
}

std::vector<NamedReport> side_of(const Trial& trial, std::size_t processes, double slowdown, Random& random) {
  std::vector<NamedReport> side;
  for (std::size_t i = 0; i < processes; ++i) side.push_back(process_of(trial, slowdown, random));
  return side;
}

Comparison one_suite(const Trial& trial, Random& random) {
  Options options{.assumed_spread = trial.assumed};
  if (trial.known) {
    std::vector<Report> repeated;
    for (NamedReport& named : side_of(trial, 7, 1, random)) repeated.push_back(std::move(named.report));
    options.known_spreads = spread_between(repeated);
  }
  const auto base = side_of(trial, trial.processes, 1, random);
  const auto new_side = side_of(trial, trial.processes, trial.slowdown, random);
  return compare(base, new_side, options);
}

/// Rates over suites and cases.
struct Shares {
  double failed = 0;   ///< suites with exit code 1
  double blind = 0;    ///< suites with exit code 4
  double covered = 0;  ///< intervals of unchanged cases that contain 1
  double found = 0;    ///< first cases called regressed
};

Shares shares_of(const Trial& trial, std::size_t suites, std::uint64_t seed) {
  Random random(seed);
  Shares shares;
  std::size_t intervals = 0;
  for (std::size_t i = 0; i < suites; ++i) {
    const Comparison c = one_suite(trial, random);
    shares.failed += c.outcome.code == ExitCode::failed ? 1 : 0;
    shares.blind += c.outcome.code == ExitCode::undecided ? 1 : 0;
    shares.found += c.rows.front().verdict == Verdict::regressed ? 1 : 0;
    for (std::size_t k = 1; k < c.rows.size(); ++k) {
      if (!c.rows[k].interval) continue;
      ++intervals;
      shares.covered += c.rows[k].interval->low <= 1 && 1 <= c.rows[k].interval->high ? 1 : 0;
    }
  }
  shares.covered /= static_cast<double>(std::max<std::size_t>(intervals, 1));
  for (double* share : {&shares.failed, &shares.blind, &shares.found}) *share /= static_cast<double>(suites);
  return shares;
}

/// shares_of() for all trials, on all processors.
std::vector<Shares> all_shares(const std::vector<Trial>& trials, std::size_t suites) {
  std::vector<Shares> shares(trials.size());
  std::atomic<std::size_t> new_side = 0;
  const auto work = [&] {
    for (std::size_t i = new_side++; i < trials.size(); i = new_side++) shares[i] = shares_of(trials[i], suites, i + 1);
  };
  std::vector<std::future<void>> workers;
  for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
    workers.push_back(std::async(std::launch::async, work));
  }
  for (auto& worker : workers) worker.get();
  return shares;
}

std::string percent(double share) { return fmt::format("{:.1f}", share * 100); }

Trial with_spread(Trial trial, double spread, bool uneven) {
  trial.spread = spread;
  trial.uneven = uneven;
  return trial;
}

/// Rows are noise and number of samples; columns are processes and their spread.
std::vector<Trial> without_a_change(bool known) {
  std::vector<Trial> trials;
  for (const Noise noise : kNoises) {
    for (const std::size_t samples : kSamples) {
      for (const std::size_t processes : kProcesses) {
        if (known && processes > 1) continue;
        const Trial alike{.noise = noise, .samples = samples, .processes = processes, .known = known};
        for (const double spread : kSpreads) trials.push_back(with_spread(alike, spread, false));
        trials.push_back(with_spread(alike, kOfSharedHost, true));
      }
    }
  }
  return trials;
}

void print_table(const std::vector<Trial>& trials, const std::vector<Shares>& shares, double Shares::*share) {
  std::string header = "| noise | n |";
  std::string rule = "|---|--:|";
  for (const Trial& t : trials) {
    if (t.noise != trials.front().noise || t.samples != trials.front().samples) break;
    header += fmt::format(" {} x {:.3g} %{} |", t.processes, t.spread * 100, t.uneven ? ", uneven" : "");
    rule += "--:|";
  }
  fmt::print("\n{}\n{}", header, rule);
  const Trial* row = nullptr;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const Trial& t = trials[i];
    if (row == nullptr || row->noise != t.noise || row->samples != t.samples) {
      fmt::print("\n| {} | {} |", kNoiseNames[static_cast<std::size_t>(t.noise)], t.samples);
      row = &t;
    }
    fmt::print(" {} |", percent(shares[i].*share));
  }
  fmt::print("\n");
}

/// Sums over the trials of one column of the table.
struct Pooled {
  double failed = 0;
  double covered = 0;
  std::size_t trials = 0;
};

std::string describe(const Trial& t) {
  return fmt::format("{} processes, spread {} %{}{}", t.processes, t.spread * 100, t.uneven ? ", uneven" : "",
                     t.known ? ", known" : "");
}

/// Whether the share of failed suites exceeds the promise by more than chance (4 standard errors).
bool is_beyond(double failed, std::size_t suites) {
  return failed > kPromised + 4 * std::sqrt(kPromised * (1 - kPromised) / static_cast<double>(suites));
}

/// False alarms must be within the promise for each trial and, as a few suites show little, for each column over all
/// kinds of noise. With 7 processes or more, where no spread is assumed, intervals must also hold.
bool keeps_promise(const std::vector<Trial>& trials, const std::vector<Shares>& shares, std::size_t suites) {
  constexpr double kLeastCoverage = 0.94;
  constexpr std::size_t kByRanks = 7;
  bool kept = true;
  std::map<std::string, Pooled> columns;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const Trial& t = trials[i];
    Pooled& column = columns[describe(t)];
    column.failed += shares[i].failed;
    column.covered += t.processes >= kByRanks ? shares[i].covered : 1;
    ++column.trials;
    if (!is_beyond(shares[i].failed, suites)) continue;
    fmt::print(stderr, "{} % of suites failed without a cause: {}, n = {}, {}\n", percent(shares[i].failed),
               kNoiseNames[static_cast<std::size_t>(t.noise)], t.samples, describe(t));
    kept = false;
  }
  for (const auto& [name, column] : columns) {
    const double count = static_cast<double>(column.trials);
    const double failed = column.failed / count;
    const double covered = column.covered / count;
    if (!is_beyond(failed, suites * column.trials) && covered >= kLeastCoverage) continue;
    fmt::print(stderr, "all kinds of noise, {}: {} % of suites failed without a cause, {} % of intervals held\n", name,
               percent(failed), percent(covered));
    kept = false;
  }
  return kept;
}

bool print_false_alarms(std::size_t suites, bool known) {
  const std::vector<Trial> trials = without_a_change(known);
  const std::vector<Shares> shares = all_shares(trials, suites);
  const char* of = known ? ", one process a side, its spread known from seven others" : "";
  fmt::print("\nSuites that fail though nothing changed, in per cent of {}{}\n", suites, of);
  print_table(trials, shares, &Shares::failed);
  fmt::print("\nIntervals that hold the truth, in per cent{}\n", of);
  print_table(trials, shares, &Shares::covered);
  return keeps_promise(trials, shares, suites);
}

/// Prints how often one slower case is found, with normal noise and 30 samples.
void print_found(std::size_t suites) {
  constexpr std::array kSlowdowns{1.05, 1.06, 1.1, 10.0};
  std::vector<Trial> trials;
  for (const bool known : {false, true}) {
    for (const std::size_t processes : {1U, 2U, 3U, 4U, 5U, 7U}) {
      if (known && processes > 1) continue;
      for (const double spread : kSpreads) {
        for (const double slowdown : kSlowdowns) {
          trials.push_back({.processes = processes, .spread = spread, .known = known, .slowdown = slowdown});
        }
      }
    }
  }
  const std::vector<Shares> shares = all_shares(trials, suites);
  fmt::print("\nFound of one case that is slower, and suites without a change that end with 4, in per cent of {}\n\n",
             suites);
  fmt::print("| processes | spread | 5 % | 6 % | 10 % | ten times | exit 4 |\n|---|--:|--:|--:|--:|--:|--:|\n");
  for (std::size_t i = 0; i < trials.size(); i += kSlowdowns.size()) {
    const Trial& t = trials[i];
    const Shares unchanged = shares_of({.processes = t.processes, .spread = t.spread, .known = t.known}, suites, 77);
    fmt::print("| {}{} | {} % |", t.processes, t.known ? ", known" : "", t.spread * 100);
    for (std::size_t k = 0; k < kSlowdowns.size(); ++k) fmt::print(" {:.0f} |", shares[i + k].found * 100);
    fmt::print(" {:.0f} |\n", unchanged.blind * 100);
  }
}

}  // namespace
}  // namespace xferbench::compare

int main(int argc, char** argv) {
  using namespace xferbench::compare;
  const std::size_t suites =
      argc == 3 && std::string_view(argv[1]) == "--suites" ? std::strtoul(argv[2], nullptr, 10) : 0;
  if (suites == 0) {
    fmt::print(stderr, "expected --suites N, so many for each line of the tables, as in {} --suites 1000\n", argv[0]);
    return 2;
  }
  const auto begin = std::chrono::steady_clock::now();
  const bool kept = print_false_alarms(suites, false);
  const bool kept_known = print_false_alarms(suites, true);
  print_found(suites);
  fmt::print("\n{:.0f} s\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  return kept && kept_known ? 0 : 1;
}
