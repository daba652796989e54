// The cases of scenario exchange: parsing, what each rank sends and receives, memory needs, and findings.
#pragma once

#include <string_view>

#include "model/exchange.hpp"
#include "model/matching.hpp"
#include "results/fleet.hpp"
#include "run/scenario.hpp"

namespace xferbench {

enum class ExchangePairs { ring, all, sampled };
inline constexpr std::array<std::string_view, 3> kExchangePairs{"ring", "all", "sampled"};

enum class ExchangeMethod {
  pipeline,  ///< in chunks, staged through slots in both hosts' memory
  whole,     ///< the whole payload to the host, then to the other host, then to its GPU
  direct,    ///< MPI accesses GPU memory (CUDA-aware MPI)
  host,      ///< from host memory to host memory: measures MPI alone
};
inline constexpr std::array<std::string_view, 4> kExchangeMethods{"pipeline", "whole", "direct", "host"};

struct ExchangeCase {
  ExchangePairs pairs = ExchangePairs::ring;
  std::vector<int> ranks;            ///< two ranks that exchange with each other; empty: `pairs` chooses the pairs
  std::optional<std::size_t> round;  ///< number of the round of pairs, from 1; nothing: all rounds
  ExchangeMethod method = ExchangeMethod::pipeline;
  bool both_ways = false;
  model::ExchangeShape shape;  ///< the program chooses members that are 0
  std::uint64_t bytes = 0;     ///< payload bytes per direction

  [[nodiscard]] bool uses_gpus() const { return method != ExchangeMethod::host; }
};
ExchangeCase exchange_case(const Case& c);

/// Returns one case per round of pairs; only `c` itself if it already names a round or a pair.
std::vector<Case> rounds_of(const Case& c, int ranks);

/// Returns why `ranks` ranks cannot run this case; nothing if they can.
std::optional<SkipReason> reason_against_round(const ExchangeCase& c, int ranks);

/// Returns the pairs of ranks in the case's round, which must be valid. All ranks compute the same pairs.
model::Matching matching_of(const ExchangeCase& c, int ranks, std::uint64_t seed);

/// Returns the bytes that one rank needs on the host and on its GPU.
MemoryNeeds exchange_memory(const ExchangeCase& c);

/// What one rank does in one turn: the rank that it sends to, and the rank that it receives from.
struct ExchangePart {
  std::optional<int> to{};
  std::optional<int> from{};
  [[nodiscard]] bool is_idle() const { return !to && !from; }
  friend bool operator==(const ExchangePart&, const ExchangePart&) = default;
};

/// Returns `part` made two-way: the rank sends to and receives from the same partner in one turn.
ExchangePart round_trip(const ExchangePart& part);

/// Returns what `rank` does in each turn of a round; all ranks have the same number of turns. Without both_ways the two
/// ends of a pair send in different turns, so each of them receives in one turn. `pace` says which pairs run
/// concurrently: all, those whose senders are on the same node, or one at a time.
std::vector<ExchangePart> turns_of(const model::Matching& matching, bool both_ways, RankConcurrency pace,
                                   std::span<const int> nodes, int rank);

/// Returns the rank that exchanges data with `rank`; nothing if there is none.
std::optional<int> partner_of(const model::Matching& matching, int rank);

/// Returns findings from successful results of all ranks: a linear fit over the sizes for each direction of a pair, and
/// the bandwidth and bottleneck of each method. Throws InputError if a result read from a file lacks a required metric.
std::vector<Finding> exchange_findings(std::span<const Result* const> results);

}  // namespace xferbench
