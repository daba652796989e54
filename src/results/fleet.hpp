// What a results file says of many processes that measured together: who they were, and what is judged of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/enum_text.hpp"
#include "core/environment.hpp"

namespace xferbench {

/// Which ranks of a fleet measure at once.
enum class Pacing {
  all,   ///< all of them
  node,  ///< those of one node, one node after the other
  one,   ///< one after the other
};
constexpr auto texts_of(Pacing) { return std::to_array<std::string_view>({"all", "node", "one"}); }

/// What the speed of a case is that of.
enum class DataPath {
  link,   ///< copies between the GPU and its host, and nothing else
  gpu,    ///< what stays on the GPU
  mixed,  ///< both, or work of the host
};
constexpr auto texts_of(DataPath) { return std::to_array<std::string_view>({"link", "gpu", "mixed"}); }

/// Labels of a result that is of two ranks: the one that sends, and the one that receives.
inline constexpr const char* kFromRank = "from";
inline constexpr const char* kToRank = "to";
/// The axis by which cases of such a scenario differ that have other partners and are alike in all else.
inline constexpr const char* kRoundOfPartners = "round";
/// "exchange/pairs=all/size=1MiB" of "exchange/pairs=all/round=2/size=1MiB".
std::string without_round_of_partners(std::string key);

/// Of a result that one rank of a fleet measured.
struct InFleet {
  int rank = 0;
  Pacing pace = Pacing::all;
  unsigned round = 1;  ///< 2: measured again, with some others, because somebody was suspected
  DataPath path = DataPath::mixed;
  /// How far the common clock of those who measured together was off at most, in seconds.
  double clock_uncertainty = 0;
  std::size_t passes = 0;       ///< of all that was sampled, with the warm-up; 0 where it is not known
  std::size_t void_passes = 0;  ///< of these, that were repeated because a rank was late
  std::size_t late_passes = 0;  ///< of these, in which this rank was
  /// When the passes of the case's first number began and ended at this rank: seconds from the moment that was agreed
  /// for each pass, by the common clock.
  std::vector<double> begins{};
  std::vector<double> ends{};
  friend bool operator==(const InFleet&, const InFleet&) = default;
};

/// One rank: where it ran and on what.
struct RankPlace {
  int rank = 0;
  int node = 0;  ///< nodes are counted in the order of their lowest ranks
  int local_rank = 0;
  std::string host;           ///< its name
  Environment environment{};  ///< whose `gpu` is the rank's
  std::string tool{};         ///< the program's version and commit
  friend bool operator==(const RankPlace&, const RankPlace&) = default;
};

/// Something that is slower than its like, or gone.
struct Flagged {
  enum class What { gpu, link, host, pair, rank };
  What what = What::gpu;
  std::vector<int> ranks;  ///< that it shows on; of a pair, the one that sends and the one that receives
  std::string name;        ///< "GPU 3 of host a (GPU-uuid)": which it is
  double shortfall = 0;    ///< below its group's middle, as a share, in the test where it is most; 0 of a rank
  std::vector<std::string> tests{};  ///< in which it shows
  std::string text;                  ///< a sentence without its full stop
  friend bool operator==(const Flagged&, const Flagged&) = default;
};
constexpr auto texts_of(Flagged::What) {
  return std::to_array<std::string_view>({"gpu", "link", "host", "pair", "rank"});
}

/// What it means that nothing is flagged. Tests are cases at a pace, transfers with all partners together.
struct FleetJudgement {
  std::size_t tests = 0;       ///< that could say something
  std::size_t judged = 0;      ///< of these, that said it: the clocks were sure, and there were ranks to compare
  std::size_t unresolved = 0;  ///< suspicions that the second round could neither confirm nor remove
  friend bool operator==(const FleetJudgement&, const FleetJudgement&) = default;
};

/// A fleet: the ranks of a run under mpirun or srun.
struct Fleet {
  std::string mpi{};                       ///< "Open MPI 4.1.4"
  std::vector<RankPlace> ranks{};          ///< ascending
  std::vector<std::string> differences{};  ///< in what ranks differ: builds, drivers ...; sentences like `notes`
  double clock_uncertainty = 0;            ///< the largest of all ranks and cases, in seconds
  std::vector<int> missing{};              ///< ranks that did not answer any more
  std::vector<Flagged> flagged{};
  std::vector<std::string> notes{};           ///< what limits the judgement: sentences without their full stops
  std::optional<FleetJudgement> judgement{};  ///< null until it is made
  /// Null for one that never said where it is. Ranks ascend.
  [[nodiscard]] const RankPlace* place(int rank) const {
    const auto found = std::ranges::lower_bound(ranks, rank, {}, &RankPlace::rank);
    return found == ranks.end() || found->rank != rank ? nullptr : &*found;
  }
  friend bool operator==(const Fleet&, const Fleet&) = default;
};

/// "1": the GPU's number on its host, whatever of it is hidden from the rank, or where CUDA_VISIBLE_DEVICES says no
/// number its address, "0000:17:00.0". The rank's number on its host is another: ranks may share a GPU.
std::string gpu_text(const RankPlace& place);

/// "GPU 1 of a".
std::string where_text(const RankPlace& place);

/// "8 x NVIDIA H200 on 2 hosts".
std::string gpus_text(const Fleet& fleet);

}  // namespace xferbench
