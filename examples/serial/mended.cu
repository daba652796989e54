// serial, mended: batches go to the GPU, are worked on and come back, in chunks on several streams.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "../common/cuda.hpp"
#include "../common/example.hpp"
#include "../common/work.cuh"

namespace examples {

constexpr int kRounds = 100;  // on a large GPU half as long as the copy to it
constexpr std::size_t kChunks = 16;
constexpr std::size_t kStreams = 4;

bool work_on_batches(const Settings& settings) {
  const std::size_t count = settings.size / sizeof(std::uint32_t);
  const auto batches = pinned_array<std::uint32_t>(settings.steps * count);
  fill_with_numbers(batches.get(), settings.steps * count);
  const auto values = device_array<std::uint32_t>(count);
  std::vector<Stream> streams(kStreams);
  for (Stream& stream : streams) stream = make_stream();

  const std::size_t passes = measure(settings, [&] {
    const std::size_t chunk = (count + kChunks - 1) / kChunks;
    for (std::size_t step = 0; step < settings.steps; ++step) {
      for (std::size_t first = 0, i = 0; first < count; first += chunk, ++i) {
        // Mended: while this chunk is copied back, another one is worked on and the next is copied in. That is right
        // because no value needs another, and because the same place on the GPU is always used through the same stream.
        const cudaStream_t stream = streams[i % kStreams].get();
        const std::size_t size = std::min(chunk, count - first);
        std::uint32_t* on_host = &batches[step * count + first];
        std::uint32_t* on_device = &values[first];
        check(cudaMemcpyAsync(on_device, on_host, size * sizeof(*on_host), cudaMemcpyHostToDevice, stream));
        advance_all<<<blocks_for(size), kThreads, 0, stream>>>(on_device, size, kRounds);
        check(cudaGetLastError());
        check(cudaMemcpyAsync(on_host, on_device, size * sizeof(*on_host), cudaMemcpyDeviceToHost, stream));
      }
    }
    check(cudaDeviceSynchronize());
  });

  return spot_check(settings.steps * count, [&](std::size_t i) {
    return batches[i] == advance(number(i), static_cast<int>(passes) * kRounds);
  });
}

}  // namespace examples

int main(int count, char** words) {
  return examples::run_example(count, words, {.steps = 8, .size = std::size_t{128} << 20}, examples::work_on_batches);
}
