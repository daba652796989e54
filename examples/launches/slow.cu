// launches, slow: each step is a hundred kernels of a microsecond, each launched by itself.
#include <cstdint>

#include "../common/cuda.hpp"
#include "../common/example.hpp"
#include "../common/work.cuh"

namespace examples {

constexpr std::size_t kKernels = 100;  // of each step

void launch_step(std::uint32_t* values, std::size_t count, cudaStream_t stream) {
  for (std::size_t i = 0; i < kKernels; ++i) {
    advance_all<<<blocks_for(count), kThreads, 0, stream>>>(values, count, 1);
    check(cudaGetLastError());
  }
}

bool advance_by_small_kernels(const Settings& settings) {
  const std::size_t count = settings.size / sizeof(std::uint32_t);
  const auto results = pinned_array<std::uint32_t>(count);
  fill_with_numbers(results.get(), count);
  const auto values = device_array<std::uint32_t>(count);
  check(cudaMemcpy(values.get(), results.get(), settings.size, cudaMemcpyHostToDevice));
  const Stream stream = make_stream();

  const std::size_t passes = measure(settings, [&] {
    for (std::size_t step = 0; step < settings.steps; ++step) {
      // The fault: a launch takes the host two microseconds or more, longer than the kernel takes the GPU. However far
      // the host may run ahead, it never gets ahead: the GPU waits for it between any two kernels.
      launch_step(values.get(), count, stream.get());
    }
    check(cudaMemcpyAsync(results.get(), values.get(), settings.size, cudaMemcpyDeviceToHost, stream.get()));
    check(cudaStreamSynchronize(stream.get()));
  });

  return spot_check(count, [&](std::size_t i) {
    return results[i] == advance(number(i), static_cast<int>(passes * settings.steps * kKernels));
  });
}

}  // namespace examples

int main(int count, char** words) {
  return examples::run_example(count, words, {.steps = 200, .size = std::size_t{128} << 10},
                               examples::advance_by_small_kernels);
}
