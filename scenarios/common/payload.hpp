// The buffers of a payload that a kernel processes, their contents and the expected result.
#pragma once

#include <cstddef>

#include "device/device.hpp"
#include "kernels/elementwise.hpp"
#include "run/scenario.hpp"
#include "scenarios/common/own_kernel_choice.hpp"

namespace xferbench {

/// Alignment of buffers on the device in bytes, the same as of cudaMalloc. On an H200, copies that start at an odd
/// multiple of 128 bytes or less cost up to 1 % of the pipeline's rate (docs/lab/overlap.md).
inline constexpr std::size_t kDeviceAlignment = 256;
constexpr std::size_t aligned_on_device(std::size_t bytes) {
  return (bytes + kDeviceAlignment - 1) / kDeviceAlignment * kDeviceAlignment;
}

/// Owns the buffers of a payload, which several ways of chunking may share: page-locked host buffers of the full size,
/// and device buffers that may be smaller. For a user's kernel with halo rows, the host input is preceded and followed
/// by rows of zeros, and the device buffers have space for halo rows around every chunk.
class Payload {
 public:
  static constexpr std::size_t kElement = sizeof(float);

  struct Shape {
    std::size_t bytes = 0;  ///< per direction; a whole number of elements
    std::size_t device_bytes = 0;
    bool in_place = false;  ///< one device buffer is both input and output
    kernels::ElementwiseOp op = kernels::ElementwiseOp::fma;
    std::uint64_t seed = 0;
    HostMemory host = HostMemory::pinned;
    /// A user's kernel that replaces `op`; the device buffers then hold the whole payload.
    std::shared_ptr<const OwnKernelChoice> own{};

    [[nodiscard]] std::size_t halo_bytes() const { return own ? own->halo_bytes() : 0; }
  };
  static MemoryNeeds needs(const Shape& shape);

  Payload(Device& device, const Shape& shape) : Payload(device, shape, device) {}
  /// The host buffers are allocated on the NUMA node of GPU `near`.
  Payload(Device& device, const Shape& shape, Device& near);

  [[nodiscard]] const Shape& shape() const { return shape_; }
  // Address of the payload's first byte in the input buffer, after the rows of zeros if there are any.
  [[nodiscard]] std::byte* host_in() const { return host_in_.data + halo_room(shape_); }
  [[nodiscard]] std::byte* host_out() const { return host_out_.data; }
  [[nodiscard]] std::byte* device_in() const { return device_in_.data; }
  [[nodiscard]] std::byte* device_out() const { return shape_.in_place ? device_in() : device_out_.data; }
  /// The kernel's second input, for all elements, in device memory; null if the kernel has none.
  [[nodiscard]] const float* addends() const { return reinterpret_cast<const float*>(addends_.data); }
  /// The user's kernel; null for a built-in one.
  [[nodiscard]] const LoadedKernel* own_kernel() const { return own_kernel_; }

  /// The part of host_in() and host_out() that is filled and checked.
  [[nodiscard]] const PayloadPart& part() const { return part_; }

  /// Fills the input, and the kernel's second input if it has one. Runs a user's kernel on the whole payload at once;
  /// its output is the expected result.
  void prepare();
  void poison_host_out();
  void poison_device(std::byte* first, std::size_t bytes);
  void poison_all();
  /// The input of a built-in kernel, and its expected output after `work` operations, for one element.
  [[nodiscard]] float input(std::size_t element) const;
  [[nodiscard]] float expected(std::size_t element, std::uint32_t work) const;
  /// Returns the output of a user's kernel for the whole payload. Throws VerificationError if two runs of the kernel
  /// gave different output.
  [[nodiscard]] const std::byte* expected_bytes() const;

  /// Returns the bytes reserved before and after the payload for halo rows, on host and device.
  static std::size_t halo_room(const Shape& shape);

 private:
  void prepare_own();
  /// Runs the user's kernel on the whole payload and copies the output to `to`.
  void run_at_once(std::byte* to);

  Device& device_;
  Shape shape_;
  const LoadedKernel* own_kernel_ = nullptr;
  HostBuffer host_in_;
  HostBuffer host_out_;
  PayloadPart part_;
  DeviceBuffer device_in_;
  DeviceBuffer device_out_;  // not allocated if the shape is in_place
  DeviceBuffer addends_;     // second vector of the vector-add kernel; unused by other kernels
  HostBuffer expected_;      // expected output of a user's kernel; unused for built-in kernels
  bool repeats_ = true;      // whether two runs of the user's kernel gave the same output
};

}  // namespace xferbench
