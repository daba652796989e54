// mapped, slow: adds up what is in a file, which it has mapped into memory.
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "../common/cuda.hpp"
#include "../common/example.hpp"
#include "../common/file.hpp"
#include "../common/work.cuh"

namespace examples {

bool add_up_file(const Settings& settings) {
  const std::size_t count = settings.size / sizeof(std::uint32_t);
  const std::size_t bytes = settings.steps * settings.size;
  const NumbersFile file(bytes);
  std::vector<unsigned long long> sums(settings.steps);
  const auto values = device_array<std::uint32_t>(count);
  const auto device_sums = device_array<unsigned long long>(settings.steps);

  measure(settings, [&] {
    void* const map = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.descriptor(), 0);
    if (map == MAP_FAILED) fail("mmap");
    check(cudaMemset(device_sums.get(), 0, settings.steps * sizeof(sums[0])));
    for (std::size_t step = 0; step < settings.steps; ++step) {
      // The fault: a mapping looks like memory, but each of its pages is brought in when it is first touched, here by
      // the one thread that carries the copy. The link waits for that thread.
      const char* const batch = static_cast<const char*>(map) + step * settings.size;
      check(cudaMemcpy(values.get(), batch, settings.size, cudaMemcpyHostToDevice));
      add_up<<<std::min(blocks_for(count), 1024U), kThreads>>>(values.get(), count, &device_sums[step]);
      check(cudaGetLastError());
    }
    check(cudaMemcpy(sums.data(), device_sums.get(), settings.steps * sizeof(sums[0]), cudaMemcpyDeviceToHost));
    munmap(map, bytes);
  });

  for (std::size_t step = 0; step < settings.steps; ++step) {
    if (sums[step] != sum_of_numbers(step, count)) return false;
  }
  return true;
}

}  // namespace examples

int main(int count, char** words) {
  return examples::run_example(count, words, {.steps = 16, .size = std::size_t{32} << 20}, examples::add_up_file);
}
