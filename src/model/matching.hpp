// Who talks to whom, round by round: in each round every one of n has at most one partner, so that no link is used
// twice. Pure functions. Formulas: docs/scenarios/exchange.md, "Rounds".
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
/// Pairs of which no two have anybody in common.
using Matching = std::vector<Pair>;

// Of n that are numbered from 0. Rounds are numbered from 0, too; fewer than two have none.

/// Everybody with everybody else, once: n - 1 rounds, or n where n is odd and one sits out in each.
[[nodiscard]] std::size_t tournament_rounds(int n);
[[nodiscard]] Matching tournament_round(int n, std::size_t round);

/// Each with the next one, and the last with the first: two rounds, three where n is odd, one where n is 2.
[[nodiscard]] std::size_t ring_rounds(int n);
[[nodiscard]] Matching ring_round(int n, std::size_t round);

/// Rounds of a tournament in which the seed has dealt out the numbers: each with log2(n) others or so.
[[nodiscard]] std::size_t sampled_rounds(int n);
[[nodiscard]] Matching sampled_round(int n, std::size_t round, std::uint64_t seed);

}  // namespace xferbench::model
