// A kernel of the user's, whose output at a place follows from the input at that place and, in rows, from so many rows
// before and after: the contract of docs/own-kernels.md. Where nothing can run it, a stand-in of the same shape is
// computed, so that what was not waited for shows all the same.
#pragma once

#include <cstddef>
#include <string>

#include "device/kernel.hpp"
#include "device/kernel_source.hpp"

namespace xferbench::kernels {

/// All pointers are addresses that the GPU can use. Around `in` there are `halo_bytes` of further input on each side.
struct OwnKernelArgs {
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
  std::size_t elements = 0;
  std::size_t element_bytes = 1;
  std::size_t row_bytes = 0;    ///< of a payload in rows
  std::size_t halo_rows = 0;    ///< that it reads before and after its own
  unsigned block_size = 0;      ///< 0: what the kernel wishes, or the device chooses
  double seconds = 0;           ///< that a stand-in takes; 0: as long as its memory traffic
  bool on_host_memory = false;  ///< `in` and `out` are page-locked host memory, reached over the link

  [[nodiscard]] std::size_t bytes() const { return elements * element_bytes; }
};

class OwnKernel final : public Kernel {
 public:
  /// The name and the loaded kernel must outlive it.
  OwnKernel(const std::string& name, const LoadedKernel& loaded, const OwnKernelArgs& args)
      : name_(&name), loaded_(&loaded), args_(args) {}

  [[nodiscard]] std::string_view name() const override { return *name_; }
  [[nodiscard]] KernelCost cost() const override;
  [[nodiscard]] std::span<std::byte> output() const override { return {args_.out, args_.bytes()}; }
  void compute(std::span<std::byte> result) const override { compute_part(0, result); }
  [[nodiscard]] std::vector<std::span<const std::byte>> inputs_by_position() const override;
  /// The stand-in: each byte from those above and below it. Bytes of 0xFF stay so, others stay below 0x80.
  void compute_part(std::size_t offset, std::span<std::byte> result) const override;
  [[nodiscard]] std::unique_ptr<Kernel> clone() const override { return std::make_unique<OwnKernel>(*this); }
#if XFERBENCH_WITH_CUDA
  void preload() const override {}  // whoever has loaded it has done so
  void launch(void* cuda_stream) const override { loaded_->launch(launch_shape(), cuda_stream); }
#endif

  /// The same over page-locked host memory, reached over the link.
  [[nodiscard]] OwnKernel on_host_memory() const {
    OwnKernel other = *this;
    other.args_.on_host_memory = true;
    return other;
  }
  /// One thread for every element, or as many as the kernel wishes. Throws DeviceError where no grid has so many
  /// blocks.
  [[nodiscard]] OwnLaunch launch_shape() const;

 private:
  const std::string* name_;
  const LoadedKernel* loaded_;
  OwnKernelArgs args_;
};

}  // namespace xferbench::kernels
