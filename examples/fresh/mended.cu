// fresh, mended: copies each result into memory that it has had all along.
#include <cstdint>
#include <vector>

#include "../common/cuda.hpp"
#include "../common/example.hpp"
#include "../common/work.cuh"

namespace examples {

bool collect_results(const Settings& settings) {
  const std::size_t count = settings.size / sizeof(std::uint32_t);
  std::vector<std::uint32_t> numbers(count);
  fill_with_numbers(numbers.data(), count);
  const auto values = device_array<std::uint32_t>(count);
  check(cudaMemcpy(values.get(), numbers.data(), settings.size, cudaMemcpyHostToDevice));
  std::vector<std::uint32_t> seen(settings.steps);
  // Mended: the memory is kept. A vector writes zeros to all of it here, so that its pages are there when a copy comes.
  std::vector<std::uint32_t> result(count);

  const std::size_t passes = measure(settings, [&] {
    for (std::size_t step = 0; step < settings.steps; ++step) {
      advance_all<<<blocks_for(count), kThreads>>>(values.get(), count, 1);
      check(cudaGetLastError());
      check(cudaMemcpy(result.data(), values.get(), settings.size, cudaMemcpyDeviceToHost));
      seen[step] = result[step];
    }
  });

  for (std::size_t step = 0; step < settings.steps; ++step) {
    const auto rounds = static_cast<int>((passes - 1) * settings.steps + step + 1);
    if (seen[step] != advance(number(step), rounds)) return false;
  }
  return true;
}

}  // namespace examples

int main(int count, char** words) {
  return examples::run_example(count, words, {.steps = 8, .size = std::size_t{256} << 20}, examples::collect_results);
}
