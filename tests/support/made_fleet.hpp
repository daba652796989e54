// Fleets that are made up, with a known truth: ranks that differ by chance, and one part that is slower.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "fleet/judgement.hpp"
#include "results/result.hpp"

namespace xferbench::test {

/// A part that is slower: copies and latencies through a rank's link, copies inside its GPU, or all that crosses the
/// links of a host.
struct Fault {
  enum class Of { link, gpu, host };
  Of of = Of::link;
  int where = 0;           ///< the rank, or the node
  double slower_by = 0.1;  ///< by that share
};

struct FleetPlan {
  int nodes = 2;
  int ranks_per_node = 4;
  double noise = 0.01;    ///< standard deviation of each number of a rank, drawn anew in each round
  double persistent = 0;  ///< of each number of a rank, the same in both rounds
  std::vector<Fault> faults{};
  std::size_t samples = 1;  ///< of each measurement
  std::uint64_t seed = 1;
  std::vector<std::string> cases{"h2d", "d2h", "d2d", "latency"};
};

/// The results of a plan: copies to the GPU, to the host and on the GPU, which are rates, and a latency over the link,
/// which is a time.
class MadeFleet {
 public:
  explicit MadeFleet(const FleetPlan& plan);
  /// What these ranks measure when they measure the fleet's own cases again; added to the report.
  void measure_again(const std::vector<fleet::Retest>& retests);
  /// Both rounds, and the judgement.
  void judge(const fleet::Options& options = {});

  Report report;

 private:
  [[nodiscard]] int node_of(int rank) const { return rank / plan_.ranks_per_node; }
  /// How many times as long it takes.
  [[nodiscard]] double slowdown(const std::string& what, int rank) const;
  [[nodiscard]] Result measured(const std::string& what, int rank, unsigned round);
  void add_place(int rank);
  double normal() { return std::normal_distribution<double>()(random_); }

  FleetPlan plan_;
  std::mt19937_64 random_;
  std::vector<std::vector<double>> level_;  ///< by case and rank
};

/// A case of a made fleet by one of `cases`.
Case made_case(const std::string& what);

}  // namespace xferbench::test
