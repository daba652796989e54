// The part of a results file about a fleet, which is all processes (ranks) that measured together, with the verdicts
// about them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/enum_text.hpp"
#include "core/environment.hpp"

namespace xferbench {

/// Which ranks of a fleet measure at the same time.
enum class RankConcurrency {
  all,
  node,  ///< the ranks of one node, then those of the next node
  one,   ///< one rank at a time
};
constexpr auto texts_of(RankConcurrency) { return enum_texts("all", "node", "one"); }

/// Which hardware determines the speed of a case.
enum class DataPath {
  link,   ///< only copies between the GPU and its host
  gpu,    ///< only work inside the GPU
  mixed,  ///< both, or work of the host
};
constexpr auto texts_of(DataPath) { return enum_texts("link", "gpu", "mixed"); }

/// Labels of a result about two ranks: the sender and the receiver.
inline constexpr const char* kFromRank = "from";
inline constexpr const char* kToRank = "to";
/// Name of the axis that selects which ranks are partners.
inline constexpr const char* kRoundOfPartners = "round";
/// Removes that axis from a case's key: "exchange/pairs=all/size=1MiB" from "exchange/pairs=all/round=2/size=1MiB".
std::string without_round_of_partners(std::string key);

/// Additional facts about a result that one rank of a fleet measured.
struct InFleet {
  int rank = 0;
  RankConcurrency pace = RankConcurrency::all;
  unsigned round = 1;  ///< 2: measured again, because a rank was suspected to be slow
  DataPath path = DataPath::mixed;
  /// Largest error of the common clock among the ranks that measured together, in seconds.
  double clock_uncertainty = 0;
  std::size_t passes = 0;       ///< number of all sampled passes, warm-up included; 0 if unknown
  std::size_t void_passes = 0;  ///< number of passes that were repeated because a rank was late
  std::size_t late_passes = 0;  ///< number of `void_passes` in which this rank was late
  /// Begin and end, on this rank, of each pass of the case's first measurement. Times are seconds after the start that
  /// the ranks agreed on for the pass, by a clock common to all ranks.
  std::vector<double> begins{};
  std::vector<double> ends{};
  friend bool operator==(const InFleet&, const InFleet&) = default;
};

/// The node, host, GPU and program version of a rank.
struct RankPlace {
  int rank = 0;
  int node = 0;  ///< nodes are numbered in the order of their lowest ranks
  int local_rank = 0;
  std::string host;
  Environment environment{};  ///< environment of the rank; `gpu` in it is the rank's GPU
  std::string tool{};         ///< the program's version and commit
  friend bool operator==(const RankPlace&, const RankPlace&) = default;
};

/// A GPU, link, host or pair of ranks that is slower than its peers, or a rank that no longer answers.
struct Flagged {
  enum class What { gpu, link, host, pair, rank };
  What what = What::gpu;
  std::vector<int> ranks{};  ///< ranks whose results show the problem; for a pair, sender and receiver
  std::string name{};        ///< name of what is slow, for example "GPU 3 of host a (GPU-uuid)"
  /// Shortfall in the worst test, as a share of the median of the peers: 0.1 is 10 % slower; 0 for a missing rank.
  double shortfall = 0;
  std::vector<std::string> tests{};  ///< names of the tests that show the problem
  std::string text{};                ///< description of the problem: a sentence without its final period
  friend bool operator==(const Flagged&, const Flagged&) = default;
};
constexpr auto texts_of(Flagged::What) { return enum_texts("gpu", "link", "host", "pair", "rank"); }

/// How many tests compared ranks with each other. If few tests did, slow hardware may have gone unnoticed. A test is a
/// case at one RankConcurrency; transfers with all partners count as one test.
struct FleetJudgement {
  std::size_t tests = 0;       ///< number of tests with usable numbers
  std::size_t judged = 0;      ///< number of `tests` that had accurate enough clocks and at least two comparable ranks
  std::size_t unresolved = 0;  ///< number of suspicions that a second measurement neither confirmed nor refuted
  friend bool operator==(const FleetJudgement&, const FleetJudgement&) = default;
};

/// A fleet: the ranks of a run under mpirun or srun.
struct Fleet {
  std::string mpi{};                       ///< name and version of the MPI library, for example "Open MPI 4.1.4"
  std::vector<RankPlace> ranks{};          ///< sorted by rank
  std::vector<std::string> differences{};  ///< sentences about differences between ranks, such as builds and drivers
  double clock_uncertainty = 0;            ///< largest clock_uncertainty of all ranks and cases, in seconds
  std::vector<int> missing{};              ///< ranks that no longer answered
  std::vector<Flagged> flagged{};
  std::vector<std::string> notes{};  ///< limitations of the judgement: sentences without final period
  std::optional<FleetJudgement> judgement{};
  /// Returns the place of a rank; null for an unknown rank. `ranks` must be sorted.
  [[nodiscard]] const RankPlace* place(int rank) const {
    const auto found = std::ranges::lower_bound(ranks, rank, {}, &RankPlace::rank);
    return found == ranks.end() || found->rank != rank ? nullptr : &*found;
  }
  friend bool operator==(const Fleet&, const Fleet&) = default;
};

/// Returns the GPU's number on its host, even if CUDA_VISIBLE_DEVICES hides others: "1". If that variable has no
/// numbers, returns the GPU's PCI address: "0000:17:00.0". The local rank may differ: ranks can share a GPU.
std::string gpu_text(const RankPlace& place);

/// Returns for example "GPU 1 of a".
std::string where_text(const RankPlace& place);

/// Returns for example "8 x NVIDIA H200 on 2 hosts".
std::string gpus_text(const Fleet& fleet);

}  // namespace xferbench
