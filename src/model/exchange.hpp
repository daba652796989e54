// A payload from the GPU of one process to that of another, staged through both hosts in chunks: how long that takes,
// and how to cut it. Pure functions; times in seconds. Formulas: docs/lab/exchange.md, "The model".
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/pipeline.hpp"

namespace xferbench::model {

/// The three ways that every chunk goes, one after the other.
struct ExchangeStages {
  Cost d2h;
  Cost message;
  Cost h2d;
  double handoff = 0;  ///< from the end of one to the host's beginning of the next
};

/// Measured: so many bytes through each stage in one piece and in `pieces`, and a few bytes through all three.
struct ExchangeTimes {
  double bytes = 0;
  std::size_t pieces = 1;
  double d2h = 0;
  double d2h_pieces = 0;
  double message = 0;
  double message_pieces = 0;
  double h2d = 0;
  double h2d_pieces = 0;
  double tiny = 0;
};
[[nodiscard]] ExchangeStages fit_exchange_stages(const ExchangeTimes& times);

/// How a payload is cut; each side has `depth` slots of a chunk each.
struct ExchangeShape {
  std::uint64_t chunk = 0;
  std::size_t depth = 0;
  friend bool operator==(const ExchangeShape&, const ExchangeShape&) = default;
};

/// From the first copy's start to the last one's end. A copy into a slot waits for the message that emptied it, and a
/// message into a slot for the copy out of it.
[[nodiscard]] double exchange_time(const ExchangeStages& stages, std::uint64_t bytes, const ExchangeShape& shape);

inline constexpr std::uint64_t kShortestExchangeChunk = std::uint64_t{64} << 10;
inline constexpr std::uint64_t kLongestExchangeChunk = std::uint64_t{64} << 20;
/// Of a side's slots together, where the choice is free.
inline constexpr std::uint64_t kMostExchangeMemory = std::uint64_t{128} << 20;

/// The shape that is expected to take least: of those that are as good (within 1 %) the one with the least memory.
/// What `given` says other than 0 stays.
[[nodiscard]] ExchangeShape best_exchange_shape(const ExchangeStages& stages, std::uint64_t bytes,
                                                const ExchangeShape& given = {});

}  // namespace xferbench::model
