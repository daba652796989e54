// Pairings of n participants in rounds. In each round everyone has at most one partner, so no link is used twice.
// Pure functions. Formulas: docs/scenarios/exchange.md, "Rounds".
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace xferbench::model {

struct Pair {
  int first = 0;
  int second = 0;
  friend bool operator==(const Pair&, const Pair&) = default;
};
/// Disjoint pairs.
using Matching = std::vector<Pair>;

// For n participants numbered from 0. Rounds are numbered from 0; fewer than two participants have none.

/// Round robin: all pairs once, in n - 1 rounds, or n if n is odd and one participant pauses in each.
[[nodiscard]] std::size_t tournament_rounds(int n);
[[nodiscard]] Matching tournament_round(int n, std::size_t round);

/// Ring: each with the next, and the last with the first. Two rounds, three if n is odd, one if n is 2.
[[nodiscard]] std::size_t ring_rounds(int n);
[[nodiscard]] Matching ring_round(int n, std::size_t round);

/// Rounds of a tournament with shuffled numbers (by seed): each participant meets about log2(n) others.
[[nodiscard]] std::size_t sampled_rounds(int n);
[[nodiscard]] Matching sampled_round(int n, std::size_t round, std::uint64_t seed);

}  // namespace xferbench::model
