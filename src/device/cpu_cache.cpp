#include "device/cpu_cache.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>

namespace xferbench {

namespace {

constexpr std::size_t kLine = 64;

#if defined(__x86_64__)
constexpr bool kX86 = true;
#else
constexpr bool kX86 = false;
#endif

/// Parses a sysfs cache size such as "307200K".
std::uint64_t parse_cache_size(const std::string& text) {
  if (text.empty()) return 0;
  const std::uint64_t number = std::strtoull(text.c_str(), nullptr, 10);
  const char unit = text.back();
  return number * (unit == 'K' ? 1024 : unit == 'M' ? 1024 * 1024 : 1);
}

}  // namespace

bool can_flush_cache() { return kX86; }
bool can_stream_stores() { return kX86; }

void flush_from_cache([[maybe_unused]] std::span<const std::byte> range) {
#if defined(__x86_64__)
  // clflush belongs to SSE2, which every x86-64 CPU has. The fences order the flushes with all other memory accesses.
  _mm_mfence();
  for (std::size_t i = 0; i < range.size(); i += kLine) _mm_clflush(range.data() + i);
  if (!range.empty()) _mm_clflush(&range.back());
  _mm_mfence();
#endif
}

void load_into_cache(std::span<const std::byte> range) {
  const volatile std::byte* line = range.data();  // volatile, so that the compiler does not remove the read
  for (std::size_t i = 0; i < range.size(); i += kLine) static_cast<void>(line[i]);
}

void copy_past_cache(std::byte* destination, const std::byte* source, std::size_t bytes) {
#if defined(__x86_64__)
  // Non-temporal stores (SSE2) need 16-byte-aligned addresses. Writing whole lines flushes the write-combining
  // buffers.
  const std::size_t head = std::min(bytes, (kLine - reinterpret_cast<std::uintptr_t>(destination) % kLine) % kLine);
  std::memcpy(destination, source, head);
  const std::size_t end = head + (bytes - head) / kLine * kLine;
  for (std::size_t i = head; i < end; i += kLine) {
    const auto* from = reinterpret_cast<const __m128i*>(source + i);
    auto* to = reinterpret_cast<__m128i*>(destination + i);
    const __m128i words[]{_mm_loadu_si128(from), _mm_loadu_si128(from + 1), _mm_loadu_si128(from + 2),
                          _mm_loadu_si128(from + 3)};
    for (int word = 0; word < 4; ++word) _mm_stream_si128(to + word, words[word]);
  }
  std::memcpy(destination + end, source + end, bytes - end);
  _mm_sfence();
#else
  std::memcpy(destination, source, bytes);
#endif
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
