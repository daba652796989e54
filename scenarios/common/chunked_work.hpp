// Not a scenario: a payload that goes to the GPU in chunks, is worked on and comes back, and how to check it. Scenarios
// decide which chunk runs when and where.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "kernels/elementwise.hpp"
#include "model/partition.hpp"
#include "run/scenario.hpp"

namespace xferbench {

/// The memory of a payload, which several ways of cutting it may share: all of it on the host, pinned; input and output
/// buffers on the device that may be smaller.
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
  };
  static MemoryNeeds needs(const Shape& shape);

  Payload(Device& device, const Shape& shape) : Payload(device, shape, device) {}
  /// `near`: the GPU whose part of the host's memory it takes.
  Payload(Device& device, const Shape& shape, Device& near);

  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] std::size_t elements() const { return shape_.bytes / kElement; }
  [[nodiscard]] float* host_in() const { return reinterpret_cast<float*>(host_in_.data); }
  [[nodiscard]] float* host_out() const { return reinterpret_cast<float*>(host_out_.data); }
  [[nodiscard]] float* device_in() const { return reinterpret_cast<float*>(device_in_.data); }
  [[nodiscard]] float* device_out() const {
    return shape_.in_place ? device_in() : reinterpret_cast<float*>(device_out_.data);
  }
  /// The kernel's second input, whole; null if it has none.
  [[nodiscard]] float* addends() const { return reinterpret_cast<float*>(addends_.data); }

  /// What of host_in() and host_out() is filled and checked.
  [[nodiscard]] const PayloadPart& part() const { return part_; }

  /// Real data in the input, and in the kernel's second input if it has one.
  void prepare();
  void poison_host_out();
  /// `elements` in a buffer on the device.
  void poison_device(float* first, std::size_t elements);
  void poison_all();
  /// The input, and the right output of `element` after `work` operations on it.
  [[nodiscard]] float input(std::size_t element) const;
  [[nodiscard]] float expected(std::size_t element, std::uint32_t work) const;

 private:
  Device& device_;
  Shape shape_;
  HostBuffer host_in_;
  HostBuffer host_out_;
  PayloadPart part_;
  DeviceBuffer device_in_;
  DeviceBuffer device_out_;  // empty in place
  DeviceBuffer addends_;     // vector-add only
  Stream stream_;            // for poisoning
};

/// One way of cutting a payload: chunks, and the device buffers ("slots") that they take turns in.
class ChunkedWork {
 public:
  static constexpr std::size_t kElement = Payload::kElement;

  struct Shape {
    std::size_t bytes = 0;   ///< of one round, in each direction; a whole number of elements
    std::size_t chunks = 1;  ///< of one round
    double growth = 1;       ///< length of each chunk over that of the one before
    std::size_t rounds = 1;  ///< payloads one after the other
    std::size_t slots = 0;   ///< chunks that the device holds at once; 0: all of them
    bool in_place = false;
    kernels::ElementwiseOp op = kernels::ElementwiseOp::fma;
    std::uint32_t work = 1;  ///< operations per element
    std::size_t kernels_per_chunk = 1;
    unsigned blocks = 0;  ///< of each kernel's grid; 0: one thread for every four elements
    std::uint64_t seed = 0;
  };

  /// Why a payload cannot be cut so, in the words of the flags, or nothing.
  static std::optional<SkipReason> skip_reason(std::uint64_t size, std::uint64_t chunks);
  /// The memory that this way of cutting needs.
  static Payload::Shape payload_of(const Shape& shape);
  static MemoryNeeds needs(const Shape& shape) { return Payload::needs(payload_of(shape)); }

  /// Uses a payload that is at least as large on the device as payload_of() says, or allocates one. Loads the kernel.
  ChunkedWork(Device& device, const Shape& shape, std::shared_ptr<Payload> payload = nullptr);

  /// Of all rounds, in order.
  [[nodiscard]] std::span<const model::Chunk> chunks() const { return chunks_; }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  /// Of all rounds.
  [[nodiscard]] std::size_t bytes() const { return shape_.bytes * shape_.rounds; }
  [[nodiscard]] std::size_t elements() const { return bytes() / kElement; }
  [[nodiscard]] std::uint32_t work() const { return shape_.work; }
  void set_work(std::uint64_t work) { shape_.work = static_cast<std::uint32_t>(work); }
  [[nodiscard]] const std::shared_ptr<Payload>& payload() const { return payload_; }

  /// "chunk 7", for profilers. Made once: a mark is to cost the submission nothing.
  [[nodiscard]] const char* name(std::size_t index) const { return names_[index].c_str(); }

  // The three stages of chunk number `index`, enqueued.
  void copy_in(std::size_t index, StreamView stream) { stream.copy(input(index)); }
  /// As many launches as there are kernels for a chunk.
  void launch(std::size_t index, StreamView stream);
  void copy_out(std::size_t index, StreamView stream) { stream.copy(output(index)); }
  /// The copies of a chunk, for whoever wants to submit several at once.
  [[nodiscard]] Copy input(std::size_t index) const;
  [[nodiscard]] Copy output(std::size_t index) const;
  /// A kernel over one element that does next to nothing.
  void launch_empty(StreamView stream);

  // Each stage of the whole payload, in as few operations as fit the device: one, where all of it does.
  void copy_all_in(StreamView stream);
  void launch_all(StreamView stream);
  void copy_all_out(StreamView stream);
  [[nodiscard]] std::size_t operations_for_all() const { return pieces().size(); }
  /// All three by blocking copies, piece after piece.
  void run_blocking(StreamView default_stream);
  /// One kernel that reads and writes the host's memory itself.
  void launch_on_host_memory(StreamView stream, unsigned blocks);

  void prepare() { payload_->prepare(); }
  void poison_all() { payload_->poison_all(); }
  void poison_host_out() { payload_->poison_host_out(); }
  /// Where copy_all_in() writes, and where copy_all_out() reads.
  void poison_stage_input() { payload_->poison_device(payload_->device_in(), piece_elements()); }
  void poison_stage_output() { payload_->poison_device(payload_->device_out() + out_place(), piece_elements()); }
  /// Throws VerificationError, which begins with `what`, unless the host's output is right.
  void check(const std::string& what) const;
  /// The same after copy_all_in(), launch_all() and copy_all_out(), which leave the last piece on the device.
  void check_stages(const std::string& what) const;
  /// What copy_all_in() has left on the device, and launch_all(). Both come to the host's output, which is lost.
  void check_stage_input(const std::string& what);
  void check_stage_output(const std::string& what, StreamView stream);
  /// Whether copy_all_out() brings the right output after anything that has computed all of it, launch_all() or not:
  /// the device holds each element in a place of its own.
  [[nodiscard]] bool holds_all_output() const { return pieces().size() == 1 && !shape_.in_place; }
  /// The right output.
  [[nodiscard]] float expected(std::size_t element) const { return payload_->expected(element, shape_.work); }
  /// The host's output of one chunk.
  [[nodiscard]] std::span<const float> output(const model::Chunk& chunk) const {
    return std::span<const float>(payload_->host_out(), payload_->elements()).subspan(chunk.first, chunk.count);
  }

 private:
  /// Where on the device, in elements from the buffer's begin, a chunk is held.
  [[nodiscard]] std::size_t place(std::size_t index) const;
  [[nodiscard]] kernels::Elementwise kernel(const model::Chunk& chunk, std::size_t place, std::size_t out_place,
                                            unsigned blocks) const;
  [[nodiscard]] Copy copy(Direction direction, const model::Chunk& chunk, std::size_t place) const;
  /// Parts of the whole payload that fit the device at once. In place, input and output of a stage share the buffer.
  [[nodiscard]] std::vector<model::Chunk> pieces() const { return pieces_of(piece_elements()); }
  [[nodiscard]] std::vector<model::Chunk> pieces_of(std::size_t step) const;
  [[nodiscard]] std::size_t piece_elements() const;
  /// The last element of the payload that was in the place of element `i` when all pieces have been on the device.
  [[nodiscard]] std::size_t last_in_place_of(std::size_t i) const;
  [[nodiscard]] std::size_t out_place() const { return shape_.in_place ? piece_elements() : 0; }

  Device& device_;
  Shape shape_;
  std::shared_ptr<Payload> payload_;
  std::vector<model::Chunk> chunks_;
  std::vector<std::string> names_;
  std::size_t slot_elements_ = 0;  ///< of each slot; 0: every chunk has its own place
};

/// The chunks of all rounds, in order.
std::vector<model::Chunk> cut(const ChunkedWork::Shape& shape);

}  // namespace xferbench
