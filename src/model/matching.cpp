#include "model/matching.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <random>
#include <utility>

namespace xferbench::model {

std::size_t tournament_rounds(int n) { return n < 2 ? 0 : static_cast<std::size_t>(n % 2 == 0 ? n - 1 : n); }

/// Uses the circle method: all participants but the last are on a circle that rotates by one each round, and each meets
/// the participant opposite. If n is odd, a dummy is added as the last participant.
Matching tournament_round(int n, std::size_t round) {
  Matching matching;
  if (round >= tournament_rounds(n)) return matching;
  const int circle = n % 2 == 0 ? n - 1 : n;
  const int turn = static_cast<int>(round);
  if (n % 2 == 0) matching.push_back({turn, n - 1});
  for (int i = 1; i <= (circle - 1) / 2; ++i) {
    const int one = (turn + i) % circle;
    const int other = (turn - i + circle) % circle;
    matching.push_back({std::min(one, other), std::max(one, other)});
  }
  return matching;
}

std::size_t ring_rounds(int n) {
  if (n < 2) return 0;
  if (n == 2) return 1;
  return n % 2 == 0 ? 2 : 3;
}

Matching ring_round(int n, std::size_t round) {
  Matching matching;
  if (round >= ring_rounds(n)) return matching;
  if (round == 2) return {{n - 1, 0}};
  for (int i = static_cast<int>(round); i < n; i += 2) {
    const bool closes = i == n - 1;
    if (closes && (n == 2 || n % 2 == 1)) continue;  // round 0 has this pair if n is 2, round 2 if n is odd
    matching.push_back({i, (i + 1) % n});
  }
  return matching;
}

std::size_t sampled_rounds(int n) {
  return n < 2 ? 0 : std::min<std::size_t>(tournament_rounds(n), std::bit_width(static_cast<unsigned>(n) - 1));
}

Matching sampled_round(int n, std::size_t round, std::uint64_t seed) {
  if (round >= sampled_rounds(n)) return {};
  std::vector<int> numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0);
  // The result of std::shuffle depends on the library, but all ranks must get the same order.
  std::mt19937_64 random(seed);
  for (std::size_t left = numbers.size(); left > 1; --left) std::swap(numbers[left - 1], numbers[random() % left]);
  Matching matching = tournament_round(n, round);
  for (Pair& pair : matching) {
    const int one = numbers[static_cast<std::size_t>(pair.first)];
    const int other = numbers[static_cast<std::size_t>(pair.second)];
    pair = {std::min(one, other), std::max(one, other)};
  }
  return matching;
}

}  // namespace xferbench::model
