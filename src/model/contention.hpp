// Finds GPUs that share a bottleneck, from the rate of each GPU alone and of every two GPUs concurrently. Also finds
// the bottleneck's capacity, and how many GPUs saturate one that all share. Pure functions. docs/scenarios/together.md.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "model/relation.hpp"

namespace xferbench::model {

/// A concurrent rate this much below the sum of single rates indicates a shared bottleneck. Smaller losses come from
/// starting and joining GPUs and from other activity of the machine.
inline constexpr double kLeastLoss = 0.05;

/// Rate of `amount` in that many seconds.
Estimate rate_of(double amount, const Estimate& seconds);
/// Sum of independent medians. Interval half-widths add in quadrature; no interval if one of them has none.
Estimate sum_of(std::span<const Estimate> estimates);

/// Rates: the total of GPUs running concurrently, and the sum of their rates alone.
struct ConcurrentRates {
  Estimate together;
  Estimate alone;
};
/// together / alone, with an interval if both have one; 0 if `alone` is 0.
Estimate fraction_of_alone(const ConcurrentRates& rates);

/// Whether GPUs share a bottleneck that they saturate together.
enum class Sharing {
  yes,        ///< the whole interval of fraction_of_alone() is below 1 - kLeastLoss
  no,         ///< the whole interval of fraction_of_alone() is at or above 1 - kLeastLoss
  undecided,  ///< neither, or no interval
  unknown,    ///< not measured concurrently
};
Sharing sharing_of(const ConcurrentRates& rates);

/// The rates of two GPUs, which are given by their indices.
struct ConcurrentPair {
  std::size_t a = 0;
  std::size_t b = 0;
  ConcurrentRates rates;
};

/// GPUs that share a bottleneck, directly or through others.
struct Bottleneck {
  std::vector<std::size_t> members;  ///< GPU indices, ascending, two or more
  bool every_pair = true;            ///< every pair shares it; otherwise some pairs share nothing or are undecided
  double least = 0;                  ///< lowest and ...
  double most = 0;                   ///< ... highest concurrent rate of two GPUs that share it
};

class Contention {
 public:
  /// Analyses `gpus` GPUs. Missing pairs are unknown; of duplicates the last counts. Takes O(gpus^2) time. Throws
  /// std::out_of_range for an invalid index or a pair of a GPU with itself.
  Contention(std::size_t gpus, std::span<const ConcurrentPair> pairs);

  [[nodiscard]] std::size_t gpus() const { return gpus_; }
  /// Whether two GPUs share a bottleneck; symmetric. Unknown for a GPU with itself.
  [[nodiscard]] Sharing between(std::size_t a, std::size_t b) const { return matrix_.at(a * gpus_ + b); }
  /// Number of pairs in that state.
  [[nodiscard]] std::size_t count(Sharing sharing) const;
  /// The bottlenecks, sorted by their lowest GPU index.
  [[nodiscard]] const std::vector<Bottleneck>& bottlenecks() const { return bottlenecks_; }
  /// Indices of the GPUs that are known to share nothing with any other.
  [[nodiscard]] std::vector<std::size_t> independent() const;
  /// Whether all pairs from different bottlenecks are known to share nothing.
  [[nodiscard]] bool independent_across() const { return independent_across_; }

 private:
  void connect();
  void describe(Bottleneck& bottleneck, std::span<const ConcurrentPair> pairs) const;

  std::size_t gpus_;
  std::vector<Sharing> matrix_;      // row-major
  std::vector<std::size_t> groups_;  // per GPU: lowest index in its connected group
  std::vector<Bottleneck> bottlenecks_;
  bool independent_across_ = true;
};

/// Index of the first of several groups, each larger than the previous, that certainly shares a bottleneck.
std::optional<std::size_t> first_shared_group(std::span<const ConcurrentRates> growing);

}  // namespace xferbench::model
