// batches: a table in the host's memory of which each step needs 1,024 rows, to be moved as they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../common/cuda.hpp"
#include "../common/example.hpp"
#include "../common/work.cuh"

namespace examples {

constexpr std::size_t kTablePieces = 8192;
constexpr std::size_t kStepPieces = 1024;
constexpr int kPieceRounds = 16;

/// Where the pieces of a step come from and go to, as cudaMemcpyBatchAsync takes it.
struct Pieces {
  std::vector<const void*> from = std::vector<const void*>(kStepPieces);
  std::vector<void*> to = std::vector<void*>(kStepPieces);
  std::vector<std::size_t> bytes{};
};

inline std::size_t piece_of(std::size_t step, std::size_t i) { return number(step * kStepPieces + i) % kTablePieces; }

/// `move(pieces, stream)` brings the pieces of a step to the GPU.
template <class Move>
bool work_on_pieces(const Settings& settings, Move move) {
  const std::size_t width = settings.size / sizeof(std::uint32_t);
  const std::size_t count = kStepPieces * width;
  const auto table = pinned_array<std::uint32_t>(kTablePieces * width);
  fill_with_numbers(table.get(), kTablePieces * width);
  const auto arrived = device_array<std::uint32_t>(count);
  const auto values = device_array<std::uint32_t>(count);
  check(cudaMemset(values.get(), 0, count * sizeof(values[0])));
  const auto results = pinned_array<std::uint32_t>(count);
  const Stream stream = make_stream();
  Pieces pieces;
  pieces.bytes.assign(kStepPieces, settings.size);
  for (std::size_t i = 0; i < kStepPieces; ++i) pieces.to[i] = &arrived[i * width];

  const std::size_t passes = measure(settings, [&] {
    for (std::size_t step = 0; step < settings.steps; ++step) {
      for (std::size_t i = 0; i < kStepPieces; ++i) pieces.from[i] = &table[piece_of(step, i) * width];
      move(pieces, stream.get());
      mix_in<<<blocks_for(count), kThreads, 0, stream.get()>>>(values.get(), arrived.get(), count, kPieceRounds);
      check(cudaGetLastError());
    }
    check(
        cudaMemcpyAsync(results.get(), values.get(), count * sizeof(values[0]), cudaMemcpyDeviceToHost, stream.get()));
    check(cudaStreamSynchronize(stream.get()));
  });

  return spot_check(count, [&](std::size_t i) {
    std::uint32_t value = 0;
    for (std::size_t step = 0; step < settings.steps * passes; ++step) {
      const std::size_t piece = piece_of(step % settings.steps, i / width);
      value = advance(value ^ table[piece * width + i % width], kPieceRounds);
    }
    return results[i] == value;
  });
}

}  // namespace examples
