// The cases of scenario multipath: parsing, metrics, findings, and the search space of `tune`.
#pragma once

#include <string_view>

#include "core/units.hpp"
#include "model/relay.hpp"
#include "run/scenario.hpp"

namespace xferbench {

/// Alignment in bytes of the parts of the payload that different GPUs copy, so that their copies are aligned.
inline constexpr std::uint64_t kPartAlignment = 64 * KiB;

struct MultipathCase {
  Direction direction = Direction::h2d;  ///< to the target GPU's memory, or from it
  std::vector<int> target;               ///< number of one GPU; empty: the first GPU of the run
  std::vector<int> via;                  ///< helper GPUs; empty: all other GPUs
  bool growing = false;         ///< an empty `via` means one case with one helper, one with two helpers, and so on
  std::optional<double> share;  ///< fraction of the payload that helpers relay, 0 to 1; nothing: the model chooses it
  model::RelayShape shape;      ///< if `chunk` is 0, the model chooses the chunk size
  std::uint64_t bytes = 0;

  [[nodiscard]] bool is_explicit() const { return !target.empty() && !via.empty(); }
  /// Returns the numbers of the target GPU and then of its helpers.
  [[nodiscard]] std::vector<int> gpus() const;
};
MultipathCase multipath_case(const Case& c);

/// Words that axes accept instead of GPU numbers: kFirst is the first GPU of the run as target; kAllOthers is all other
/// GPUs as helpers; kGrowing is one case with one helper, one with two helpers, and so on.
inline constexpr const char* kFirst = "first";
inline constexpr const char* kAllOthers = "all";
inline constexpr const char* kGrowing = "growing";

/// Returns the cases that `c` stands for, with GPU numbers instead of words; `c` itself if there is only one GPU.
std::vector<Case> expand_multipath(const Case& c, const GpusOfRun& gpus);

/// Returns an upper bound of the slot memory of one helper GPU, in bytes.
std::uint64_t helper_memory(const MultipathCase& c);

/// How the payload is distributed over the target's own link and the helpers, and cut into chunks.
struct Cut {
  model::RelayShape shape;
  model::RelaySplit split;
};

/// Returns the cut of a case; the model chooses what the case leaves open. Calls paths(), which measures the model's
/// input, only if the model is needed.
template <class Paths>
Cut cut(const MultipathCase& c, const Paths& paths) {
  const auto split_for = [&](const model::RelayShape& shape) {
    return c.share ? model::even_relay_split(c.via.size(), *c.share, c.bytes, kPartAlignment)
                   : model::best_relay_split(paths(), shape, c.bytes, kPartAlignment);
  };
  model::RelayShape shape = c.shape;
  if (shape.chunk == 0) shape.chunk = model::best_relay_chunk(paths(), shape, split_for);
  return {shape, split_for(shape)};
}

/// Returns the bytes of slot memory of the helper GPU that needs most.
std::uint64_t helper_memory(const Cut& cut);

/// Adds the bandwidth, its gain over the target's own link alone, and the fraction of the payload that is relayed. If
/// anything is relayed, also adds the chunk size and the helpers' memory. Times in seconds.
void add_rates(const MultipathCase& c, const Cut& cut, double seconds, double direct_seconds, Result& result);

/// Returns a finding "multipath" per result, with its gain and cost, and a finding "helpers" with the smallest number
/// of helpers that is as fast as more helpers. All results must be successful. Throws InputError if a result read from
/// a file lacks the measurement "multipath".
std::vector<Finding> multipath_findings(std::span<const Result* const> results);

/// The axes that define what is copied; the other axes define how.
inline constexpr std::array<std::string_view, 3> kMultipathWorkAxes{"dir", "target", "size"};

/// Creates the search space of `tune`. All candidates share one payload.
std::unique_ptr<Tunable> multipath_space(std::span<const Case> cases, const RunContext& bench);

}  // namespace xferbench
