// pageable, slow: adds up batches that come from ordinary memory of the host.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "../common/cuda.hpp"
#include "../common/example.hpp"
#include "../common/work.cuh"

namespace examples {

bool add_up_batches(const Settings& settings) {
  const std::size_t count = settings.size / sizeof(std::uint32_t);
  // The fault begins here. The operating system may move these pages or swap them out, so no copy engine can read them.
  std::vector<std::uint32_t> batches(settings.steps * count);
  fill_with_numbers(batches.data(), batches.size());
  std::vector<unsigned long long> sums(settings.steps);
  const auto values = device_array<std::uint32_t>(count);
  const auto device_sums = device_array<unsigned long long>(settings.steps);

  measure(settings, [&] {
    check(cudaMemset(device_sums.get(), 0, settings.steps * sizeof(sums[0])));
    for (std::size_t step = 0; step < settings.steps; ++step) {
      // And this is what it costs. A thread of the host carries the batch piece by piece into pinned memory of the
      // driver's, from where it is copied to the GPU: at 10 GB/s where the link could do 55. And the call returns only
      // when all is carried, so that the host cannot prepare anything meanwhile.
      check(cudaMemcpy(values.get(), &batches[step * count], settings.size, cudaMemcpyHostToDevice));
      add_up<<<std::min(blocks_for(count), 1024U), kThreads>>>(values.get(), count, &device_sums[step]);
      check(cudaGetLastError());
    }
    check(cudaMemcpy(sums.data(), device_sums.get(), settings.steps * sizeof(sums[0]), cudaMemcpyDeviceToHost));
  });

  for (std::size_t step = 0; step < settings.steps; ++step) {
    const std::uint32_t* batch = &batches[step * count];
    if (sums[step] != std::accumulate(batch, batch + count, 0ULL)) return false;
  }
  return true;
}

}  // namespace examples

int main(int count, char** words) {
  return examples::run_example(count, words, {.steps = 16, .size = std::size_t{64} << 20}, examples::add_up_batches);
}
