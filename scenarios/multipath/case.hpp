// Not a scenario: what a case of multipath means.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/axis.hpp"
#include "core/units.hpp"
#include "model/relay.hpp"
#include "results/result.hpp"
#include "run/scenario.hpp"

namespace xferbench {

/// Parts of the payload begin at multiples of this, so that copies of them are aligned.
inline constexpr std::uint64_t kPartAlignment = 64 * KiB;

struct MultipathCase {
  Direction direction = Direction::h2d;  ///< to the target's memory, or from there
  std::vector<int> target;               ///< the number of one GPU; empty: the first of the run
  std::vector<int> via;                  ///< of the helpers; empty: all others, ...
  bool growing = false;                  ///< ... or one of them, two of them, and so on
  std::optional<double> share;           ///< of the payload, that goes through the helpers; none: the model's choice
  model::RelayShape shape;               ///< its chunk: 0 for the model's choice
  std::uint64_t bytes = 0;

  [[nodiscard]] bool is_explicit() const { return !target.empty() && !via.empty(); }
  /// The target and its helpers.
  [[nodiscard]] std::vector<int> gpus() const;
};
MultipathCase multipath_case(const Case& c);

/// Words of the axes: any GPU but the target helps; or one of them, two of them, and so on.
inline constexpr const char* kFirst = "first";
inline constexpr const char* kAllOthers = "all";
inline constexpr const char* kGrowing = "growing";

/// With numbers in place of words. The case as it is where there is nobody to help.
std::vector<Case> expand_multipath(const Case& c, const GpusOfRun& gpus);

/// Bytes that each helper holds for chunks that are on their way.
std::uint64_t helper_memory(const MultipathCase& c);

/// The share that the case names, else as the model chooses from what `paths`, called only then, returns.
template <class Paths>
model::RelaySplit split_of(const MultipathCase& c, const model::RelayShape& shape, const Paths& paths) {
  if (c.share) return model::even_relay_split(c.via.size(), *c.share, c.bytes, kPartAlignment);
  return model::best_relay_split(paths(), shape, c.bytes, kPartAlignment);
}

/// Adds the rates of a payload that takes so many seconds, beside as many through the target's own link alone; what of
/// it is relayed; what helpers hold for that and how much at a time, unless they have nothing to do.
void add_rates(const MultipathCase& c, const model::RelayShape& shape, const model::RelaySplit& split, double seconds,
               double direct_seconds, Result& result);

}  // namespace xferbench
