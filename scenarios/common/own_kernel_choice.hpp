// A user's kernel in place of a built-in one: the flags that select it, their meaning and the check that they are
// valid. docs/own-kernels.md is the contract that the kernel must follow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/axis.hpp"
#include "device/device.hpp"
#include "kernels/own_kernel.hpp"
#include "results/metric_declaration.hpp"
#include "results/result.hpp"
#include "run/skip_reason.hpp"

namespace xferbench {

/// Element type T of the user's kernel; the values have the same order as the choices of --kernel-type.
enum class ElementType : unsigned char {
  char_type,
  uchar_type,
  short_type,
  ushort_type,
  int_type,
  uint_type,
  long_type,
  ulong_type,
  half_type,
  float_type,
  double_type,
};
std::size_t size_of(ElementType type);

/// Values of --kernel-file and the flags that go with it.
struct OwnKernelChoice {
  KernelSource source;  ///< without the content of the file, which is read when the kernel is loaded
  ElementType type = ElementType::float_type;
  std::size_t row_bytes = 0;  ///< 0: the payload has no rows
  std::size_t halo_rows = 0;  ///< rows that the kernel reads before and after each chunk
  unsigned block_size = 0;  ///< threads per block; 0: as the kernel requests, or the block size with the best occupancy
  double seconds = 0;       ///< time for `payload_bytes` on a simulated device; 0: derived from memory traffic
  std::size_t payload_bytes = 0;

  [[nodiscard]] std::size_t element_bytes() const { return size_of(type); }
  /// Number of elements that must stay in one chunk: those of a row, or one if the payload has no rows.
  [[nodiscard]] std::size_t row_elements() const { return row_bytes == 0 ? 1 : row_bytes / element_bytes(); }
  [[nodiscard]] std::size_t halo_bytes() const { return halo_rows * row_bytes; }
  /// Returns a key of the kernel and its settings: kernels with equal keys take the same time.
  [[nodiscard]] std::string id() const;
  /// Returns the launch of the kernel over `elements` elements. The returned object is valid as long as this object
  /// lives and the kernel is loaded.
  [[nodiscard]] kernels::OwnKernel over(const LoadedKernel& loaded, const std::byte* in, std::byte* out,
                                        std::size_t elements) const;
};

/// Returns the user's kernel of case `c`, whose scenario must have the axes own_kernel_axes(); null if the case uses a
/// built-in kernel. `payload_bytes`: bytes of one round.
std::shared_ptr<const OwnKernelChoice> own_kernel_of(const Case& c, std::size_t payload_bytes);

/// Returns the axes of the flags for a user's kernel. A case has either --kernel-file or the axis `instead_of`, which
/// names a built-in kernel.
std::vector<Axis> own_kernel_axes(const std::string& instead_of);
/// Returns the names of the axes of own_kernel_axes() that define what is computed. Its other axes define how.
std::span<const std::string_view> own_kernel_work_axes();

/// Returns why the kernel cannot be used: its flags contradict each other, the file cannot be read, or the device with
/// capabilities `can` (null: any device) does not support the flags. Returns nothing if the kernel can be used.
std::optional<SkipReason> reason_against(const OwnKernelChoice& own, const Capabilities* can);

/// Reads the file and loads the kernel on the device. Throws InputError if the file cannot be read.
const LoadedKernel& load_own_kernel(Device& device, const OwnKernelChoice& own);

std::span<const MetricDeclaration> own_kernel_metrics();
void add_own_kernel(const OwnKernelChoice& own, const LoadedKernel& loaded, bool verified, Result& result);

/// Writes element `index` of the input for a seed: integers from 0 to 127, floating-point values in [1, 2).
void write_own_element(ElementType type, std::uint64_t seed, std::uint64_t index, std::byte* at);

}  // namespace xferbench
