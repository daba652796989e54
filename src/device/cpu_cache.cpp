#include "device/cpu_cache.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <fstream>
#include <string>

namespace xferbench {

namespace {

constexpr std::size_t kLine = 64;

/// "307200K" as the kernel writes it.
std::uint64_t parse_cache_size(const std::string& text) {
  if (text.empty()) return 0;
  const std::uint64_t number = std::strtoull(text.c_str(), nullptr, 10);
  const char unit = text.back();
  return number * (unit == 'K' ? 1024 : unit == 'M' ? 1024 * 1024 : 1);
}

}  // namespace

bool can_flush_cache() {
#if defined(__x86_64__)
  return true;
#else
  return false;
#endif
}

void flush_from_cache([[maybe_unused]] std::span<const std::byte> range) {
#if defined(__x86_64__)
  // clflush is part of SSE2, which every x86-64 has; flushes of one thread may overlap, the fences order them all.
  _mm_mfence();
  for (std::size_t i = 0; i < range.size(); i += kLine) _mm_clflush(range.data() + i);
  if (!range.empty()) _mm_clflush(&range.back());
  _mm_mfence();
#endif
}

void load_into_cache(std::span<const std::byte> range) {
  const volatile std::byte* line = range.data();  // volatile: the read is what is wanted
  for (std::size_t i = 0; i < range.size(); i += kLine) static_cast<void>(line[i]);
}

std::uint64_t last_level_cache_bytes() {
  std::uint64_t largest = 0;
  for (int index = 0; index < 5; ++index) {
    std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/size");
    std::string text;
    if (file >> text) largest = std::max(largest, parse_cache_size(text));
  }
  return largest;
}

}  // namespace xferbench
