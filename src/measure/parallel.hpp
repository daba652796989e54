// Splits host work over threads, because filling and checking hundreds of megabytes must not dominate a short run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <system_error>
#include <thread>
#include <vector>

namespace xferbench {

/// Calls body(begin, end) for disjoint parts of [0, count) on up to 16 threads and waits for all of them. Each part has
/// at least `grain` elements. If thread creation fails, the caller runs the remaining parts. `body` must not throw.
template <class Body>
void parallel_for(std::size_t count, std::size_t grain, const Body& body) {
  const std::size_t most = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 16);
  const std::size_t parts = std::clamp<std::size_t>(count / std::max<std::size_t>(grain, 1), 1, most);
  std::vector<std::jthread> threads;
  threads.reserve(parts - 1);
  std::size_t part = 1;
  try {
    for (; part < parts; ++part) {
      threads.emplace_back([&body, part, parts, count] { body(count * part / parts, count * (part + 1) / parts); });
    }
  } catch (const std::system_error&) {
    body(count * part / parts, count);
  }
  body(0, count / parts);
}

}  // namespace xferbench
