// Not a scenario: a payload that goes to the GPU in chunks, is worked on and comes back, and how to check it. Scenarios
// decide which chunk runs when and where.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "kernels/elementwise.hpp"
#include "model/partition.hpp"

namespace xferbench {

class ChunkedWork {
 public:
  static constexpr std::size_t kElement = sizeof(float);

  struct Shape {
    std::size_t bytes = 0;  ///< in each direction; a whole number of elements
    std::size_t chunks = 1;
    kernels::ElementwiseOp op = kernels::ElementwiseOp::fma;
    std::uint32_t work = 1;  ///< operations per element
    std::uint64_t seed = 0;
  };

  /// Why a payload cannot be cut so, in the words of the flags, or nothing.
  static std::optional<std::string> objection(std::uint64_t size, std::uint64_t chunks);

  /// Input and output apart, pinned on the host. Loads the kernel.
  ChunkedWork(Device& device, const Shape& shape);

  [[nodiscard]] std::span<const model::Chunk> chunks() const { return chunks_; }
  [[nodiscard]] model::Chunk whole() const { return {0, shape_.bytes / kElement}; }
  [[nodiscard]] std::size_t bytes() const { return shape_.bytes; }
  [[nodiscard]] std::uint32_t work() const { return shape_.work; }
  void set_work(std::uint64_t work) { shape_.work = static_cast<std::uint32_t>(work); }

  // The three stages of a chunk, enqueued.
  void copy_in(const model::Chunk& chunk, StreamHandle stream);
  void launch(const model::Chunk& chunk, StreamHandle stream) { device_.launch(kernel(chunk, shape_.work), stream); }
  void copy_out(const model::Chunk& chunk, StreamHandle stream);
  /// A kernel over one element that does next to nothing.
  void launch_trifle(StreamHandle stream) { device_.launch(kernel({0, 1}, 1), stream); }

  // The same for the whole payload, by blocking calls.
  void copy_in_blocking();
  void copy_out_blocking();

  /// Real data in the input, and in the kernel's second input if it has one.
  void prepare();
  void poison_host_out();
  void poison_device_in() { poison(device_in_); }
  void poison_device_out() { poison(device_out_); }
  void poison_all();
  /// Throws VerificationError, which begins with `what`, unless the host's output is right.
  void check(const std::string& what) const;
  /// The right output.
  [[nodiscard]] float expected(std::size_t element) const;
  /// The host's output of one chunk.
  [[nodiscard]] std::span<const float> output(const model::Chunk& chunk) const;

 private:
  [[nodiscard]] kernels::Elementwise kernel(const model::Chunk& chunk, std::uint32_t work) const;
  void poison(const DeviceRange& range);

  Device& device_;
  Shape shape_;
  std::vector<model::Chunk> chunks_;
  HostBuffer host_in_;
  HostBuffer host_out_;
  DeviceBuffer device_in_;
  DeviceBuffer device_out_;
  DeviceBuffer addends_;  // vector-add only
  Stream stream_;         // for poisoning
};

}  // namespace xferbench
