// Kernels and data patterns of the soak test, which keeps a GPU busy for hours and finds single wrong bytes. The
// patterns have a closed form known to host and device. One kernel checks memory against a pattern. Another copies
// memory through arithmetic that must not change the data.
#pragma once

#include <array>

#include "device/kernel.hpp"

namespace xferbench::kernels {

/// Pattern of bits that fills memory. Each pattern detects another kind of fault.
enum class SoakPattern : std::uint32_t {
  noise,        ///< pseudo-random bits, which detect faults of links and encodings
  address,      ///< each word is its own index, which detects data in the wrong place
  walking,      ///< one bit of 32 is set and moves by one in each word, which detects crosstalk between lines
  checkerboard  ///< 01010101, then its complement in the next word; detects crosstalk between cells and between lines
};
inline constexpr std::array<std::string_view, 4> kSoakPatternNames{"noise", "address", "walking", "checkerboard"};
constexpr std::string_view to_text(SoakPattern pattern) { return kSoakPatternNames[static_cast<std::size_t>(pattern)]; }

/// The words of one payload by a closed form: at() returns the word at an index.
struct SoakWords {
  SoakPattern pattern{};
  std::uint32_t seed = 0;
  /// Inverts all bits. Filling the same memory alternately with and without inversion changes every bit, so a transfer
  /// that did not happen is detected.
  bool inverted = false;

  [[nodiscard]] constexpr std::uint32_t at(std::uint64_t index) const {
    const std::uint32_t word = plain(index);
    return inverted ? ~word : word;
  }

 private:
  /// The 32-bit finalizer of MurmurHash3, in which every input bit affects every output bit.
  static constexpr std::uint32_t mixed(std::uint32_t x) {
    x = (x ^ (x >> 16)) * 0x85EBCA6BU;
    x = (x ^ (x >> 13)) * 0xC2B2AE35U;
    return x ^ (x >> 16);
  }
  [[nodiscard]] constexpr std::uint32_t plain(std::uint64_t index) const {
    const auto low = static_cast<std::uint32_t>(index);
    const auto high = static_cast<std::uint32_t>(index >> 32);
    switch (pattern) {
      case SoakPattern::address: return low + seed;
      case SoakPattern::walking: return 1U << ((low + seed) % 32);
      case SoakPattern::checkerboard: return ((low + seed) & 1U) != 0 ? 0xAAAAAAAAU : 0x55555555U;
      case SoakPattern::noise: break;
    }
    return mixed(low * 0x9E3779B9U + seed + high * 0x632BE5ABU);
  }
};

/// Number and examples of wrong words that checks have found. In device memory; all zero before the first check.
struct SoakErrors {
  static constexpr unsigned kExamples = 4;
  struct Example {
    std::uint64_t index = 0;
    std::uint32_t expected = 0;
    std::uint32_t found = 0;
  };
  unsigned long long words = 0;
  unsigned long long bytes = 0;
  unsigned long long bits = 0;
  unsigned long long not_first = 0;  ///< bitwise complement of the first wrong word's index, for atomicMax; 0: none
  unsigned long long last = 0;       ///< index of the last wrong word
  Example examples[kExamples] = {};  // NOLINT(modernize-avoid-c-arrays): for device code

  [[nodiscard]] std::uint64_t first() const { return ~not_first; }
  /// Adds one wrong word; used by the host's reference result.
  void add(std::uint64_t index, std::uint32_t expected, std::uint32_t found);
};

/// Returns the number of bytes in which two words differ. `difference` is the XOR of the words.
constexpr unsigned differing_bytes(std::uint32_t difference) {
  unsigned bytes = 0;
  for (unsigned shift = 0; shift < 32; shift += 8) bytes += (difference >> shift & 0xFFU) != 0 ? 1U : 0U;
  return bytes;
}

/// Compares `bytes` of device memory (a multiple of 16, 16-byte aligned) with the expected words and adds the wrong
/// words to `found`. Only one kernel at a time may use the same `found`.
class SoakCheck final : public KernelOf<SoakCheck> {
 public:
  struct Args {
    const std::byte* data = nullptr;
    std::size_t bytes = 0;
    SoakWords words{};
    SoakErrors* found = nullptr;
    PayloadPart part{};  ///< the part that was transferred; used on a simulated device only
  };
  explicit SoakCheck(const Args& args) : args_(args) {}

  [[nodiscard]] std::string_view name() const override { return "soak-check"; }
  [[nodiscard]] KernelCost cost() const override { return {.bytes = args_.bytes}; }
  [[nodiscard]] std::span<std::byte> output() const override {
    return std::as_writable_bytes(std::span<SoakErrors>(args_.found, 1));
  }
  void compute(std::span<std::byte> result) const override;
  [[nodiscard]] std::optional<std::vector<std::span<const std::byte>>> reads() const override;
#if XFERBENCH_WITH_CUDA
  void preload() const override;
  void launch(void* cuda_stream) const override;
#endif

 private:
  Args args_;
};

/// Copies `bytes` of device memory (a multiple of 16, 16-byte aligned) through arithmetic: each word is mixed and
/// unmixed again, so output equals input unless the hardware made an error.
class SoakWork final : public KernelOf<SoakWork> {
 public:
  SoakWork(std::byte* destination, const std::byte* source, std::size_t bytes)
      : destination_(destination), source_(source), bytes_(bytes) {}

  [[nodiscard]] std::string_view name() const override { return "soak-work"; }
  [[nodiscard]] KernelCost cost() const override { return {.bytes = 2 * bytes_}; }
  [[nodiscard]] std::span<std::byte> output() const override { return {destination_, bytes_}; }
  [[nodiscard]] std::vector<std::span<const std::byte>> inputs_by_position() const override {
    return {{source_, bytes_}};
  }
  void compute_part(std::size_t offset, std::span<std::byte> result) const override;
#if XFERBENCH_WITH_CUDA
  void preload() const override;
  void launch(void* cuda_stream) const override;
#endif

 private:
  std::byte* destination_;
  const std::byte* source_;
  std::size_t bytes_;
};

}  // namespace xferbench::kernels
