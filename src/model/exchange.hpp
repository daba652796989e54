// Model of a transfer between GPUs of two processes, staged through both hosts in chunks: its duration, and the best
// chunk size. Pure functions; times in seconds. Formulas: docs/lab/exchange.md, "The model".
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/pipeline.hpp"

namespace xferbench::model {

/// The three stages that every chunk passes in sequence.
struct ExchangeStages {
  Cost d2h;
  Cost message;
  Cost h2d;
  double handoff = 0;  ///< seconds from the end of a stage until the host starts the next
};

/// Measured times: `bytes` through each stage in one piece and in `pieces`, and a few bytes through all three (tiny).
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

/// Chunk size in bytes, and number of chunk slots on each side.
struct ExchangeShape {
  std::uint64_t chunk = 0;
  std::size_t depth = 0;
  friend bool operator==(const ExchangeShape&, const ExchangeShape&) = default;
};

/// Seconds from the start of the first copy to the end of the last. A D2H copy into a slot waits for the message that
/// emptied the slot; a message into a slot waits for the H2D copy out of it.
[[nodiscard]] double exchange_time(const ExchangeStages& stages, std::uint64_t bytes, const ExchangeShape& shape);

inline constexpr std::uint64_t kShortestExchangeChunk = std::uint64_t{64} << 10;
inline constexpr std::uint64_t kLongestExchangeChunk = std::uint64_t{64} << 20;
/// Maximum bytes of all slots of one side if best_exchange_shape() chooses both fields; two slots may exceed it.
inline constexpr std::uint64_t kMostExchangeMemory = std::uint64_t{128} << 20;

/// The shape with the least predicted time; among those within 1 %, the one with the least memory. Nonzero fields of
/// `given` are kept.
[[nodiscard]] ExchangeShape best_exchange_shape(const ExchangeStages& stages, std::uint64_t bytes,
                                                const ExchangeShape& given = {});

}  // namespace xferbench::model
