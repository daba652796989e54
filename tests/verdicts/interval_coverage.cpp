// How often the interval that ends sampling holds what the series comes to in the end. Stored series of real machines
// are sampled once more: each is cut where it would have been settled by itself, and its interval there is held against
// the median of all its samples. Those that would have needed more than half of them tell nothing: the median of all is
// then hardly another one.
//
//   interval_coverage results.json ...     prints a table; exits with 1 where fewer are held than are promised
#include <fmt/format.h>

#include <exception>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "measure/sampler.hpp"
#include "measure/statistics.hpp"
#include "results/json.hpp"

namespace xferbench {
namespace {

constexpr double kPromised = 0.93;
constexpr std::size_t kFewest = 60;  // samples of a series that is worth cutting

using Samples = std::span<const double>;

/// The series up to where its sampling would have stopped; nothing where that is not in its first half.
std::optional<Samples> settled_part(Samples samples) {
  const SamplingPolicy usual;
  for (const std::size_t n : statistics::check_points(usual.min_samples, samples.size() / 2)) {
    if (statistics::settled(samples.first(n), usual.ci)) return samples.first(n);
  }
  return std::nullopt;
}

struct Count {
  std::size_t series = 0;
  std::size_t held = 0;                 ///< by the interval that is reported
  std::size_t held_if_independent = 0;  ///< by the one that takes samples for independent
  [[nodiscard]] double share() const { return static_cast<double>(held) / static_cast<double>(series); }
};

using Counts = std::map<std::string, Count>;

bool holds(const std::optional<Interval>& interval, double x) {
  return interval && interval->low <= x && x <= interval->high;
}

void add(const std::string& scenario, const Measurement& m, Counts& counts) {
  const auto part = settled_part(m.samples);
  if (!part) return;
  const double in_the_end = statistics::median(m.samples);
  for (const std::string& row : {scenario, "clock " + std::string(to_text(m.clock)), std::string("all")}) {
    Count& count = counts[row];
    ++count.series;
    count.held += holds(statistics::autocorrelation_adjusted_ci(*part), in_the_end) ? 1 : 0;
    count.held_if_independent += holds(statistics::median_interval(*part), in_the_end) ? 1 : 0;
  }
}

Counts count(std::span<char* const> files) {
  Counts counts;
  std::set<std::vector<double>> seen;  // files that were merged have the same series again
  for (const char* file : files) {
    const Report report = read_report(file);
    if (report.environment.simulated()) continue;
    for (const Result& result : report.results) {
      for (const Measurement& m : result.measurements) {
        if (m.samples.size() < kFewest || !seen.insert(m.samples.held()).second) continue;
        add(result.config.scenario(), m, counts);
      }
    }
  }
  return counts;
}

int print(const Counts& counts) {
  fmt::print("{:<18} {:>6} {:>10} {:>20}\n", "series", "number", "held", "if independent");
  for (const auto& [row, c] : counts) {
    fmt::print("{:<18} {:>6} {:>8.1f} % {:>18.1f} %\n", row, c.series, 100 * c.share(),
               100.0 * static_cast<double>(c.held_if_independent) / static_cast<double>(c.series));
  }
  const auto all = counts.find("all");
  if (all == counts.end()) {
    fmt::print("no series with {} samples or more that settled in its first half: nothing to tell from\n", kFewest);
    return EXIT_FAILURE;
  }
  return all->second.share() >= kPromised ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace xferbench

int main(int argc, char** argv) {
  try {
    return xferbench::print(xferbench::count(std::span(argv, static_cast<std::size_t>(argc)).subspan(1)));
  } catch (const std::exception& error) {
    fmt::print(stderr, "interval_coverage: {}\n", error.what());
    return EXIT_FAILURE;
  }
}
