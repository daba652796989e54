#include "device/sim/memory.hpp"

#include <algorithm>
#include <utility>

namespace xferbench::sim {

Pages PagePool::take(std::size_t bytes) {
  const auto fits = std::ranges::find_if(idle_, [bytes](const Pages& p) { return p.size() >= bytes; });
  if (fits == idle_.end()) return Pages(bytes);
  Pages pages = std::move(*fits);
  idle_.erase(fits);
  return pages;
}

void PagePool::give_back(Pages pages) {
  // One for each engine is all that can be in flight at once; the largest serve every request.
  constexpr std::size_t kMost = 4;
  if (pages.data() == nullptr) return;
  const auto larger = std::ranges::find_if(idle_, [&pages](const Pages& p) { return p.size() >= pages.size(); });
  idle_.insert(larger, std::move(pages));
  if (idle_.size() > kMost) idle_.erase(idle_.begin());
}

}  // namespace xferbench::sim
