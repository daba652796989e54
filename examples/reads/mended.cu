// reads, mended: reads the next batch from a file while the GPU works on this one.
#include <array>
#include <cstdint>
#include <future>

#include "../common/cuda.hpp"
#include "../common/example.hpp"
#include "../common/file.hpp"
#include "../common/work.cuh"

namespace examples {

constexpr int kRounds = 2000;  // on a large GPU a kernel of 3 ms

bool mix_file(const Settings& settings) {
  const std::size_t count = settings.size / sizeof(std::uint32_t);
  const NumbersFile file(settings.steps * settings.size);
  const std::array batches{pinned_array<std::uint32_t>(count), pinned_array<std::uint32_t>(count)};
  const auto results = pinned_array<std::uint32_t>(count);
  const auto arrived = device_array<std::uint32_t>(count);
  const auto values = device_array<std::uint32_t>(count);
  const Stream stream = make_stream();

  // Mended: two buffers, and a thread that reads one step ahead into the one that is free.
  const auto read_ahead = [&](std::size_t step) {
    return std::async(std::launch::async, [&, step] {
      if (step < settings.steps) file.read(batches[step % 2].get(), settings.size, step * settings.size);
    });
  };

  measure(settings, [&] {
    check(cudaMemsetAsync(values.get(), 0, settings.size, stream.get()));
    std::future<void> reading = read_ahead(0);
    for (std::size_t step = 0; step < settings.steps; ++step) {
      reading.get();
      reading = read_ahead(step + 1);
      check(
          cudaMemcpyAsync(arrived.get(), batches[step % 2].get(), settings.size, cudaMemcpyHostToDevice, stream.get()));
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
