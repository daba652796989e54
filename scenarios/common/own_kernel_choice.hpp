// Not a scenario: a kernel of the user's in the place of a built-in one: its flags, what they mean, and why they may
// not fit. docs/own-kernels.md has the contract.
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

/// T of the contract; the names are those of --kernel-type.
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
/// Bytes of one.
std::size_t size_of(ElementType type);

/// What --kernel-file and the flags around it say.
struct OwnKernelChoice {
  KernelSource source;  ///< without its content, which is read when it is loaded
  ElementType type = ElementType::float_type;
  std::size_t row_bytes = 0;  ///< 0: not in rows
  std::size_t halo_rows = 0;  ///< before and after each chunk
  unsigned block_size = 0;    ///< 0: as the kernel wishes, or what occupies the GPU best
  double seconds = 0;         ///< of one payload of `payload_bytes`, on a simulated device; 0: its memory traffic's
  std::size_t payload_bytes = 0;

  [[nodiscard]] std::size_t element_bytes() const { return size_of(type); }
  /// Elements that stay together in one chunk.
  [[nodiscard]] std::size_t row_elements() const { return row_bytes == 0 ? 1 : row_bytes / element_bytes(); }
  [[nodiscard]] std::size_t halo_bytes() const { return halo_rows * row_bytes; }
  /// Two that agree in it take the same time.
  [[nodiscard]] std::string id() const;
  /// The kernel over so many elements, for as long as this lives and the kernel is loaded.
  [[nodiscard]] kernels::OwnKernel over(const LoadedKernel& loaded, const std::byte* in, std::byte* out,
                                        std::size_t elements) const;
};

/// In a case of a scenario that has own_kernel_axes(); null where a built-in kernel is meant. `payload_bytes`: of one
/// round.
std::shared_ptr<const OwnKernelChoice> own_kernel_of(const Case& c, std::size_t payload_bytes);

/// Its flags; --kernel-file is given instead of that axis.
std::vector<Axis> own_kernel_axes(const std::string& instead_of);
/// Of those the ones that say what is done, and not how.
std::span<const std::string_view> own_kernel_work_axes();

/// Why the flags do not fit each other, the file or the device; nothing where they do.
std::optional<SkipReason> reason_against(const OwnKernelChoice& own, const Capabilities* can);

/// Reads the file and has the device load it. Throws InputError where it cannot be read.
const LoadedKernel& load_own_kernel(Device& device, const OwnKernelChoice& own);

/// What results say of it.
std::span<const MetricDeclaration> own_kernel_metrics();
void add_own_kernel(const OwnKernelChoice& own, const LoadedKernel& loaded, bool verified, Result& result);

/// Writes element `index` of the input that belongs to the seed: whole numbers from 0 to 127, or real ones from 1 to 2.
void write_own_element(ElementType type, std::uint64_t seed, std::uint64_t index, std::byte* at);

}  // namespace xferbench
