#include "measure/pattern.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>

#include "core/error.hpp"

namespace xferbench::pattern {

namespace {

constexpr std::size_t kWord = sizeof(std::uint32_t);

std::uint32_t pattern_word(std::uint64_t seed, std::uint64_t index) { return noise(seed, index) & 0x7F7F7F7FU; }

std::byte pattern_byte(std::uint64_t seed, std::size_t offset) {
  const auto word = std::bit_cast<std::array<std::byte, kWord>>(pattern_word(seed, offset / kWord));
  return word[offset % kWord];
}

Mismatch byte_mismatch(std::size_t offset, std::byte expected, std::byte found) {
  return {offset, fmt::format("{:#04x}", std::to_integer<unsigned>(expected)),
          fmt::format("{:#04x}", std::to_integer<unsigned>(found))};
}

}  // namespace

void fill_bytes(std::span<std::byte> bytes, std::uint64_t seed, const PayloadPart& part) {
  const std::size_t words = bytes.size() / kWord;
  for_part(words, kWord, part, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t word = pattern_word(seed, i);
      std::memcpy(bytes.data() + i * kWord, &word, kWord);
    }
  });
  for (std::size_t i = words * kWord; i < bytes.size(); ++i) bytes[i] = pattern_byte(seed, i);
}

void fill_elements(std::span<float> elements, std::uint64_t seed, const PayloadPart& part) {
  for_part(elements.size(), sizeof(float), part, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) elements[i] = element(seed, i);
  });
}

void poison(std::span<std::byte> bytes, const PayloadPart& part) {
  for_part(bytes.size(), 1, part, kGrain * kWord, [&](std::size_t begin, std::size_t end) {
    std::memset(bytes.data() + begin, std::to_integer<int>(kPoison), end - begin);
  });
}

void poison_range(std::span<std::byte> payload, std::size_t offset, std::size_t bytes, const PayloadPart& part) {
  parallel_for(bytes, kGrain * kWord, [&](std::size_t begin, std::size_t end) {
    part.for_each(offset + begin, offset + end, [&](std::size_t from, std::size_t to) {
      std::memset(payload.data() + from, std::to_integer<int>(kPoison), to - from);
    });
  });
}

std::string Mismatch::describe() const {
  return fmt::format("wrong result at byte offset {}: expected {}, found {}", offset, expected, found);
}

void require(const std::optional<Mismatch>& wrong, std::string_view what) {
  if (wrong) throw VerificationError(fmt::format("{}: {}", what, wrong->describe()));
}

std::optional<Mismatch> check_bytes(std::span<const std::byte> bytes, std::uint64_t seed, const PayloadPart& part) {
  const std::size_t words = bytes.size() / kWord;
  const auto right = [&](std::size_t i) {
    std::uint32_t found = 0;
    std::memcpy(&found, bytes.data() + i * kWord, kWord);
    return found == pattern_word(seed, i);
  };
  const auto right_byte = [&](std::size_t i) { return bytes[i] == pattern_byte(seed, i); };
  std::size_t offset = bytes.size();
  if (const auto wrong = first_wrong(words, right, kGrain, kWord, part)) {
    offset = *wrong * kWord;
    while (right_byte(offset)) ++offset;
  } else {  // check the last bytes, which do not fill a word
    part.for_each(words * kWord, bytes.size(), [&](std::size_t begin, std::size_t end) {
      while (begin < end && right_byte(begin)) ++begin;
      if (begin < end) offset = std::min(offset, begin);
    });
  }
  if (offset == bytes.size()) return std::nullopt;
  return byte_mismatch(offset, pattern_byte(seed, offset), bytes[offset]);
}

std::optional<Mismatch> compare_bytes(std::span<const std::byte> bytes, const std::byte* right,
                                      const PayloadPart& part) {
  const auto is_right = [&](std::size_t i) { return bytes[i] == right[i]; };
  const auto wrong = first_wrong(bytes.size(), is_right, kGrain, 1, part);
  if (!wrong) return std::nullopt;
  return byte_mismatch(*wrong, right[*wrong], bytes[*wrong]);
}

std::optional<Mismatch> check_elements_plus(std::span<const float> elements, std::uint64_t seed, float added,
                                            const PayloadPart& part) {
  return check_elements(
      elements, [seed, added](std::size_t i) { return element(seed, i) + added; }, part);
}

Mismatch element_mismatch(std::size_t index, float expected, float found) {
  // Report the offset of the first differing byte, so that it can be found in a memory dump.
  const auto want = std::bit_cast<std::array<std::byte, sizeof(float)>>(expected);
  const auto have = std::bit_cast<std::array<std::byte, sizeof(float)>>(found);
  std::size_t byte = 0;
  while (byte + 1 < sizeof(float) && want[byte] == have[byte]) ++byte;
  return {index * sizeof(float) + byte, fmt::format("{} (element {})", expected, index), fmt::format("{}", found)};
}

}  // namespace xferbench::pattern
