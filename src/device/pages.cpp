#include "device/pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <new>
#include <string>

#include "core/error.hpp"
#include "core/units.hpp"
#include "device/host.hpp"

namespace xferbench {

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

namespace {

/// Maps `bytes`, a multiple of `page`, on reserved huge pages, and backs them with memory. Hazard: touching reserved
/// pages where the NUMA node or the control group has too few would end the program (SIGBUS), so the kernel does it.
void* map_reserved(std::size_t bytes, const ReservedPages& reserved) {
  void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
  if (mapped != MAP_FAILED && (madvise(mapped, bytes, MADV_POPULATE_WRITE) == 0 || errno == EINVAL)) return mapped;
  if (mapped != MAP_FAILED) munmap(mapped, bytes);
  const std::uint64_t needed = bytes / reserved.page;
  throw UnavailableError(fmt::format(
      "needs {} reserved huge pages of {}; {} of {} are free, and the NUMA node or the control group may allow fewer: "
      "sysctl vm.nr_hugepages={} reserves as many, or choose transparent huge pages",
      needed, format_size(reserved.page), reserved.free, reserved.total, reserved.total - reserved.free + needed));
}

}  // namespace

Pages::Pages(std::size_t bytes, PageSize size) {
  if (size == PageSize::reserved) {
    const ReservedPages reserved = reserved_pages();
    const std::size_t whole = (bytes + reserved.page - 1) / reserved.page * reserved.page;
    mapped_ = {static_cast<std::byte*>(map_reserved(whole, reserved)), Unmap{whole, bytes, 0}};
    return;
  }
  const bool aligned = size == PageSize::huge && bytes >= kHugePage;
  Unmap extent{bytes + (aligned ? kHugePage : 0), bytes, 0};
  void* mapped =
      mmap(nullptr, extent.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  if (aligned) extent.skipped = (kHugePage - reinterpret_cast<std::uintptr_t>(mapped) % kHugePage) % kHugePage;
  mapped_ = {static_cast<std::byte*>(mapped), extent};
  prefer(size);
}

void Pages::prefer(PageSize size) {
  // madvise() only gives advice. huge_page_fraction() tells whether the kernel followed the advice.
  if (size == PageSize::usual) return;
  const int advice = size == PageSize::huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE;
  static_cast<void>(madvise(mapped_.get(), mapped_.get_deleter().bytes, advice));
}

void Pages::Unmap::operator()(std::byte* mapped) const { munmap(mapped, bytes); }

void touch_pages(std::byte* data, std::size_t bytes) {
  const std::size_t step = page_bytes();
  volatile std::byte* page = data;  // volatile, so that the compiler does not remove the write
  for (std::size_t i = 0; i < bytes; i += step) page[i] = std::byte{0};
}

double huge_page_fraction(const std::byte* data, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t end = begin + bytes;
  std::ifstream file("/proc/self/smaps");
  bool inside = false;
  std::size_t huge = 0;
  for (std::string line; std::getline(file, line);) {
    unsigned long first = 0;
    unsigned long last = 0;
    unsigned long kib = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &first, &last) == 2) {
      inside = first < end && last > begin;
    } else if (inside && std::sscanf(line.c_str(), "AnonHugePages: %lu kB", &kib) == 1) {
      huge += kib * 1024;
    }
  }
  return std::min(1.0, static_cast<double>(huge) / static_cast<double>(std::max<std::size_t>(bytes, 1)));
}

}  // namespace xferbench
