// Payloads with a closed form: every byte follows from a seed and its position, so that a check compares with
// arithmetic and never with another code path under test. Outputs are poisoned before each verified run with a value
// that no right answer has.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "device/types.hpp"
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

// All of the following are parallel, and leave out what does not belong to `part`.

/// Fills with bytes in [0, 0x7F] that follow from the seed.
void fill_bytes(std::span<std::byte> bytes, std::uint64_t seed, const PayloadPart& part = {});
/// Fills with element(seed, i).
void fill_elements(std::span<float> elements, std::uint64_t seed, const PayloadPart& part = {});
/// Fills with kPoison.
void poison(std::span<std::byte> bytes, const PayloadPart& part = {});
/// Only a stretch of a payload, of so many bytes from `offset` on.
void poison_stretch(std::span<std::byte> payload, std::size_t offset, std::size_t bytes, const PayloadPart& part);

/// The first place where memory is not what it should be.
struct Mismatch {
  std::size_t offset = 0;  ///< in bytes
  std::string expected;
  std::string found;
  /// "wrong result at byte offset 4096: expected 0x12, found 0xff"
  [[nodiscard]] std::string describe() const;
};

/// Throws VerificationError, which begins with `what`, where there is one.
void require(const std::optional<Mismatch>& wrong, std::string_view what);

/// Against fill_bytes' closed form.
std::optional<Mismatch> check_bytes(std::span<const std::byte> bytes, std::uint64_t seed, const PayloadPart& part = {});

/// Against bytes that are right.
std::optional<Mismatch> compare_bytes(std::span<const std::byte> bytes, const std::byte* right,
                                      const PayloadPart& part = {});

inline constexpr std::size_t kGrain = std::size_t{1} << 20;  // items that a thread gets at least

/// Calls body(begin, end) for stretches of [0, count) that make up the part, on several threads, and waits. The items
/// are `item` bytes long, of which the part's windows must be a multiple.
template <class Body>
void for_part(std::size_t count, std::size_t item, const PayloadPart& part, std::size_t grain, const Body& body) {
  if (part.is_all()) return parallel_for(count, grain, body);
  const PayloadPart items{part.bytes / item, part.stride / item};
  const std::size_t windows = (count + items.stride - 1) / items.stride;
  parallel_for(windows, std::max<std::size_t>(1, grain / items.bytes), [&](std::size_t begin, std::size_t end) {
    items.for_each(begin * items.stride, std::min(count, end * items.stride), body);
  });
}

/// Whether right(index) is true for all of [begin, end): a loop without a way out, which is several times as fast.
template <class Predicate>
[[gnu::always_inline]] inline bool all_right(std::size_t begin, std::size_t end, const Predicate& right) {
  unsigned wrong = 0;
  for (std::size_t i = begin; i < end; ++i) wrong |= right(i) ? 0U : 1U;
  return wrong == 0;
}

#if defined(__x86_64__)
template <class Predicate>
[[gnu::target("avx2")]] bool all_right_by_avx2(std::size_t begin, std::size_t end, const Predicate& right) {
  return all_right(begin, end, right);
}
#endif

/// The same by the widest instructions that the processor has: payloads are looked at again and again.
template <class Predicate>
bool all_right_fast(std::size_t begin, std::size_t end, const Predicate& right) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") != 0) return all_right_by_avx2(begin, end, right);
#endif
  return all_right(begin, end, right);
}

/// The lowest index in [0, count) for which right(index) is false, among items of `item` bytes that belong to the part.
/// Each thread gets `grain` of them or more.
template <class Predicate>
std::optional<std::size_t> first_wrong(std::size_t count, const Predicate& right, std::size_t grain = kGrain,
                                       std::size_t item = 1, const PayloadPart& part = {}) {
  std::atomic<std::size_t> first{count};
  for_part(count, item, part, grain, [&](std::size_t begin, std::size_t end) {
    constexpr std::size_t kBlock = 1024;
    std::size_t i = begin;
    while (i + kBlock <= end && all_right_fast(i, i + kBlock, right)) i += kBlock;
    while (i < end && right(i)) ++i;
    if (i == end) return;
    std::size_t seen = first.load();
    while (i < seen && !first.compare_exchange_weak(seen, i)) {
    }
  });
  return first == count ? std::nullopt : std::optional(first.load());
}

Mismatch element_mismatch(std::size_t index, float expected, float found);

/// Every element of the part must equal element(seed, index) + added, to the bit.
std::optional<Mismatch> check_elements_plus(std::span<const float> elements, std::uint64_t seed, float added,
                                            const PayloadPart& part = {});

/// Every element of the part must equal expected(index), to the bit.
template <class Expected>
std::optional<Mismatch> check_elements(std::span<const float> elements, const Expected& expected,
                                       const PayloadPart& part = {}) {
  const auto right = [&](std::size_t i) { return elements[i] == expected(i); };
  const auto wrong = first_wrong(elements.size(), right, kGrain, sizeof(float), part);
  if (!wrong) return std::nullopt;
  return element_mismatch(*wrong, expected(*wrong), elements[*wrong]);
}

}  // namespace xferbench::pattern
