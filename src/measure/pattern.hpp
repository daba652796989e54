// Generates and checks payload data. Every byte is a function of a seed and its position, so a check needs no copy of
// the data. Before each verified run, outputs are poisoned with a value that no correct result contains.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "device/types.hpp"
#include "measure/parallel.hpp"

namespace xferbench::pattern {

/// Value of every output byte before a verified run. Its top bit is set, unlike that of any pattern byte, and four such
/// bytes are a float NaN. So no correct byte or element equals it.
inline constexpr std::byte kPoison{0xFF};

/// Word `index` of the pseudo-random sequence of `seed`: a 32-bit mix with full avalanche (two multiply-xorshift
/// rounds, constants found by Ellis' hash prospector).
constexpr std::uint32_t noise(std::uint64_t seed, std::uint64_t index) {
  auto x = static_cast<std::uint32_t>(index) ^ static_cast<std::uint32_t>(seed);
  x += static_cast<std::uint32_t>(index >> 32) * 0x9E3779B9U + static_cast<std::uint32_t>(seed >> 32);
  x = (x ^ (x >> 16)) * 0x7FEB352DU;
  x = (x ^ (x >> 15)) * 0x846CA68BU;
  return x ^ (x >> 16);
}

/// Returns a pseudo-random integer in [1, 2^22] as a float. Adding an integer up to 2^22 to it causes no rounding.
constexpr float element(std::uint64_t seed, std::uint64_t index) {
  return static_cast<float>(1U + (noise(seed, index) >> 10));
}

/// Returns a pseudo-random integer in [1, 2^9] as a float. Half precision represents it and its double exactly.
constexpr float small_element(std::uint64_t seed, std::uint64_t index) {
  return static_cast<float>(1U + (noise(seed, index) >> 23));
}

// The following functions use several threads and skip bytes outside `part`.

/// Fills the memory with pseudo-random bytes in [0, 0x7F].
void fill_bytes(std::span<std::byte> bytes, std::uint64_t seed, const PayloadPart& part = {});
void fill_elements(std::span<float> elements, std::uint64_t seed, const PayloadPart& part = {});
void poison(std::span<std::byte> bytes, const PayloadPart& part = {});
/// Sets `bytes` bytes of the payload, from byte `offset` on, to kPoison.
void poison_range(std::span<std::byte> payload, std::size_t offset, std::size_t bytes, const PayloadPart& part);

/// The first difference between expected and actual memory contents.
struct Mismatch {
  std::size_t offset = 0;  ///< byte offset of the first difference
  std::string expected;
  std::string found;
  /// Returns for example "wrong result at byte offset 4096: expected 0x12, found 0xff".
  [[nodiscard]] std::string describe() const;
};

/// Throws VerificationError if `wrong` has a value. The error message begins with `what`.
void require(const std::optional<Mismatch>& wrong, std::string_view what);

/// Returns the first byte that differs from the output of fill_bytes() for this seed; std::nullopt if all are equal.
std::optional<Mismatch> check_bytes(std::span<const std::byte> bytes, std::uint64_t seed, const PayloadPart& part = {});

/// Returns the first byte that differs from the correct data `right` of the same size; std::nullopt if all are equal.
std::optional<Mismatch> compare_bytes(std::span<const std::byte> bytes, const std::byte* right,
                                      const PayloadPart& part = {});

inline constexpr std::size_t kGrain = std::size_t{1} << 20;  // minimum number of items per thread

/// Calls body(begin, end) on several threads for the ranges of [0, count) that belong to `part`, and waits for all
/// calls. `item`: bytes per item; part.bytes and part.stride must be multiples of it.
template <class Body>
void for_part(std::size_t count, std::size_t item, const PayloadPart& part, std::size_t grain, const Body& body) {
  if (part.is_all()) return parallel_for(count, grain, body);
  const PayloadPart items{part.bytes / item, part.stride / item};
  const std::size_t windows = (count + items.stride - 1) / items.stride;
  parallel_for(windows, std::max<std::size_t>(1, grain / items.bytes), [&](std::size_t begin, std::size_t end) {
    items.for_each(begin * items.stride, std::min(count, end * items.stride), body);
  });
}

/// Whether right(index) holds on all of [begin, end). The loop has no early exit, so the compiler can vectorize it.
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

/// Like all_right(), but uses AVX2 if the CPU supports it, because payloads are checked often.
template <class Predicate>
bool all_right_fast(std::size_t begin, std::size_t end, const Predicate& right) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") != 0) return all_right_by_avx2(begin, end, right);
#endif
  return all_right(begin, end, right);
}

/// Returns the lowest index in [0, count) for which right(index) is false; std::nullopt if it is true for all. Items of
/// `item` bytes outside of `part` are skipped. Each thread checks at least `grain` items.
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

/// Checks that every element within `part` equals element(seed, index) + added exactly. Returns the first mismatch.
std::optional<Mismatch> check_elements_plus(std::span<const float> elements, std::uint64_t seed, float added,
                                            const PayloadPart& part = {});

/// Checks that every element within `part` equals expected(index) exactly. Returns the first mismatch.
template <class Expected>
std::optional<Mismatch> check_elements(std::span<const float> elements, const Expected& expected,
                                       const PayloadPart& part = {}) {
  const auto right = [&](std::size_t i) { return elements[i] == expected(i); };
  const auto wrong = first_wrong(elements.size(), right, kGrain, sizeof(float), part);
  if (!wrong) return std::nullopt;
  return element_mismatch(*wrong, expected(*wrong), elements[*wrong]);
}

}  // namespace xferbench::pattern
