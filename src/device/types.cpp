#include "device/types.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace xferbench {

HostMemory host_memory(std::string_view name) {
  const auto found = std::ranges::find(kHostMemoryNames, name);
  if (found == kHostMemoryNames.end()) throw std::logic_error("there is no host memory named " + std::string(name));
  return static_cast<HostMemory>(found - kHostMemoryNames.begin());
}

}  // namespace xferbench
