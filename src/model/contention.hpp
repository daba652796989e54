// Which GPUs share a bottleneck, from what each reaches alone and what every two of them reach at once; how large it
// is; and from how many on what all have in common is full. Pure functions. docs/scenarios/together.md.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "model/relation.hpp"

namespace xferbench::model {

/// GPUs that reach so much less at once than alone, together, share something. Less than that is what starting and
/// joining them costs, and what the machine does besides.
inline constexpr double kLeastLoss = 0.05;

/// `amount` in so many seconds.
Estimate rate_of(double amount, const Estimate& seconds);
/// Of independent medians: the ends of its interval are as far from it as theirs are together, added as squares.
/// Without an interval where one of them has none.
Estimate sum_of(std::span<const Estimate> estimates);

/// What GPUs reach at once, and the sum of what each of them reaches alone: rates.
struct AtOnce {
  Estimate together;
  Estimate alone;
};
/// together / alone, with its interval if both have one; 0 where nothing was reached alone.
Estimate part_of_alone(const AtOnce& rates);

/// Whether GPUs share a bottleneck that they fill together.
enum class Sharing {
  yes,        ///< the whole interval of the ratio is below 1 - kLeastLoss
  no,         ///< the whole interval is not below it
  undecided,  ///< neither; always where there is no interval
  unknown,    ///< they did not run at once
};
Sharing sharing_of(const AtOnce& rates);

/// Two GPUs, by their places.
struct PairAtOnce {
  std::size_t a = 0;
  std::size_t b = 0;
  AtOnce rates;
};

/// GPUs that share a bottleneck, directly or by way of others.
struct Bottleneck {
  std::vector<std::size_t> members;  ///< in ascending order, two or more
  bool every_pair = true;  ///< each two of them share it; else some are known to share nothing with each other,
                           ///< or it is not known
  double least = 0;        ///< the lowest and ...
  double most = 0;         ///< ... the highest rate of two of them that share it at once
};

class Contention {
 public:
  /// Among so many GPUs. Pairs that are missing are unknown; of one that is there twice the last counts. Takes time in
  /// proportion to the number of pairs there can be. Throws std::out_of_range for a GPU that is none of them, or one
  /// that is a pair with itself.
  Contention(std::size_t gpus, std::span<const PairAtOnce> pairs);

  [[nodiscard]] std::size_t gpus() const { return gpus_; }
  /// The same both ways. Of one with itself: unknown.
  [[nodiscard]] Sharing between(std::size_t a, std::size_t b) const { return matrix_.at(a * gpus_ + b); }
  /// How many pairs are so.
  [[nodiscard]] std::size_t count(Sharing sharing) const;
  /// In the order of their first members.
  [[nodiscard]] const std::vector<Bottleneck>& bottlenecks() const { return bottlenecks_; }
  /// The places of those that are known to share with nobody.
  [[nodiscard]] std::vector<std::size_t> independent() const;
  /// Whether it is known of every two GPUs that are not of one bottleneck that they share nothing.
  [[nodiscard]] bool nothing_across() const { return nothing_across_; }

 private:
  void connect();
  void describe(Bottleneck& bottleneck, std::span<const PairAtOnce> pairs) const;

  std::size_t gpus_;
  std::vector<Sharing> matrix_;      // row by row
  std::vector<std::size_t> groups_;  // of each GPU: the lowest place among those that it is connected with
  std::vector<Bottleneck> bottlenecks_;
  bool nothing_across_ = true;
};

/// Groups that grow: of them all, the first that shares a bottleneck beyond doubt; nothing if none does.
std::optional<std::size_t> first_that_shares(std::span<const AtOnce> growing);

}  // namespace xferbench::model
