// Not a scenario: what a case of multipath means, what its results say, and its cases as a space for `tune`.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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

/// The most bytes that a helper holds for chunks that are on their way.
std::uint64_t helper_memory(const MultipathCase& c);

/// How the payload is cut, and what of it goes where.
struct Cut {
  model::RelayShape shape;
  model::RelaySplit split;
};

/// As the case says; what it leaves open is the model's choice from what `paths` returns, which is called only then.
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

/// Bytes of the slots of the helper that has most.
std::uint64_t helper_memory(const Cut& cut);

/// Adds the rates of a payload that takes so many seconds, beside as many through the target's own link alone; what of
/// it is relayed; what helpers hold for that and how much at a time, unless they have nothing to do.
void add_rates(const MultipathCase& c, const Cut& cut, double seconds, double direct_seconds, Result& result);

/// Findings of kind "multipath" for each result, what it gains and what that costs; "helpers", with how few it is as
/// fast as with more. All results are ok. Throws InputError where one lacks its own time, as only a file's can.
std::vector<Finding> multipath_findings(std::span<const Result* const> results);

/// The axes that say what is done, and not how.
inline constexpr std::array<std::string_view, 3> kMultipathWorkAxes{"dir", "target", "size"};

/// As Scenario::tunable() says.
std::unique_ptr<Tunable> multipath_space(std::span<const Case> cases, const RunContext& bench);

}  // namespace xferbench
