// Made-up fleets with a known truth: ranks differ by noise, and some parts are slower.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "fleet/judgement.hpp"
#include "results/result.hpp"

namespace xferbench::test {

/// A slow part: a rank's link (copies and latencies), a GPU (copies inside it), or a host (all links of its ranks).
struct Fault {
  enum class Of { link, gpu, host };
  Of of = Of::link;
  int where = 0;           ///< the rank; for a host, the node
  double slower_by = 0.1;  ///< relative
};

struct FleetPlan {
  int nodes = 2;
  int ranks_per_node = 4;
  double noise = 0.01;    ///< relative standard deviation of each number, drawn anew in each round
  double persistent = 0;  ///< the same, but equal in both rounds
  std::vector<Fault> faults{};
  std::size_t samples = 1;  ///< per measurement
  std::uint64_t seed = 1;
  std::vector<std::string> cases{"h2d", "d2h", "d2d", "latency"};
};

/// The results of a plan: rates of H2D, D2H and D2D copies, and a latency over the link as a time.
class SyntheticFleet {
 public:
  explicit SyntheticFleet(const FleetPlan& plan);
  /// Adds results of the second round for these ranks and cases.
  void measure_again(const std::vector<fleet::Retest>& retests);
  /// Runs the second round that the program asks for, and the judgement.
  void judge(const fleet::Options& options = {});

  Report report;

 private:
  [[nodiscard]] int node_of(int rank) const { return rank / plan_.ranks_per_node; }
  /// Factor on the rank's time for this case.
  [[nodiscard]] double slowdown(const std::string& what, int rank) const;
  [[nodiscard]] Result measured(const std::string& what, int rank, unsigned round);
  void add_place(int rank);
  double normal() { return std::normal_distribution<double>()(random_); }

  FleetPlan plan_;
  std::mt19937_64 random_;
  std::vector<std::vector<double>> level_;  ///< [case][rank]: true time in seconds
};

/// The case for an entry of FleetPlan::cases.
Case made_case(const std::string& what);

}  // namespace xferbench::test
