#include "soak/host_pattern.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <mutex>

#include "measure/pattern.hpp"

namespace xferbench::soak {

namespace {

using kernels::SoakErrors;
using kernels::SoakPattern;
using kernels::SoakWords;

constexpr std::size_t kWord = sizeof(std::uint32_t);
constexpr std::size_t kGrain = std::size_t{1} << 18;  // minimum number of words for each thread
constexpr std::size_t kBlock = 4096;  // number of words that are compared at once before a difference is located

/// Calls `body` with the pattern as a compile-time constant, so that the loop in `body` contains no switch.
template <class Body>
[[gnu::always_inline]] inline auto with_known_pattern(const SoakWords& words, const Body& body) {
  switch (words.pattern) {
    case SoakPattern::address: return body(SoakWords{SoakPattern::address, words.seed, words.inverted});
    case SoakPattern::walking: return body(SoakWords{SoakPattern::walking, words.seed, words.inverted});
    case SoakPattern::checkerboard: return body(SoakWords{SoakPattern::checkerboard, words.seed, words.inverted});
    case SoakPattern::noise: break;
  }
  return body(SoakWords{SoakPattern::noise, words.seed, words.inverted});
}

std::uint32_t word_at(const std::byte* memory, std::size_t index) {
  std::uint32_t word = 0;
  std::memcpy(&word, memory + index * kWord, kWord);
  return word;
}

/// Returns whether all words in [begin, end) are as expected. Inlined into functions that are compiled for different
/// instruction sets.
[[gnu::always_inline]] inline bool all_equal(const std::byte* memory, const SoakWords& words, std::size_t begin,
                                             std::size_t end) {
  return with_known_pattern(
      words, [&](const SoakWords& known) __attribute__((always_inline)) {
        std::uint32_t wrong = 0;  // the loop has no early exit, which makes it several times as fast
        for (std::size_t i = begin; i < end; ++i) {
          std::uint32_t word = 0;
          std::memcpy(&word, memory + i * kWord, kWord);
          wrong |= word ^ known.at(i);
        }
        return wrong == 0;
      });
}

using AllEqual = bool (*)(const std::byte*, const SoakWords&, std::size_t, std::size_t);

bool plain(const std::byte* memory, const SoakWords& words, std::size_t begin, std::size_t end) {
  return all_equal(memory, words, begin, end);
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] bool wide(const std::byte* memory, const SoakWords& words, std::size_t begin, std::size_t end) {
  return all_equal(memory, words, begin, end);
}
AllEqual fastest() { return __builtin_cpu_supports("avx2") != 0 ? wide : plain; }
#else
AllEqual fastest() { return plain; }
#endif

}  // namespace

void fill(std::span<std::byte> memory, const SoakWords& words, const PayloadPart& part) {
  pattern::for_part(memory.size() / kWord, kWord, part, kGrain, [&](std::size_t begin, std::size_t end) {
    with_known_pattern(words, [&](const SoakWords& known) {
      for (std::size_t i = begin; i < end; ++i) {
        const std::uint32_t word = known.at(i);
        std::memcpy(memory.data() + i * kWord, &word, kWord);
      }
    });
  });
}

SoakErrors check(std::span<const std::byte> memory, const SoakWords& words, const PayloadPart& part) {
  SoakErrors found;
  std::mutex adding;
  const AllEqual all = fastest();
  pattern::for_part(memory.size() / kWord, kWord, part, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t block = begin; block < end; block += kBlock) {
      const std::size_t stop = std::min(end, block + kBlock);
      if (all(memory.data(), words, block, stop)) continue;
      const std::scoped_lock lock(adding);
      const unsigned long long before = found.words;
      for (std::size_t i = block; i < stop; ++i) {
        const std::uint32_t is = word_at(memory.data(), i);
        if (is != words.at(i)) found.add(i, words.at(i), is);
      }
      // The first comparison found a difference, but the second comparison found none. Count one wrong bit at the
      // start of the block.
      if (found.words == before) {
        found.add(block, words.at(block), words.at(block));
        ++found.bytes;
        ++found.bits;
      }
    }
  });
  return found;
}

}  // namespace xferbench::soak
