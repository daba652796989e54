// Memory straight from the system, on pages of a chosen size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace xferbench {

enum class PageSize {
  usual,  ///< what the system gives without being asked, as to malloc
  small,  ///< the system's smallest, 4 KiB on x86
  huge,   ///< transparent huge pages, 2 MiB on x86, where the system gives them
};

/// Move-only owner of anonymous pages. Untouched pages cost nothing, so that what is only timed on a simulated device
/// may be larger than the host's memory.
class Pages {
 public:
  Pages() = default;
  /// Starts on a page of that size. Throws std::bad_alloc.
  explicit Pages(std::size_t bytes, PageSize size = PageSize::huge);

  /// Pages of that size for what is not touched yet.
  void prefer(PageSize size);

  [[nodiscard]] std::byte* data() const { return mapped_ ? mapped_.get() + mapped_.get_deleter().skipped : nullptr; }
  [[nodiscard]] std::size_t size() const { return mapped_ ? mapped_.get_deleter().asked : 0; }

 private:
  struct Unmap {
    std::size_t bytes;    // up to a huge page more ...
    std::size_t asked;    // ... than asked for, ...
    std::size_t skipped;  // ... before what was asked for
    void operator()(std::byte* mapped) const;
  };
  std::unique_ptr<std::byte, Unmap> mapped_;
};

/// The system's page in bytes.
std::size_t page_bytes();

/// Writes to every page, so that each has memory behind it: on the NUMA node of the calling thread.
void touch_pages(std::byte* data, std::size_t bytes);

/// How much of the range lies on huge pages, as the kernel tells (/proc/self/smaps): 0 to 1. Mappings are counted
/// whole, so the range should be a mapping of its own. 0 where the kernel does not tell.
double huge_page_fraction(const std::byte* data, std::size_t bytes);

}  // namespace xferbench
