#include "scenarios/exchange/case.hpp"

#include <fmt/format.h>

namespace xferbench {

ExchangeCase exchange_case(const Case& c) {
  const std::vector<int> ranks = gpu_numbers(c.word("pairs"));
  ExchangeCase e{.pairs = ranks.empty() ? c.one_of<ExchangePairs>("pairs", kExchangePairs) : ExchangePairs::ring,
                 .ranks = ranks,
                 .round = {},
                 .method = c.one_of<ExchangeMethod>("method", kExchangeMethods),
                 .both_ways = c.is("way", "both"),
                 .shape = {.chunk = c.count_or("chunk", 0), .depth = c.count_or("depth", 0)},
                 .bytes = c.count("size")};
  if (c.has("round")) e.round = c.count("round");
  return e;
}

namespace {

std::size_t round_count(const ExchangeCase& c, int ranks) {
  if (!c.ranks.empty()) return 1;
  switch (c.pairs) {
    case ExchangePairs::ring: return model::ring_rounds(ranks);
    case ExchangePairs::all: return model::tournament_rounds(ranks);
    case ExchangePairs::sampled: break;
  }
  return model::sampled_rounds(ranks);
}

/// Splits the transfers of a turn into groups that run concurrently. With both ways, one transfer stands for both
/// directions between a pair of ranks.
std::vector<model::Matching> in_groups(const model::Matching& transfers, RankConcurrency pace,
                                       std::span<const int> nodes) {
  if (pace == RankConcurrency::all) return {transfers};
  if (pace == RankConcurrency::one) {
    return list_of(transfers, [](const model::Pair& transfer) { return model::Matching{transfer}; });
  }
  const auto node_of = [&](const model::Pair& transfer) { return nodes[static_cast<std::size_t>(transfer.first)]; };
  return list_of(set_of(transfers, node_of), [&](int node) {
    return those_of(transfers, [&](const model::Pair& transfer) { return node_of(transfer) == node; });
  });
}

ExchangePart part_of(const model::Matching& transfers, bool both_ways, int rank) {
  ExchangePart part;
  for (const model::Pair& t : transfers) {
    if (t.first == rank) part.to = t.second;
    if (t.second == rank) part.from = t.first;
    if (both_ways && part.to) part.from = part.to;
    if (both_ways && part.from) part.to = part.from;
  }
  return part;
}

}  // namespace

std::vector<Case> rounds_of(const Case& c, int ranks) {
  const ExchangeCase e = exchange_case(c);
  const std::size_t rounds = round_count(e, ranks);
  if (e.round || rounds == 0 || !e.ranks.empty()) return {c};
  std::vector<Case> cases;
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    const std::array params{*c.find("pairs"), Case::Param{"round", AxisKind::count, round}};
    cases.push_back(c.with("pairs", params));
  }
  return cases;
}

std::optional<SkipReason> reason_against_round(const ExchangeCase& c, int ranks) {
  if (ranks < 2) return SkipReason::unavailable("needs two ranks; start it with mpirun -n 2 or srun -n 2");
  if (!c.ranks.empty() && (c.ranks.size() != 2 || c.ranks[0] == c.ranks[1])) {
    return SkipReason::impossible("a pair needs two different ranks, as in --pairs 0-1");
  }
  for (const int rank : c.ranks) {
    if (rank < ranks) continue;
    return SkipReason::unavailable(fmt::format("there is no rank {}: ranks are 0 to {}", rank, ranks - 1));
  }
  const std::size_t rounds = round_count(c, ranks);
  if (c.round.value_or(1) <= rounds) return std::nullopt;
  return SkipReason::unavailable(fmt::format("{} ranks have only {} rounds; choose a smaller --round", ranks, rounds));
}

model::Matching matching_of(const ExchangeCase& c, int ranks, std::uint64_t seed) {
  if (!c.ranks.empty()) return {{c.ranks[0], c.ranks[1]}};
  const std::size_t round = c.round.value_or(1) - 1;
  switch (c.pairs) {
    case ExchangePairs::ring: return model::ring_round(ranks, round);
    case ExchangePairs::all: return model::tournament_round(ranks, round);
    case ExchangePairs::sampled: break;
  }
  return model::sampled_round(ranks, round, seed);
}

MemoryNeeds exchange_memory(const ExchangeCase& c) {
  const std::uint64_t of_gpu = c.uses_gpus() ? 2 * c.bytes : 0;
  std::uint64_t slots = 0;
  if (c.method == ExchangeMethod::pipeline) {
    const bool given = c.shape.chunk > 0 && c.shape.depth > 0;
    // Space for three shapes (chunk size and depth): three are tried if chunk or depth is not given.
    slots = given ? c.shape.chunk * c.shape.depth : 3 * model::kMostExchangeMemory;
    slots = 2 * std::min(slots, 3 * c.bytes);
  }
  return {.host = 2 * c.bytes + slots, .device = of_gpu};
}

ExchangePart round_trip(const ExchangePart& part) {
  const std::optional<int> other = part.to ? part.to : part.from;
  return {.to = other, .from = other};
}

std::vector<ExchangePart> turns_of(const model::Matching& matching, bool both_ways, RankConcurrency pace,
                                   std::span<const int> nodes, int rank) {
  std::vector<ExchangePart> turns;
  const auto add = [&](const model::Matching& transfers) {
    for (const model::Matching& group : in_groups(transfers, pace, nodes)) {
      turns.push_back(part_of(group, both_ways, rank));
    }
  };
  add(matching);
  if (both_ways) return turns;
  model::Matching back;
  for (const model::Pair& pair : matching) back.push_back({pair.second, pair.first});
  add(back);
  return turns;
}

std::optional<int> partner_of(const model::Matching& matching, int rank) {
  for (const model::Pair& pair : matching) {
    if (pair.first == rank) return pair.second;
    if (pair.second == rank) return pair.first;
  }
  return std::nullopt;
}

}  // namespace xferbench
