// sync, slow: two thousand kernels, and the host waits for each.
#include <cstdint>

#include "../common/cuda.hpp"
#include "../common/example.hpp"
#include "../common/work.cuh"

namespace examples {

constexpr int kRounds = 32;  // on a large GPU a kernel of some 12 us

bool advance_by_steps(const Settings& settings) {
  const std::size_t count = settings.size / sizeof(std::uint32_t);
  const auto results = pinned_array<std::uint32_t>(count);
  fill_with_numbers(results.get(), count);
  const auto values = device_array<std::uint32_t>(count);
  check(cudaMemcpy(values.get(), results.get(), settings.size, cudaMemcpyHostToDevice));
  const Stream stream = make_stream();

  const std::size_t passes = measure(settings, [&] {
    for (std::size_t step = 0; step < settings.steps; ++step) {
      advance_all<<<blocks_for(count), kThreads, 0, stream.get()>>>(values.get(), count, kRounds);
      check(cudaGetLastError());
      // The fault: nothing here needs the kernel's result. The GPU is idle from the end of this kernel until the host
      // has noticed it, has made the next call, and that kernel has found its way to the GPU: some 8 us each time.
      check(cudaDeviceSynchronize());
    }
    check(cudaMemcpyAsync(results.get(), values.get(), settings.size, cudaMemcpyDeviceToHost, stream.get()));
    check(cudaStreamSynchronize(stream.get()));
  });

  return spot_check(count, [&](std::size_t i) {
    return results[i] == advance(number(i), static_cast<int>(passes * settings.steps) * kRounds);
  });
}

}  // namespace examples

int main(int count, char** words) {
  return examples::run_example(count, words, {.steps = 2000, .size = std::size_t{4} << 20}, examples::advance_by_steps);
}
