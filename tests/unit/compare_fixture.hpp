// Hand-made results for the tests of comparisons.
#pragma once

#include <algorithm>
#include <random>

#include "compare/compare.hpp"
#include "core/error.hpp"
#include "measure/statistics.hpp"
#include "unit/support.hpp"

namespace xferbench::test {

/// A successful result with one measurement, "copy", of these samples in seconds.
inline Result stored(const std::string& key, std::vector<double> samples) {
  Result result(Case("copy"));
  StoredCase::key(result.config) = key;
  Measurement m;
  m.name = "copy";
  m.samples = std::move(samples);
  statistics::summarise(m);
  result.measurements.push_back(std::move(m));
  return result;
}

inline Result not_ok(const std::string& key, Status status, const std::string& reason) {
  Result result(Case("copy"));
  StoredCase::key(result.config) = key;
  result.status = status;
  result.reason = reason;
  return result;
}

inline NamedReport named(const std::string& name, std::vector<Result> results) {
  NamedReport report;
  report.name = name;
  report.report.complete = true;
  report.report.started_at = "2026-11-21T10:00:00Z";
  report.report.tool = {"0.1.0", "abc", "GNU 12", "13.0", "Release"};
  report.report.command = {"xferbench", "copy"};
  report.report.environment.backend = "cuda";
  report.report.environment.gpu.name = "NVIDIA H200";
  report.report.environment.driver = "580.1";
  report.report.results = std::move(results);
  return report;
}

/// Samples with normal noise of a relative width, around a mean.
inline std::vector<double> noisy(std::size_t n, double mean, double width, std::mt19937_64& random) {
  std::normal_distribution<double> noise(1, width);
  std::vector<double> samples(n);
  for (double& x : samples) x = mean * noise(random);
  return samples;
}

/// Ten samples around a mean that differ by at most 0.25 % and have no trend.
inline std::vector<double> ten_around(double mean) {
  std::vector<double> samples;
  for (const int step : {3, -2, 1, -4, 5, 0, -1, 4, -3, 2}) samples.push_back(mean * (1 + 0.0005 * step));
  return samples;
}

/// Compares one file with one file, by default with no assumed spread between processes.
inline compare::Comparison compare_one(const NamedReport& base, const NamedReport& new_side,
                                       compare::Options options = {}, double spread = 0) {
  options.assumed_spread = spread;
  return compare::compare({&base, 1}, {&new_side, 1}, options);
}

inline bool worse(const compare::Comparison& comparison) { return comparison.outcome.code == ExitCode::failed; }

inline bool says(const std::vector<std::string>& texts, const std::string& part) {
  return std::ranges::any_of(texts, [&](const std::string& t) { return t.find(part) != std::string::npos; });
}

template <class Action>
std::string refusal(const Action& action) {
  return message_of<UsageError>(action);
}

}  // namespace xferbench::test
