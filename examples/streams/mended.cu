// streams, mended: the next batch is copied while one is worked on.
#include <array>
#include <cstdint>

#include "../common/cuda.hpp"
#include "../common/example.hpp"
#include "../common/work.cuh"

namespace examples {

constexpr int kRounds = 250;  // on a large GPU about as long as the copy to it
constexpr std::size_t kPlaces = 2;

bool mix_batches(const Settings& settings) {
  const std::size_t count = settings.size / sizeof(std::uint32_t);
  const auto batch = pinned_array<std::uint32_t>(count);
  fill_with_numbers(batch.get(), count);
  const auto values = device_array<std::uint32_t>(count);
  const auto results = pinned_array<std::uint32_t>(count);
  check(cudaMemset(values.get(), 0, settings.size));
  const std::array arrived{device_array<std::uint32_t>(count), device_array<std::uint32_t>(count)};
  std::array<Event, kPlaces> came;
  std::array<Event, kPlaces> used;
  for (std::size_t place = 0; place < kPlaces; ++place) {
    came[place] = make_event();
    used[place] = make_event();
  }
  // Mended: two streams that wait for nothing but the events.
  const Stream copies = make_stream();
  const Stream work = make_stream();

  const std::size_t passes = measure(settings, [&] {
    for (std::size_t step = 0; step < settings.steps; ++step) {
      const std::size_t place = step % kPlaces;
      check(cudaStreamWaitEvent(copies.get(), used[place].get()));
      check(cudaMemcpyAsync(arrived[place].get(), batch.get(), settings.size, cudaMemcpyHostToDevice, copies.get()));
      check(cudaEventRecord(came[place].get(), copies.get()));
      check(cudaStreamWaitEvent(work.get(), came[place].get()));
      mix_in<<<blocks_for(count), kThreads, 0, work.get()>>>(values.get(), arrived[place].get(), count, kRounds);
      check(cudaGetLastError());
      check(cudaEventRecord(used[place].get(), work.get()));
    }
    check(cudaMemcpyAsync(results.get(), values.get(), settings.size, cudaMemcpyDeviceToHost, work.get()));
    check(cudaDeviceSynchronize());
  });

  return spot_check(count, [&](std::size_t i) {
    std::uint32_t value = 0;
    for (std::size_t step = 0; step < passes * settings.steps; ++step) value = advance(value ^ number(i), kRounds);
    return results[i] == value;
  });
}

}  // namespace examples

int main(int count, char** words) {
  return examples::run_example(count, words, {.steps = 30, .size = std::size_t{64} << 20}, examples::mix_batches);
}
