// fresh, slow: copies each result into memory that it has just asked for.
#include <cstdint>
#include <memory>
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

  const std::size_t passes = measure(settings, [&] {
    for (std::size_t step = 0; step < settings.steps; ++step) {
      advance_all<<<blocks_for(count), kThreads>>>(values.get(), count, 1);
      check(cudaGetLastError());
      // The fault: the system gives these pages only when they are touched, one after the other, and clears each. So
      // the copy does not wait for the link but for the system, and then all of it is given back.
      const std::unique_ptr<std::uint32_t[]> result(new std::uint32_t[count]);
      check(cudaMemcpy(result.get(), values.get(), settings.size, cudaMemcpyDeviceToHost));
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
