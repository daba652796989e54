#include "device/sim/memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <utility>

namespace xferbench::sim {

Pages::Pages(std::size_t bytes) : bytes_(bytes) {
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) throw std::bad_alloc();
  static_cast<void>(madvise(data, bytes, MADV_HUGEPAGE));  // without huge pages only speed is lost
  data_ = static_cast<std::byte*>(data);
}

Pages::Pages(Pages&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Pages& Pages::operator=(Pages&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Pages::~Pages() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

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
