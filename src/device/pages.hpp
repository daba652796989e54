// Anonymous memory mapped with a chosen page size.
#pragma once

#include <cstddef>
#include <memory>

namespace xferbench {

enum class PageSize {
  usual,     ///< the system's default, which malloc also gets
  small,     ///< the smallest page size, 4 KiB on x86
  huge,      ///< transparent huge pages (2 MiB on x86) where available
  reserved,  ///< huge pages that the system has reserved (hugetlb), of its default size; backed by memory at once
};

inline constexpr std::size_t kHugePage = std::size_t{2} << 20;

/// Move-only owner of anonymous pages. Untouched pages use no memory, so a simulated device can have larger buffers
/// than the host has memory.
class Pages {
 public:
  Pages() = default;
  /// For PageSize::huge and at least 2 MiB, the memory begins at a huge-page boundary. Throws std::bad_alloc, or
  /// UnavailableError if too few pages are reserved.
  explicit Pages(std::size_t bytes, PageSize size = PageSize::huge);

  /// Chooses the page size for pages that are not touched yet.
  void prefer(PageSize size);

  [[nodiscard]] std::byte* data() const { return mapped_ ? mapped_.get() + mapped_.get_deleter().skipped : nullptr; }
  [[nodiscard]] std::size_t size() const { return mapped_ ? mapped_.get_deleter().asked : 0; }

 private:
  struct Unmap {
    std::size_t bytes;    // size of the mapping: `asked` in whole reserved pages, or plus a page to align the start
    std::size_t asked;    // size that the caller requested
    std::size_t skipped;  // bytes of the mapping that precede the aligned start
    void operator()(std::byte* mapped) const;
  };
  std::unique_ptr<std::byte, Unmap> mapped_;
};

std::size_t page_bytes();

/// Writes to every page, so that the kernel backs it with memory on the NUMA node of the calling thread.
void touch_pages(std::byte* data, std::size_t bytes);

/// Returns the fraction of the range (0 to 1) that is on huge pages, from /proc/self/smaps; 0 if unknown. Only whole
/// mappings are counted, so the range should be a mapping of its own.
double huge_page_fraction(const std::byte* data, std::size_t bytes);

}  // namespace xferbench
