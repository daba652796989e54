#include "device/pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <new>
#include <string>
#include <utility>

namespace xferbench {

namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

std::byte* aligned_up(std::byte* pointer, std::size_t alignment) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  return pointer + (alignment - address % alignment) % alignment;
}

}  // namespace

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

Pages::Pages(std::size_t bytes, PageSize size) : bytes_(bytes) {
  const bool huge = size == PageSize::huge;
  mapped_bytes_ = bytes + (huge && bytes >= kHugePage ? kHugePage : 0);
  void* mapped =
      mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  mapped_ = static_cast<std::byte*>(mapped);
  data_ = mapped_bytes_ > bytes ? aligned_up(mapped_, kHugePage) : mapped_;
  prefer(size);
}

void Pages::prefer(PageSize size) {
  // Advice: where the system does not follow it, huge_page_fraction() tells.
  if (size == PageSize::usual) return;
  static_cast<void>(madvise(mapped_, mapped_bytes_, size == PageSize::huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE));
}

Pages::Pages(Pages&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      mapped_(std::exchange(other.mapped_, nullptr)),
      mapped_bytes_(std::exchange(other.mapped_bytes_, 0)) {}

Pages& Pages::operator=(Pages&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(mapped_, other.mapped_);
  std::swap(mapped_bytes_, other.mapped_bytes_);
  return *this;
}

Pages::~Pages() {
  if (mapped_ != nullptr) munmap(mapped_, mapped_bytes_);
}

void touch_pages(std::byte* data, std::size_t bytes) {
  const std::size_t step = page_bytes();
  volatile std::byte* page = data;  // volatile: the write is what is wanted, whatever it writes
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
