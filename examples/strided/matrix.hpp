// strided: a matrix in the host's memory of which each step needs some columns.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../common/cuda.hpp"
#include "../common/example.hpp"
#include "../common/work.cuh"

namespace examples {

constexpr std::size_t kMatrixRows = 65536;
constexpr std::size_t kColumnBlocks = 16;  // that the rows are divided into; each step takes the next one
constexpr int kMixRounds = 100;

/// What value i of a step's columns is after so many steps, all of them so many times over.
inline std::uint32_t expected_columns(const std::uint32_t* matrix, std::size_t width, std::size_t i, std::size_t steps,
                                      std::size_t passes) {
  std::uint32_t value = 0;
  for (std::size_t pass = 0; pass < passes; ++pass) {
    for (std::size_t step = 0; step < steps; ++step) {
      const std::size_t block = step % kColumnBlocks;
      value = advance(value ^ matrix[(i / width * kColumnBlocks + block) * width + i % width], kMixRounds);
    }
  }
  return value;
}

/// `fetch(to, from, bytes, stream)` brings so many bytes of each row, from the first row's on, to the GPU without gaps.
template <class Fetch>
bool work_on_columns(const Settings& settings, Fetch fetch) {
  const std::size_t width = settings.size / sizeof(std::uint32_t);
  const std::size_t count = kMatrixRows * width;
  const auto matrix = pinned_array<std::uint32_t>(kColumnBlocks * count);
  fill_with_numbers(matrix.get(), kColumnBlocks * count);
  const auto arrived = device_array<std::uint32_t>(count);
  const auto values = device_array<std::uint32_t>(count);
  check(cudaMemset(values.get(), 0, count * sizeof(values[0])));
  const auto results = pinned_array<std::uint32_t>(count);
  const Stream stream = make_stream();

  const std::size_t passes = measure(settings, [&] {
    for (std::size_t step = 0; step < settings.steps; ++step) {
      fetch(arrived.get(), &matrix[step % kColumnBlocks * width], settings.size, stream.get());
      mix_in<<<blocks_for(count), kThreads, 0, stream.get()>>>(values.get(), arrived.get(), count, kMixRounds);
      check(cudaGetLastError());
    }
    check(
        cudaMemcpyAsync(results.get(), values.get(), count * sizeof(values[0]), cudaMemcpyDeviceToHost, stream.get()));
    check(cudaStreamSynchronize(stream.get()));
  });

  return spot_check(count, [&](std::size_t i) {
    return results[i] == expected_columns(matrix.get(), width, i, settings.steps, passes);
  });
}

}  // namespace examples
