// Not a scenario: what the tile kernels read and write, with closed forms: the input follows from a seed, and every
// byte of the output is checked by arithmetic, also those that lie between rows and must stay as they were.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "device/device.hpp"
#include "kernels/smem/smem.hpp"

namespace xferbench {

// --- Pure functions --------------------------------------------------------------------------------------------------

/// Fills rows [first, first + count) of the input, `rows` being their memory, shape.pitch bytes each. What lies between
/// and behind the rows is poisoned. Parallel.
void fill_rows(const kernels::SmemShape& shape, std::uint64_t seed, std::uint64_t first, std::span<std::byte> rows);
/// Whether what lies between rows is looked at, too: it was poisoned, or other work may have written there.
enum class Between { poisoned, anything };
/// Checks rows of the output of copy or scale. Throws VerificationError, which `what` begins. Parallel.
void check_rows(const kernels::SmemShape& shape, std::uint64_t seed, std::uint64_t first,
                std::span<const std::byte> rows, std::string_view what, Between between = Between::poisoned);
/// The sum of the 32-bit words of what read computes of all elements, modulo 2^32; what is missing of the last word of
/// a row counts as zero. Parallel.
std::uint32_t expected_sum(const kernels::SmemShape& shape, std::uint64_t seed);
std::uint32_t sum_of_words(std::span<const std::byte> bytes);

// --- On the device ---------------------------------------------------------------------------------------------------

/// How much of it there must be for all shapes that use the same data, in bytes.
struct SmemSizes {
  std::uint64_t in = 0;
  std::uint64_t out = 0;
  /// Its grid may still be open.
  void include(const kernels::SmemShape& shape);
};

class SmemData {
 public:
  SmemData(Device& device, const SmemSizes& sizes, std::uint64_t seed);

  [[nodiscard]] kernels::SmemArgs args() const;
  [[nodiscard]] DeviceView in() const { return in_; }
  [[nodiscard]] DeviceView out() const { return out_; }

  /// Writes the input. Shapes of the same rows and type have the same.
  void prepare(const kernels::SmemShape& shape);
  /// Poisons the output, and waits.
  void poison();
  /// Whether the output is what this shape leaves. Throws VerificationError, which `what` begins.
  void check(const kernels::SmemShape& shape, std::string_view what, Between between = Between::poisoned);
  /// Whether `copy`, on the device, is the input of this shape, which has nothing between its rows.
  void check_copy(const kernels::SmemShape& shape, const std::byte* copy, std::string_view what);

 private:
  using OnPart = std::function<void(std::uint64_t first, std::span<std::byte> part)>;
  /// In parts of whole items, through page-locked memory.
  void for_parts(std::uint64_t items, std::uint64_t bytes_of_item, const OnPart& on_part);
  void fetch(const std::byte* from, std::span<std::byte> to);
  void check_elements(const kernels::SmemShape& shape, const std::byte* from, std::string_view what, Between between);
  void check_sum(const kernels::SmemShape& shape, std::string_view what);
  void check_queue(std::string_view what);

  Device& device_;
  std::uint64_t seed_;
  DeviceBuffer in_;
  DeviceBuffer out_;
  DeviceBuffer queue_;
};

}  // namespace xferbench
