// serial, slow: batches go to the GPU, are worked on and come back, one thing after the other.
#include <cstdint>

#include "../common/cuda.hpp"
#include "../common/example.hpp"
#include "../common/work.cuh"

namespace examples {

constexpr int kRounds = 100;  // on a large GPU half as long as the copy to it

bool work_on_batches(const Settings& settings) {
  const std::size_t count = settings.size / sizeof(std::uint32_t);
  const auto batches = pinned_array<std::uint32_t>(settings.steps * count);
  fill_with_numbers(batches.get(), settings.steps * count);
  const auto values = device_array<std::uint32_t>(count);
  const Stream stream = make_stream();

  const std::size_t passes = measure(settings, [&] {
    for (std::size_t step = 0; step < settings.steps; ++step) {
      std::uint32_t* batch = &batches[step * count];
      // The fault: all that is in one stream goes in turn. While the batch is copied in, the multiprocessors and the
      // copy engine of the other direction have nothing to do; while it is worked on, both copy engines; and while it
      // is copied back, again two of the three. So a step takes the sum of three times.
      check(cudaMemcpyAsync(values.get(), batch, settings.size, cudaMemcpyHostToDevice, stream.get()));
      advance_all<<<blocks_for(count), kThreads, 0, stream.get()>>>(values.get(), count, kRounds);
      check(cudaGetLastError());
      check(cudaMemcpyAsync(batch, values.get(), settings.size, cudaMemcpyDeviceToHost, stream.get()));
    }
    check(cudaStreamSynchronize(stream.get()));
  });

  return spot_check(settings.steps * count, [&](std::size_t i) {
    return batches[i] == advance(number(i), static_cast<int>(passes) * kRounds);
  });
}

}  // namespace examples

int main(int count, char** words) {
  return examples::run_example(count, words, {.steps = 8, .size = std::size_t{128} << 20}, examples::work_on_batches);
}
