// Host side of the soak kernels: their reference results.
#include "kernels/soak.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace xferbench::kernels {

namespace {

constexpr std::size_t kWord = sizeof(std::uint32_t);

}  // namespace

void SoakErrors::add(std::uint64_t index, std::uint32_t expected, std::uint32_t is) {
  if (words < kExamples) examples[words] = {index, expected, is};
  ++words;
  bytes += differing_bytes(expected ^ is);
  bits += static_cast<unsigned>(std::popcount(expected ^ is));
  not_first = std::max<unsigned long long>(not_first, ~index);
  last = std::max<unsigned long long>(last, index);
}

void SoakCheck::compute(std::span<std::byte> result) const {
  SoakErrors found = *args_.found;
  args_.part.for_each(0, args_.bytes, [&](std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end; at += kWord) {
      std::uint32_t is = 0;
      std::memcpy(&is, args_.data + at, kWord);
      const std::uint32_t expected = args_.words.at(at / kWord);
      if (is != expected) found.add(at / kWord, expected, is);
    }
  });
  std::memcpy(result.data(), &found, sizeof(found));
}

std::optional<std::vector<std::span<const std::byte>>> SoakCheck::reads() const {
  std::vector<std::span<const std::byte>> ranges{output()};  // the kernel adds to the existing counts, so it reads them
  args_.part.for_each(0, args_.bytes, [&](std::size_t begin, std::size_t end) {
    ranges.emplace_back(args_.data + begin, end - begin);
  });
  return ranges;
}

void SoakWork::compute_part(std::size_t offset, std::span<std::byte> result) const {
  std::memcpy(result.data(), source_ + offset, result.size());
}

}  // namespace xferbench::kernels
