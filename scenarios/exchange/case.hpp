// Not a scenario: what a case of exchange means, and what each rank does in it; what results say.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/axis.hpp"
#include "model/exchange.hpp"
#include "model/matching.hpp"
#include "results/fleet.hpp"
#include "results/result.hpp"
#include "run/scenario.hpp"

namespace xferbench {

enum class ExchangePairs { ring, all, sampled };
inline constexpr std::array<std::string_view, 3> kExchangePairs{"ring", "all", "sampled"};

enum class ExchangeMethod {
  pipeline,  ///< in chunks, through slots on both hosts
  whole,     ///< all of it to the host, all of it to the other host, all of it to the GPU there
  direct,    ///< MPI reads and writes the GPUs' memory
  host,      ///< from host memory to host memory: what MPI alone can do
};
inline constexpr std::array<std::string_view, 4> kExchangeMethods{"pipeline", "whole", "direct", "host"};

struct ExchangeCase {
  ExchangePairs pairs = ExchangePairs::ring;
  std::vector<int> ranks;            ///< instead: these two
  std::optional<std::size_t> round;  ///< from 1; none: each
  ExchangeMethod method = ExchangeMethod::pipeline;
  bool both_ways = false;
  model::ExchangeShape shape;  ///< 0: to be chosen
  std::uint64_t bytes = 0;     ///< each way

  [[nodiscard]] bool uses_gpus() const { return method != ExchangeMethod::host; }
};
ExchangeCase exchange_case(const Case& c);

/// A case for each round of so many ranks; itself where there is none.
std::vector<Case> rounds_of(const Case& c, int ranks);

/// Why so many ranks have no such round; nothing if they have.
std::optional<SkipReason> reason_against_round(const ExchangeCase& c, int ranks);

/// Who exchanges with whom, where they have. Every rank comes to the same.
model::Matching matching_of(const ExchangeCase& c, int ranks, std::uint64_t seed);

/// Memory of each rank: of the host and of its GPU.
MemoryNeeds exchange_memory(const ExchangeCase& c);

/// What one rank does in a turn: whom it sends to, and whom it receives from.
struct ExchangePart {
  std::optional<int> to{};
  std::optional<int> from{};
  [[nodiscard]] bool is_idle() const { return !to && !from; }
  friend bool operator==(const ExchangePart&, const ExchangePart&) = default;
};

/// Of a round trip within a turn: both ends send, and both receive.
ExchangePart to_and_fro(const ExchangePart& part);

/// The turns of a round, as one rank takes part in them; as many for every rank. One way, those of a pair send one
/// after the other, so that each receives in one turn. `pace` says who goes at once: all pairs, those whose sender is
/// on one node, or one pair.
std::vector<ExchangePart> turns_of(const model::Matching& matching, bool both_ways, Pacing pace,
                                   std::span<const int> nodes, int rank);

/// The rank that the matching pairs with this one.
std::optional<int> partner_of(const model::Matching& matching, int rank);

/// Of results that are ok, of all ranks: a fit for each direction of a pair that was measured with several sizes, and
/// for each way of exchanging what the pairs reach and what limits them. Throws InputError where one lacks what every
/// such result has, as only a file's can.
std::vector<Finding> exchange_findings(std::span<const Result* const> results);

}  // namespace xferbench
