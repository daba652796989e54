// mapped, mended: adds up what is in a file, which threads read into pinned memory.
#include <algorithm>
#include <array>
#include <cstdint>
#include <future>
#include <vector>

#include "../common/cuda.hpp"
#include "../common/example.hpp"
#include "../common/file.hpp"
#include "../common/work.cuh"

namespace examples {

constexpr std::size_t kReaders = 8;

using Reading = std::vector<std::future<void>>;

/// Several threads read a part each: one alone copies 5 to 10 GB/s from the page cache, less than the link carries.
Reading read_by_threads(const NumbersFile& file, char* to, std::size_t bytes, std::size_t from) {
  Reading parts;
  const std::size_t part = (bytes + kReaders - 1) / kReaders;
  for (std::size_t first = 0; first < bytes; first += part) {
    parts.push_back(std::async(std::launch::async, [&file, to, first, from, size = std::min(part, bytes - first)] {
      file.read(to + first, size, from + first);
    }));
  }
  return parts;
}

bool add_up_file(const Settings& settings) {
  const std::size_t count = settings.size / sizeof(std::uint32_t);
  const NumbersFile file(settings.steps * settings.size);
  const auto sums = pinned_array<unsigned long long>(settings.steps);
  const auto values = device_array<std::uint32_t>(count);
  const auto device_sums = device_array<unsigned long long>(settings.steps);
  const Stream stream = make_stream();
  // Mended: three slots of pinned memory. While one crosses the link, threads fill the others.
  const std::array slots{pinned_array<char>(settings.size), pinned_array<char>(settings.size),
                         pinned_array<char>(settings.size)};
  const std::array copied{make_event(), make_event(), make_event()};
  std::array<Reading, 3> readings;
  const auto read_ahead = [&](std::size_t step) {
    if (step >= settings.steps) return;
    const std::size_t slot = step % slots.size();
    check(cudaEventSynchronize(copied[slot].get()));
    readings[slot] = read_by_threads(file, slots[slot].get(), settings.size, step * settings.size);
  };

  measure(settings, [&] {
    check(cudaMemsetAsync(device_sums.get(), 0, settings.steps * sizeof(sums[0]), stream.get()));
    read_ahead(0);
    for (std::size_t step = 0; step < settings.steps; ++step) {
      read_ahead(step + 1);
      const std::size_t slot = step % slots.size();
      for (std::future<void>& part : readings[slot]) part.get();
      check(cudaMemcpyAsync(values.get(), slots[slot].get(), settings.size, cudaMemcpyHostToDevice, stream.get()));
      check(cudaEventRecord(copied[slot].get(), stream.get()));
      add_up<<<std::min(blocks_for(count), 1024U), kThreads, 0, stream.get()>>>(values.get(), count,
                                                                                &device_sums[step]);
      check(cudaGetLastError());
    }
    check(cudaMemcpyAsync(sums.get(), device_sums.get(), settings.steps * sizeof(sums[0]), cudaMemcpyDeviceToHost,
                          stream.get()));
    check(cudaStreamSynchronize(stream.get()));
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
