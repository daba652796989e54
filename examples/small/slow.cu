// small, slow: each step needs 256 rows of a table, and copies them one by one.
#include <cstdint>

#include "../common/cuda.hpp"
#include "../common/example.hpp"
#include "table.hpp"

namespace examples {

bool work_on_rows(const Settings& settings) {
  const std::size_t width = settings.size / sizeof(std::uint32_t);
  const auto table = pinned_array<std::uint32_t>(kTableRows * width);
  fill_with_numbers(table.get(), kTableRows * width);
  const std::size_t count = kStepRows * width;
  const auto arrived = device_array<std::uint32_t>(count);
  const auto values = device_array<std::uint32_t>(count);
  check(cudaMemset(values.get(), 0, count * sizeof(values[0])));
  const auto results = pinned_array<std::uint32_t>(count);
  const Stream stream = make_stream();

  const std::size_t passes = measure(settings, [&] {
    for (std::size_t step = 0; step < settings.steps; ++step) {
      for (std::size_t i = 0; i < kStepRows; ++i) {
        // The fault: a copy takes some two microseconds however small it is, on the GPU and for the call. In that
        // time the link could carry a hundred times the kibibyte of a row. Pinned and asynchronous as it is: what
        // costs is not the bytes.
        check(cudaMemcpyAsync(&arrived[i * width], &table[row_of(step, i) * width], settings.size,
                              cudaMemcpyHostToDevice, stream.get()));
      }
      mix_in<<<blocks_for(count), kThreads, 0, stream.get()>>>(values.get(), arrived.get(), count, kRounds);
      check(cudaGetLastError());
    }
    check(
        cudaMemcpyAsync(results.get(), values.get(), count * sizeof(values[0]), cudaMemcpyDeviceToHost, stream.get()));
    check(cudaStreamSynchronize(stream.get()));
  });

  return spot_check(
      count, [&](std::size_t i) { return results[i] == expected(table.get(), width, i, settings.steps, passes); });
}

}  // namespace examples

int main(int count, char** words) {
  return examples::run_example(count, words, {.steps = 100, .size = 1024}, examples::work_on_rows);
}
