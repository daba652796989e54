// Input and output data of the tile kernels. Both have closed forms: the input depends on a seed, and every byte of the
// output is checked, including the padding between rows, which kernels must not write.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "device/device.hpp"
#include "kernels/smem/smem.hpp"

namespace xferbench {

// --- Pure functions --------------------------------------------------------------------------------------------------

/// Fills rows of the input, beginning with row number `first`, including the padding between them. `rows` holds
/// shape.pitch bytes per row. Uses several threads.
void fill_rows(const kernels::SmemShape& shape, std::uint64_t seed, std::uint64_t first, std::span<std::byte> rows);
/// Whether the padding between rows is checked for poison, or is not checked because other work, such as a device copy,
/// has written there.
enum class Between { poisoned, anything };
/// Checks output rows of op copy or scale. Throws VerificationError, whose message begins with `what`, if a byte is
/// wrong. Uses several threads.
void check_rows(const kernels::SmemShape& shape, std::uint64_t seed, std::uint64_t first,
                std::span<const std::byte> rows, std::string_view what, Between between = Between::poisoned);
/// Returns the expected result of op read: the sum of the 32-bit words of all result elements, modulo 2^32. Missing
/// bytes of the last word of a row count as zero. Uses several threads.
std::uint32_t expected_sum(const kernels::SmemShape& shape, std::uint64_t seed);
std::uint32_t sum_of_words(std::span<const std::byte> bytes);

// --- On the device ---------------------------------------------------------------------------------------------------

/// Sizes in bytes of buffers that are large enough for all included shapes.
struct SmemSizes {
  std::uint64_t in = 0;
  std::uint64_t out = 0;
  /// Enlarges the sizes to those that `shape` needs. The grid size shape.blocks may still be 0.
  void include(const kernels::SmemShape& shape);
};

class SmemData {
 public:
  SmemData(Device& device, const SmemSizes& sizes, std::uint64_t seed);

  [[nodiscard]] kernels::SmemArgs args() const;
  [[nodiscard]] DeviceView in() const { return in_; }
  [[nodiscard]] DeviceView out() const { return out_; }

  /// Writes the input. It depends only on the rows, the row size and the element type of the shape.
  void prepare(const kernels::SmemShape& shape);
  /// Poisons the output; waits for the device.
  void poison();
  /// Checks the output of this shape. Throws VerificationError, whose message begins with `what`.
  void check(const kernels::SmemShape& shape, std::string_view what, Between between = Between::poisoned);
  /// Checks that device memory `copy` equals the input of this shape, whose rows must be contiguous.
  void check_copy(const kernels::SmemShape& shape, const std::byte* copy, std::string_view what);

 private:
  using OnPart = std::function<void(std::uint64_t first, std::span<std::byte> part)>;
  /// Calls on_part() for one part of the data after another, each with a whole number of items. The argument `part` of
  /// on_part() is page-locked staging memory.
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
