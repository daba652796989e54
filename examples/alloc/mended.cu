// alloc, mended: what the steps need is allocated once.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "../common/cuda.hpp"
#include "../common/example.hpp"
#include "../common/work.cuh"

namespace examples {

constexpr int kRounds = 8000;  // on a large GPU a kernel of 0.8 ms

bool mix_batches(const Settings& settings) {
  const std::size_t count = settings.size / sizeof(std::uint32_t);
  std::vector<std::uint32_t> batches(settings.steps * count);
  fill_with_numbers(batches.data(), batches.size());
  const auto values = device_array<std::uint32_t>(count);
  check(cudaMemset(values.get(), 0, settings.size));
  const auto results = pinned_array<std::uint32_t>(count);
  const Stream stream = make_stream();
  // Mended: before it matters. The stream keeps a step from overwriting what the one before still reads on the GPU; on
  // the host there is room for every step. Where that would be too much, a few places by turns do, each with an event
  // that says when it is free again. What must be allocated on the way can come from a pool, by cudaMallocAsync.
  const auto staging = pinned_array<std::uint32_t>(settings.steps * count);
  const auto arrived = device_array<std::uint32_t>(count);

  const std::size_t passes = measure(settings, [&] {
    for (std::size_t step = 0; step < settings.steps; ++step) {
      std::uint32_t* batch = &staging[step * count];
      std::copy_n(&batches[step * count], count, batch);
      check(cudaMemcpyAsync(arrived.get(), batch, settings.size, cudaMemcpyHostToDevice, stream.get()));
      mix_in<<<blocks_for(count), kThreads, 0, stream.get()>>>(values.get(), arrived.get(), count, kRounds);
      check(cudaGetLastError());
    }
    check(cudaMemcpyAsync(results.get(), values.get(), settings.size, cudaMemcpyDeviceToHost, stream.get()));
    check(cudaStreamSynchronize(stream.get()));
  });

  return spot_check(count, [&](std::size_t i) {
    std::uint32_t value = 0;
    for (std::size_t step = 0; step < passes * settings.steps; ++step) {
      value = advance(value ^ batches[step % settings.steps * count + i], kRounds);
    }
    return results[i] == value;
  });
}

}  // namespace examples

int main(int count, char** words) {
  return examples::run_example(count, words, {.steps = 40, .size = std::size_t{1} << 20}, examples::mix_batches);
}
