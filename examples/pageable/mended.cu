// pageable, mended: adds up batches that come from pinned memory of the host.
#include <algorithm>
#include <cstdint>
#include <numeric>

#include "../common/cuda.hpp"
#include "../common/example.hpp"
#include "../common/work.cuh"

namespace examples {

bool add_up_batches(const Settings& settings) {
  const std::size_t count = settings.size / sizeof(std::uint32_t);
  // Mended: pinned, once and before it matters, since pinning takes longer than copying does. What lies in memory that
  // is not yours to allocate can be pinned where it is, by cudaHostRegister.
  const auto batches = pinned_array<std::uint32_t>(settings.steps * count);
  fill_with_numbers(batches.get(), settings.steps * count);
  const auto sums = pinned_array<unsigned long long>(settings.steps);
  const auto values = device_array<std::uint32_t>(count);
  const auto device_sums = device_array<unsigned long long>(settings.steps);
  const Stream stream = make_stream();

  measure(settings, [&] {
    check(cudaMemsetAsync(device_sums.get(), 0, settings.steps * sizeof(sums[0]), stream.get()));
    for (std::size_t step = 0; step < settings.steps; ++step) {
      // Mended: the copy engine reads the batch by itself, as fast as the link is, and the host goes on at once. The
      // stream keeps the order: the kernel begins when its batch is there, and the next batch comes when it is done.
      check(cudaMemcpyAsync(values.get(), &batches[step * count], settings.size, cudaMemcpyHostToDevice, stream.get()));
      add_up<<<std::min(blocks_for(count), 1024U), kThreads, 0, stream.get()>>>(values.get(), count,
                                                                                &device_sums[step]);
      check(cudaGetLastError());
    }
    check(cudaMemcpyAsync(sums.get(), device_sums.get(), settings.steps * sizeof(sums[0]), cudaMemcpyDeviceToHost,
                          stream.get()));
    check(cudaStreamSynchronize(stream.get()));
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
