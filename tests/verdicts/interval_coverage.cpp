// How often the interval at which sampling stops contains the series' final median. Each stored series of a real
// machine is cut where sampling would have stopped, and the interval at that point is compared with the median of all
// samples. Series that would have needed more than half of their samples are left out: their final median hardly
// differs.
//
//   interval_coverage results.json ...     prints a table; exits with 1 if coverage is below the promised share
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
constexpr std::size_t kFewest = 60;  // shorter series are not used

using Samples = std::span<const double>;

/// The series up to where sampling would have stopped; nullopt if that is in the second half.
std::optional<Samples> settled_part(Samples samples) {
  const SamplingPolicy usual;
  for (const std::size_t n : statistics::check_points(usual.min_samples, samples.size() / 2)) {
    if (statistics::settled(samples.first(n), usual.ci)) return samples.first(n);
  }
  return std::nullopt;
}

struct Count {
  std::size_t series = 0;
  std::size_t held = 0;                 ///< final median inside the reported interval
  std::size_t held_if_independent = 0;  ///< final median inside an interval that assumes independent samples
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
  std::set<std::vector<double>> seen;  // merged files repeat series
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
