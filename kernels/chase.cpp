// The host side of the pointer chase: where it ends.
#include "kernels/chase.hpp"

#include <cstring>

namespace xferbench::kernels {

void Chase::compute(std::span<std::byte> result) const {
  ChaseLog log;
  log.last = first_;
  for (std::size_t i = 0; i < kChaseHops; ++i) log.last = log.last->next;
  std::memcpy(result.data(), &log, sizeof(log));
}

}  // namespace xferbench::kernels
