#include "measure/pattern.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>

namespace xferbench::pattern {

namespace {

constexpr std::size_t kWord = sizeof(std::uint32_t);

std::uint32_t pattern_word(std::uint64_t seed, std::uint64_t index) { return noise(seed, index) & 0x7F7F7F7FU; }

std::byte pattern_byte(std::uint64_t seed, std::size_t offset) {
  const auto word = std::bit_cast<std::array<std::byte, kWord>>(pattern_word(seed, offset / kWord));
  return word[offset % kWord];
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

std::string Mismatch::describe() const {
  return fmt::format("wrong result at byte offset {}: expected {}, found {}", offset, expected, found);
}

std::optional<Mismatch> check_bytes(std::span<const std::byte> bytes, std::uint64_t seed, const PayloadPart& part) {
  const std::size_t words = (bytes.size() + kWord - 1) / kWord;
  const auto right = [&](std::size_t i) {
    const std::uint32_t expected = pattern_word(seed, i);
    return std::memcmp(bytes.data() + i * kWord, &expected, std::min(kWord, bytes.size() - i * kWord)) == 0;
  };
  const auto wrong = first_wrong(words, right, kGrain, kWord, part);
  if (!wrong) return std::nullopt;
  std::size_t offset = *wrong * kWord;
  while (bytes[offset] == pattern_byte(seed, offset)) ++offset;
  return Mismatch{offset, fmt::format("{:#04x}", std::to_integer<unsigned>(pattern_byte(seed, offset))),
                  fmt::format("{:#04x}", std::to_integer<unsigned>(bytes[offset]))};
}

Mismatch element_mismatch(std::size_t index, float expected, float found) {
  // The first byte that differs, because that is what a reader looks for in a dump.
  const auto want = std::bit_cast<std::array<std::byte, sizeof(float)>>(expected);
  const auto have = std::bit_cast<std::array<std::byte, sizeof(float)>>(found);
  std::size_t byte = 0;
  while (byte + 1 < sizeof(float) && want[byte] == have[byte]) ++byte;
  return {index * sizeof(float) + byte, fmt::format("{} (element {})", expected, index), fmt::format("{}", found)};
}

}  // namespace xferbench::pattern
