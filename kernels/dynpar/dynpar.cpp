// The host side of the children: what they write.
#include "kernels/dynpar/dynpar.hpp"

#include <cstring>

namespace xferbench::kernels {

void Child::compute(std::span<std::byte> result) const {
  const std::uint32_t value = child_result(args_.seed, index_, args_.work);
  std::memcpy(result.data(), &value, sizeof(value));
}

void Children::compute(std::span<std::byte> result) const {
  if (way_ == LaunchWay::none) return;
  for (std::uint32_t index = 0; index < args_.tree.children(); ++index) {
    const std::uint32_t value = child_result(args_.seed, index, args_.work);
    std::memcpy(result.data() + index * sizeof(value), &value, sizeof(value));
  }
}

}  // namespace xferbench::kernels
