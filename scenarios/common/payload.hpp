// Not a scenario: the memory of a payload that a kernel works on, what it holds, and what is to come out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "device/device.hpp"
#include "kernels/elementwise.hpp"
#include "run/scenario.hpp"
#include "scenarios/common/own_kernel_choice.hpp"

namespace xferbench {

/// As cudaMalloc aligns. Copies that begin at odd multiples of 128 bytes or less cost an H200 up to 1 % of the pipeline
/// (docs/lab/overlap.md).
inline constexpr std::size_t kDeviceAlignment = 256;
constexpr std::size_t aligned_on_device(std::size_t bytes) {
  return (bytes + kDeviceAlignment - 1) / kDeviceAlignment * kDeviceAlignment;
}

/// The memory of a payload, which several ways of cutting it may share: all of it on the host, pinned; input and output
/// buffers on the device that may be smaller. For a kernel of the user's that reads neighbouring rows, rows of zeros
/// lie before and behind the input on the host, and the device holds such rows around every chunk.
class Payload {
 public:
  static constexpr std::size_t kElement = sizeof(float);

  struct Shape {
    std::size_t bytes = 0;         ///< in each direction; a whole number of elements
    std::size_t device_bytes = 0;  ///< of each buffer on the device
    bool in_place = false;         ///< one buffer on the device is input and output
    kernels::ElementwiseOp op = kernels::ElementwiseOp::fma;
    std::uint64_t seed = 0;
    HostMemory host = HostMemory::pinned;
    /// Instead of `op`; then the device's buffers hold the whole payload.
    std::shared_ptr<const OwnKernelChoice> own{};

    [[nodiscard]] std::size_t halo_bytes() const { return own ? own->halo_bytes() : 0; }
  };
  static MemoryNeeds needs(const Shape& shape);

  Payload(Device& device, const Shape& shape) : Payload(device, shape, device) {}
  /// `near`: the GPU whose part of the host's memory it takes.
  Payload(Device& device, const Shape& shape, Device& near);

  [[nodiscard]] const Shape& shape() const { return shape_; }
  // Where the payload itself begins, behind the rows of zeros if there are any.
  [[nodiscard]] std::byte* host_in() const { return host_in_.data + halo_room(shape_); }
  [[nodiscard]] std::byte* host_out() const { return host_out_.data; }
  // The buffers on the device, of device_bytes each.
  [[nodiscard]] std::byte* device_in() const { return device_in_.data; }
  [[nodiscard]] std::byte* device_out() const { return shape_.in_place ? device_in() : device_out_.data; }
  /// The kernel's second input, whole; null if it has none.
  [[nodiscard]] const float* addends() const { return reinterpret_cast<const float*>(addends_.data); }
  /// The user's kernel; null where it is a built-in one.
  [[nodiscard]] const LoadedKernel* own_kernel() const { return own_kernel_; }

  /// What of host_in() and host_out() is filled and checked.
  [[nodiscard]] const PayloadPart& part() const { return part_; }

  /// Real data in the input, and in the kernel's second input if it has one. A kernel of the user's then works on all
  /// of it at once, which is what is expected of any way to cut it.
  void prepare();
  void poison_host_out();
  /// So much of a buffer on the device.
  void poison_device(std::byte* first, std::size_t bytes);
  void poison_all();
  /// Of a built-in kernel: the input, and the right output of `element` after `work` operations on it.
  [[nodiscard]] float input(std::size_t element) const;
  [[nodiscard]] float expected(std::size_t element, std::uint32_t work) const;
  /// Of the user's: the output of all at once. Throws VerificationError if two runs of that differ.
  [[nodiscard]] const std::byte* expected_bytes() const;

  /// What lies before a place on a device, or before the payload on the host, for the rows that are read there.
  static std::size_t halo_room(const Shape& shape);

 private:
  void prepare_own();
  /// The user's kernel over the whole payload on the device, and its output to `to`.
  void run_at_once(std::byte* to);

  Device& device_;
  Shape shape_;
  const LoadedKernel* own_kernel_ = nullptr;
  HostBuffer host_in_;
  HostBuffer host_out_;
  PayloadPart part_;
  DeviceBuffer device_in_;
  DeviceBuffer device_out_;  // empty in place
  DeviceBuffer addends_;     // vector-add only
  HostBuffer expected_;      // of a kernel of the user's only
  bool repeats_ = true;      // whether that came out twice alike
};

}  // namespace xferbench
