// managed, mended: pages of managed memory are brought before the kernel begins, and before the host touches them.
#include <cstdint>

#include "../common/cuda.hpp"
#include "../common/example.hpp"
#include "../common/work.cuh"

namespace examples {

constexpr int kRounds = 100;
constexpr std::size_t kPage = 4096 / sizeof(std::uint32_t);  // values of a page of the host

/// Memory that the host and the GPU both see, and whose pages move to whoever touches them.
DeviceArray<std::uint32_t> managed_array(std::size_t count) {
  void* memory = nullptr;
  check(cudaMallocManaged(&memory, count * sizeof(std::uint32_t)));
  return DeviceArray<std::uint32_t>(static_cast<std::uint32_t*>(memory));
}

bool touch_by_turns(const Settings& settings) {
  const std::size_t count = settings.size / sizeof(std::uint32_t);
  const auto values = managed_array(count);
  fill_with_numbers(values.get(), count);
  const Stream stream = make_stream();

  const std::size_t passes = measure(settings, [&] {
    for (std::size_t step = 0; step < settings.steps; ++step) {
      for (std::size_t i = 0; i < count; i += kPage) ++values[i];  // the host has something to say of each page
      // Mended: it is known what the kernel and the host will touch, so all of it moves in one go, in the order of the
      // stream.
      prefetch(values.get(), settings.size, cudaMemLocationTypeDevice, stream.get());
      advance_all<<<blocks_for(count), kThreads, 0, stream.get()>>>(values.get(), count, kRounds);
      check(cudaGetLastError());
      prefetch(values.get(), settings.size, cudaMemLocationTypeHost, stream.get());
      check(cudaStreamSynchronize(stream.get()));
    }
  });

  return spot_check(count, [&](std::size_t i) {
    std::uint32_t value = number(i);
    for (std::size_t step = 0; step < passes * settings.steps; ++step) {
      value = advance(value + (i % kPage == 0 ? 1 : 0), kRounds);
    }
    return values[i] == value;
  });
}

}  // namespace examples

int main(int count, char** words) {
  return examples::run_example(count, words, {.steps = 4, .size = std::size_t{64} << 20}, examples::touch_by_turns);
}
