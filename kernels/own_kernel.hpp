// A user's own kernel, which must follow the contract of docs/own-kernels.md: the output at a position depends on the
// input at that position and, for data in rows, on `halo_rows` rows before and after it. Without a GPU, a stand-in with
// the same dependencies is computed, so that missing synchronization still shows as wrong results.
#pragma once

#include <string>

#include "device/kernel.hpp"
#include "device/kernel_source.hpp"

namespace xferbench::kernels {

/// Arguments of a launch; all pointers are device addresses. halo_rows * row_bytes bytes of input precede and follow
/// `in`.
struct OwnKernelArgs {
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
  std::size_t elements = 0;
  std::size_t element_bytes = 1;
  std::size_t row_bytes = 0;    ///< bytes of a row; 0: the payload has no rows
  std::size_t halo_rows = 0;    ///< rows that the kernel reads before and after its own rows
  unsigned block_size = 0;      ///< threads per block; 0: as requested by the kernel, else chosen by the device
  double seconds = 0;           ///< duration in seconds on a simulated device; 0: derived from the memory traffic
  bool on_host_memory = false;  ///< `in` and `out` are page-locked host memory, accessed over the link

  [[nodiscard]] std::size_t bytes() const { return elements * element_bytes; }
};

class OwnKernel final : public KernelOf<OwnKernel> {
 public:
  /// `name` and `loaded` must outlive this object.
  OwnKernel(const std::string& name, const LoadedKernel& loaded, const OwnKernelArgs& args)
      : name_(&name), loaded_(&loaded), args_(args) {}

  [[nodiscard]] std::string_view name() const override { return *name_; }
  [[nodiscard]] KernelCost cost() const override;
  [[nodiscard]] std::span<std::byte> output() const override { return {args_.out, args_.bytes()}; }
  [[nodiscard]] std::vector<std::span<const std::byte>> inputs_by_position() const override;
  /// Computes the stand-in result: a weighted sum of the input byte and of the bytes at the same column of the halo
  /// rows. A byte 0xFF (NaN) stays 0xFF; all other results are below 0x80.
  void compute_part(std::size_t offset, std::span<std::byte> result) const override;
#if XFERBENCH_WITH_CUDA
  void preload() const override {}  // nothing to do: the code was loaded together with the kernel
  void launch(void* cuda_stream) const override { loaded_->launch(launch_shape(), cuda_stream); }
#endif

  /// Returns a copy of this kernel that reads and writes page-locked host memory.
  [[nodiscard]] OwnKernel on_host_memory() const {
    OwnKernel other = *this;
    other.args_.on_host_memory = true;
    return other;
  }
  /// Returns a launch with one thread per element, or per `elements_per_thread` elements if the kernel requests that.
  /// Throws DeviceError if the grid would have too many blocks.
  [[nodiscard]] OwnLaunch launch_shape() const;

 private:
  const std::string* name_;
  const LoadedKernel* loaded_;
  OwnKernelArgs args_;
};

}  // namespace xferbench::kernels
