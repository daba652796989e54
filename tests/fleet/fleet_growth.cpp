// Cost of a fleet's collective steps as a function of the number of ranks: the program's real algorithms, in virtual
// time on a modelled network. Fails if a clock's error exceeds its stated uncertainty, or if passes do not start
// together.
//   fleet_growth [RANKS]...
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <random>
#include <string>
#include <vector>

#include "fleet/fiber_ranks.hpp"
#include "ranks/common_clock.hpp"
#include "ranks/modelled_network.hpp"
#include "ranks/rank_lockstep.hpp"
#include "ranks/timed_collectives.hpp"
#include "support/virtual_hosts.hpp"

namespace xferbench::test {
namespace {

constexpr int kPerNode = 8;
constexpr int kPasses = 20;
constexpr double kPass = 1e-3;        // seconds
constexpr std::size_t kText = 4096;   // bytes of a rank's result
constexpr int kInSecondRound = 8;     // ranks: suspects and good ones for comparison
constexpr double kLargestOffset = 1;  // seconds; offset of a rank's clock
constexpr double kLargestOwnDrift = 50e-6;
const Timeout kAnHour{.seconds = 3600};

/// What one rank observed. Times in seconds.
struct Seen {
  double first_sync = 0;
  double later_sync = 0;
  double uncertainty = 0;      // right after the last synchronisation
  double error = 0;            // at the same moment
  double uncertainty_10s = 0;  // ten seconds later
  double error_10s = 0;
  double passes = 0;  // all together
  double gather = 0;
  double retests_of = 0;
  double voids = 0;             // repeated passes of the first round
  std::vector<double> began{};  // true times of starts
};

class GrowingRank {
 public:
  GrowingRank(Communicator& ranks, const std::vector<int>& nodes)
      : network_(ranks, right_, nodes),
        random_(static_cast<unsigned>(ranks.rank())),
        host_(right_, uniform(kLargestOffset), uniform(kLargestOwnDrift)),
        clock_(network_, host_),
        pace_(network_, host_, clock_, kAnHour, [] { return false; }) {}

  Seen run(const std::function<double(double)>& truth) {
    synchronise();
    seen_.first_sync = took_;
    for (const double wait : {0.1, 1.0, 10.0}) {
      right_.advance(wait);
      synchronise();
    }
    seen_.later_sync = took_;
    seen_.uncertainty = clock_.uncertainty();
    seen_.error = std::abs(clock_.now() - truth(right_.now()));
    right_.advance(10);
    seen_.uncertainty_10s = clock_.uncertainty();
    seen_.error_10s = std::abs(clock_.now() - truth(right_.now()));
    pace_.begin_case("first round");
    seen_.passes = timed([&] { measure(); });
    seen_.voids = static_cast<double>(pace_.tally().void_passes);
    pace_.answer_questions();
    seen_.gather = timed([&] { gather(network_, std::string(kText, 'x'), kAnHour, "results"); });
    seen_.retests_of = timed([&] { measure_again(); });
    return seen_;
  }
  [[nodiscard]] const SkewedHost& host() const { return host_; }

 private:
  double uniform(double largest) { return std::uniform_real_distribution(-largest, largest)(random_); }

  /// Seconds from the moment when all ranks are there.
  template <class Work>
  double timed(const Work& work) {
    barrier(network_, kAnHour, "beginning");
    const double begun = right_.now();
    work();
    return right_.now() - begun;
  }
  void synchronise() {
    took_ = timed([&] { clock_.synchronise(kAnHour); });
  }
  void measure() {
    for (int pass = 0; pass < kPasses;) {
      pace_.agree_on_start(0, kPass);
      pace_.wait_for_start();
      seen_.began.push_back(right_.now());
      right_.advance(kPass);
      if (pace_.agree_on_pass(true)) ++pass;
    }
  }
  void measure_again() {
    const auto seen = seen_.began;
    pace_.begin_case("second round");
    if (network_.rank() < kInSecondRound) measure();
    pace_.answer_questions();
    gather(network_, network_.rank() < kInSecondRound ? std::string(kText, 'x') : "", kAnHour, "results again");
    seen_.began = seen;
  }

  VirtualHost right_;
  ModelledNetwork network_;
  std::minstd_rand random_;
  SkewedHost host_;
  CommonClock clock_;
  RankLockstep pace_;
  Seen seen_;
  double took_ = 0;
};

double largest(const std::vector<Seen>& all, double Seen::*what) {
  return (*std::ranges::max_element(all, {}, what)).*what;
}

/// The largest difference in seconds between two ranks' starts of one pass.
double apart(const std::vector<Seen>& all) {
  double most = 0;
  for (std::size_t pass = 0; pass < all.front().began.size(); ++pass) {
    double first = all.front().began[pass];
    double last = first;
    for (const Seen& seen : all) {
      first = std::min(first, seen.began.at(pass));
      last = std::max(last, seen.began.at(pass));
    }
    most = std::max(most, last - first);
  }
  return most;
}

/// Runs a fleet of `count` ranks and prints a row. False if a promise is broken.
bool show(int count) {
  const auto begun = std::chrono::steady_clock::now();
  std::vector<int> nodes;
  for (int rank = 0; rank < count; ++rank) nodes.push_back(rank / kPerNode);
  std::vector<Seen> all(static_cast<std::size_t>(count));
  // The clock of rank 0 is the common clock. Rank 0 lives until all ranks have ended.
  std::function<double(double)> truth;
  FiberRanks(count, kPerNode).run([&](Communicator& ranks) {
    GrowingRank rank(ranks, nodes);
    if (ranks.rank() == 0) truth = [host = &rank.host()](double right) { return host->shown(right); };
    all.at(static_cast<std::size_t>(ranks.rank())) = rank.run([&](double right) { return truth(right); });
    barrier(ranks, kAnHour, "the end");
  });
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  const auto most = [&](double Seen::*what) { return largest(all, what); };
  const double pass = most(&Seen::passes) / kPasses - kPass;
  const double retests_of = most(&Seen::retests_of) - kPasses * kPass;
  fmt::print(
      "{:>6} {:>9.2f} {:>9.2f} {:>9.1f} {:>9.1f} {:>9.1f} {:>9.1f} {:>8.1f} {:>6.0f} {:>8.2f} {:>9.2f} {:>9.2f} "
      "{:>8.1f}\n",
      count, 1e3 * most(&Seen::first_sync), 1e3 * most(&Seen::later_sync), 1e6 * most(&Seen::uncertainty),
      1e6 * most(&Seen::error), 1e6 * most(&Seen::uncertainty_10s), 1e6 * most(&Seen::error_10s), 1e6 * pass,
      most(&Seen::voids), 1e6 * apart(all), 1e3 * most(&Seen::gather), 1e3 * retests_of, seconds);
  std::fflush(stdout);
  const bool honest = std::ranges::all_of(
      all, [](const Seen& s) { return s.error <= s.uncertainty && s.error_10s <= s.uncertainty_10s; });
  return honest && apart(all) <= 2 * most(&Seen::uncertainty_10s) + 1e-9;
}

int show_all(const std::vector<int>& counts) {
  fmt::print("{:>6} {:^19} {:^19} {:^19} {:^24} {:>8} {:>9} {:>8}\n", "", "sync, ms", "clocks then, us",
             "10 s later, us", "a pass", "", "second", "took");
  fmt::print("{:>6} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>8} {:>6} {:>8} {:>9} {:>9} {:>8}\n", "ranks", "first",
             "later", "stated", "true", "stated", "true", "plus us", "void", "apart us", "gather ms", "round ms",
             "real s");
  bool good = true;
  for (const int count : counts) good = show(count) && good;
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace xferbench::test

int main(int count, char** arguments) {
  try {
    std::vector<int> ranks;
    for (int i = 1; i < count; ++i) ranks.push_back(std::stoi(arguments[i]));
    if (ranks.empty()) ranks = {2, 8, 64, 512, 4096, 16384};
    return xferbench::test::show_all(ranks);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fleet_growth: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
