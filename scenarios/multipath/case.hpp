// Not a scenario: what a case of multipath means.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/axis.hpp"
#include "model/relay.hpp"
#include "results/result.hpp"
#include "run/scenario.hpp"

namespace xferbench {

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

/// A chunk that the model may choose is at most so long.
inline constexpr std::uint64_t kLongestChunk = 64 * 1024 * 1024;
/// Bytes that each helper holds for chunks that are on their way.
std::uint64_t helper_memory(const MultipathCase& c);

/// Adds what helpers hold and how much at a time; nothing where they have nothing to do.
void add_memory(const model::RelayShape& shape, const model::RelaySplit& split, Result& result);

/// Parts of the payload begin at multiples of this, so that copies of them are aligned.
inline constexpr std::uint64_t kPartAlignment = 64 * 1024;

}  // namespace xferbench
