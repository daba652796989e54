// The host side of the counting kernel: what it computes.
#include "kernels/count.hpp"

#include <cstring>

namespace xferbench::kernels {

void Count::compute(std::span<std::byte> result) const {
  if (counter_ == nullptr) return;
  const std::uint64_t next = *counter_ + 1;
  std::memcpy(result.data(), &next, sizeof(next));
}

}  // namespace xferbench::kernels
