// Payloads with a closed form: every byte follows from a seed and its position, so that a check compares with
// arithmetic and never with another code path under test. Outputs are poisoned before each verified run with a value
// that no right answer has.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>

#include "measure/parallel.hpp"

namespace xferbench::pattern {

/// What memory holds before a verified run. Pattern bytes have a clear top bit, and as a float this is a NaN, so no
/// right byte and no right element equals it.
inline constexpr std::byte kPoison{0xFF};

/// Word `index` of the noise that belongs to `seed`: a 32-bit mix with full avalanche (two multiply-xorshift rounds,
/// constants found by Ellis' hash prospector).
constexpr std::uint32_t noise(std::uint64_t seed, std::uint64_t index) {
  auto x = static_cast<std::uint32_t>(index) ^ static_cast<std::uint32_t>(seed);
  x += static_cast<std::uint32_t>(index >> 32) * 0x9E3779B9U + static_cast<std::uint32_t>(seed >> 32);
  x = (x ^ (x >> 16)) * 0x7FEB352DU;
  x = (x ^ (x >> 15)) * 0x846CA68BU;
  return x ^ (x >> 16);
}

/// A whole number in [1, 2^22] as a float: adding up to 2^22 to it is exact, so kernels have exact answers.
constexpr float element(std::uint64_t seed, std::uint64_t index) {
  return static_cast<float>(1U + (noise(seed, index) >> 10));
}

/// A whole number in [1, 2^9], which a half-precision float holds with room for as much again.
constexpr float small_element(std::uint64_t seed, std::uint64_t index) {
  return static_cast<float>(1U + (noise(seed, index) >> 23));
}

/// Fills with bytes in [0, 0x7F] that follow from the seed. Parallel.
void fill_bytes(std::span<std::byte> bytes, std::uint64_t seed);
/// Fills with element(seed, i). Parallel.
void fill_elements(std::span<float> elements, std::uint64_t seed);
/// Fills with kPoison. Parallel.
void poison(std::span<std::byte> bytes);

/// The first place where memory is not what it should be.
struct Mismatch {
  std::size_t offset = 0;  ///< in bytes
  std::string expected;
  std::string found;
  /// "wrong result at byte offset 4096: expected 0x12, found 0xff"
  [[nodiscard]] std::string describe() const;
};

/// Against fill_bytes' closed form. Parallel.
std::optional<Mismatch> check_bytes(std::span<const std::byte> bytes, std::uint64_t seed);

/// The lowest index in [0, count) for which right(index) is false. Parallel: each thread gets `grain` of them or more.
template <class Predicate>
std::optional<std::size_t> first_wrong(std::size_t count, const Predicate& right,
                                       std::size_t grain = std::size_t{1} << 20) {
  std::atomic<std::size_t> first{count};
  parallel_for(count, grain, [&](std::size_t begin, std::size_t end) {
    std::size_t i = begin;
    while (i < end && right(i)) ++i;
    if (i == end) return;
    std::size_t seen = first.load();
    while (i < seen && !first.compare_exchange_weak(seen, i)) {
    }
  });
  return first == count ? std::nullopt : std::optional(first.load());
}

Mismatch element_mismatch(std::size_t index, float expected, float found);

/// Every element must equal expected(index), to the bit.
template <class Expected>
std::optional<Mismatch> check_elements(std::span<const float> elements, const Expected& expected) {
  const auto wrong = first_wrong(elements.size(), [&](std::size_t i) { return elements[i] == expected(i); });
  if (!wrong) return std::nullopt;
  return element_mismatch(*wrong, expected(*wrong), elements[*wrong]);
}

}  // namespace xferbench::pattern
