// Models a transfer between GPUs of two processes that is staged through both hosts in chunks. Predicts its duration
// and finds the best chunk size. Pure functions; times in seconds. Formulas: docs/lab/exchange.md, "The model".
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

/// Measured times. Each stage is measured alone with `bytes` bytes, in one piece and in `pieces` pieces. `tiny` is the
/// time of a few bytes through all three stages.
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

/// Chunk size in bytes, and number of chunk slots in the memory of each host.
struct ExchangeShape {
  std::uint64_t chunk = 0;
  std::size_t depth = 0;
  friend bool operator==(const ExchangeShape&, const ExchangeShape&) = default;
};

/// Returns the seconds from the start of the first copy to the end of the last copy. A D2H copy into a slot waits for
/// the message that emptied the slot; a message into a slot waits for the H2D copy out of the slot.
[[nodiscard]] double exchange_time(const ExchangeStages& stages, std::uint64_t bytes, const ExchangeShape& shape);

inline constexpr std::uint64_t kShortestExchangeChunk = std::uint64_t{64} << 10;
inline constexpr std::uint64_t kLongestExchangeChunk = std::uint64_t{64} << 20;
/// If best_exchange_shape() chooses chunk and depth, three or more slots take at most this many bytes of a host.
inline constexpr std::uint64_t kMostExchangeMemory = std::uint64_t{128} << 20;

/// Returns the shape with the least memory among those predicted to take at most 1 % longer than the fastest. Keeps the
/// fields of `given` that are not 0.
[[nodiscard]] ExchangeShape best_exchange_shape(const ExchangeStages& stages, std::uint64_t bytes,
                                                const ExchangeShape& given = {});

}  // namespace xferbench::model
