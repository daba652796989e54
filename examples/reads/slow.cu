// reads, slow: reads a batch from a file, copies it, computes, and then reads the next one.
#include <cstdint>

#include "../common/cuda.hpp"
#include "../common/example.hpp"
#include "../common/file.hpp"
#include "../common/work.cuh"

namespace examples {

constexpr int kRounds = 2000;  // on a large GPU a kernel of 3 ms

bool mix_file(const Settings& settings) {
  const std::size_t count = settings.size / sizeof(std::uint32_t);
  const NumbersFile file(settings.steps * settings.size);
  const auto batch = pinned_array<std::uint32_t>(count);
  const auto results = pinned_array<std::uint32_t>(count);
  const auto arrived = device_array<std::uint32_t>(count);
  const auto values = device_array<std::uint32_t>(count);
  const Stream stream = make_stream();

  measure(settings, [&] {
    check(cudaMemsetAsync(values.get(), 0, settings.size, stream.get()));
    for (std::size_t step = 0; step < settings.steps; ++step) {
      // The fault: while this thread reads, the GPU has nothing to do, and while the GPU works, nobody reads.
      file.read(batch.get(), settings.size, step * settings.size);
      check(cudaMemcpyAsync(arrived.get(), batch.get(), settings.size, cudaMemcpyHostToDevice, stream.get()));
      mix_in<<<blocks_for(count), kThreads, 0, stream.get()>>>(values.get(), arrived.get(), count, kRounds);
      check(cudaGetLastError());
      check(cudaStreamSynchronize(stream.get()));
    }
    check(cudaMemcpyAsync(results.get(), values.get(), settings.size, cudaMemcpyDeviceToHost, stream.get()));
    check(cudaStreamSynchronize(stream.get()));
  });

  return spot_check(count, [&](std::size_t i) {
    std::uint32_t value = 0;
    for (std::size_t step = 0; step < settings.steps; ++step)
      value = advance(value ^ number(step * count + i), kRounds);
    return results[i] == value;
  });
}

}  // namespace examples

int main(int count, char** words) {
  return examples::run_example(count, words, {.steps = 16, .size = std::size_t{32} << 20}, examples::mix_file);
}
