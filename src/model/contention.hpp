// Finds GPUs that share a bottleneck, from the rate of each GPU alone and of every two GPUs concurrently. Also finds
// how many GPUs together saturate a bottleneck of all GPUs. Pure functions. Method: docs/scenarios/together.md.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "model/relation.hpp"

namespace xferbench::model {

/// If GPUs run concurrently at a total rate that is lower than the sum of their single rates by at least this fraction,
/// they share a bottleneck. Smaller losses come from starting and joining GPUs and from other activity of the machine.
inline constexpr double kLeastLoss = 0.05;

Estimate rate_of(double amount, const Estimate& seconds);
/// Returns the sum of independent medians. Interval half-widths add in quadrature. No interval if one is missing.
Estimate sum_of(std::span<const Estimate> estimates);

/// The total rate of some GPUs running concurrently, and the sum of their rates alone.
struct ConcurrentRates {
  Estimate together;
  Estimate alone;
};
/// Returns together / alone, with an interval if both have one; 0 if `alone` is 0.
Estimate fraction_of_alone(const ConcurrentRates& rates);

/// Whether GPUs share a bottleneck that they saturate when they run together.
enum class Sharing {
  yes,        ///< the whole interval of fraction_of_alone() is below 1 - kLeastLoss
  no,         ///< the whole interval of fraction_of_alone() is at or above 1 - kLeastLoss
  undecided,  ///< neither yes nor no, or there is no interval
  unknown,    ///< not measured concurrently
};
Sharing sharing_of(const ConcurrentRates& rates);

/// Two GPUs, given by their indices, and their rates.
struct ConcurrentPair {
  std::size_t a = 0;
  std::size_t b = 0;
  ConcurrentRates rates;
};

/// A group of GPUs. Each shares a bottleneck with at least one other GPU of the group, but not necessarily with all.
struct Bottleneck {
  std::vector<std::size_t> members;  ///< GPU indices, ascending, two or more
  bool every_pair = true;            ///< whether all pairs share a bottleneck; false also if a pair is undecided
  double least = 0;                  ///< lowest concurrent rate of two members that share a bottleneck
  double most = 0;                   ///< highest concurrent rate of two members that share a bottleneck
};

class Contention {
 public:
  /// Analyses `gpus` GPUs. Pairs that are missing count as unknown; of duplicate pairs the last one counts. Takes
  /// O(gpus^2) time. Throws std::out_of_range for an invalid index or a pair of a GPU with itself.
  Contention(std::size_t gpus, std::span<const ConcurrentPair> pairs);

  [[nodiscard]] std::size_t gpus() const { return gpus_; }
  /// Returns whether two GPUs share a bottleneck; symmetric. Sharing::unknown for a GPU with itself.
  [[nodiscard]] Sharing between(std::size_t a, std::size_t b) const { return matrix_.at(a * gpus_ + b); }
  /// Returns the number of pairs whose Sharing has the given value.
  [[nodiscard]] std::size_t count(Sharing sharing) const;
  /// Returns the bottlenecks, sorted by their lowest GPU index.
  [[nodiscard]] const std::vector<Bottleneck>& bottlenecks() const { return bottlenecks_; }
  /// Returns the indices of the GPUs that are known to share no bottleneck with any other GPU.
  [[nodiscard]] std::vector<std::size_t> independent() const;
  /// Whether GPUs of different groups are known to share no bottleneck with each other.
  [[nodiscard]] bool independent_across() const { return independent_across_; }

 private:
  void connect();
  void describe(Bottleneck& bottleneck, std::span<const ConcurrentPair> pairs) const;

  std::size_t gpus_;
  std::vector<Sharing> matrix_;      // row-major
  std::vector<std::size_t> groups_;  // for each GPU, the lowest GPU index of its group
  std::vector<Bottleneck> bottlenecks_;
  bool independent_across_ = true;
};

/// Returns the index of the first group whose GPUs certainly share a bottleneck. Groups must be in order of their size.
std::optional<std::size_t> first_shared_group(std::span<const ConcurrentRates> growing);

}  // namespace xferbench::model
