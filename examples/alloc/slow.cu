// alloc, slow: each step allocates what it needs, and frees it again.
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

  const std::size_t passes = measure(settings, [&] {
    for (std::size_t step = 0; step < settings.steps; ++step) {
      // The fault: asking for memory is slow. Pinned memory is the slowest, for each of its pages is locked and made
      // known to the GPU, which takes longer than copying them does.
      const auto staging = pinned_array<std::uint32_t>(count);
      const auto arrived = device_array<std::uint32_t>(count);
      std::copy_n(&batches[step * count], count, staging.get());
      check(cudaMemcpyAsync(arrived.get(), staging.get(), settings.size, cudaMemcpyHostToDevice, stream.get()));
      mix_in<<<blocks_for(count), kThreads, 0, stream.get()>>>(values.get(), arrived.get(), count, kRounds);
      check(cudaGetLastError());
      // And here, where both are freed: cudaFree waits until the GPU has done all it was asked to. So the host prepares
      // the next step while the GPU has nothing to do.
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
