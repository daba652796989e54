// Divides the pairs among n participants into rounds. A participant has at most one partner per round, so no link is
// used twice in a round. Pure functions. Formulas: docs/scenarios/exchange.md, "Rounds".
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
/// The pairs of one round; each participant is in at most one of them.
using Matching = std::vector<Pair>;

// In all functions the n participants and the rounds are numbered from 0. Fewer than two participants have no rounds.

/// Round robin: every pair meets once. Needs n - 1 rounds, or n if n is odd; then one participant pauses in each round.
[[nodiscard]] std::size_t tournament_rounds(int n);
[[nodiscard]] Matching tournament_round(int n, std::size_t round);

/// Ring: each participant meets the next, and the last the first. Needs two rounds; three if n is odd, one if n is 2.
[[nodiscard]] std::size_t ring_rounds(int n);
[[nodiscard]] Matching ring_round(int n, std::size_t round);

/// The first rounds of a round robin. Each participant meets about log2(n) others, chosen pseudo-randomly by `seed`.
[[nodiscard]] std::size_t sampled_rounds(int n);
[[nodiscard]] Matching sampled_round(int n, std::size_t round, std::uint64_t seed);

}  // namespace xferbench::model
