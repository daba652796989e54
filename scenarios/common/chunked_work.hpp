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
#include "kernels/own_kernel.hpp"
#include "model/partition.hpp"
#include "run/scenario.hpp"
#include "scenarios/common/own_kernel_choice.hpp"
#include "scenarios/common/payload.hpp"

namespace xferbench {

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
    std::shared_ptr<const OwnKernelChoice> own{};  ///< a kernel of the user's instead of `op`
    std::uint32_t work = 1;                        ///< operations per element
    std::size_t kernels_per_chunk = 1;
    unsigned blocks = 0;  ///< of each kernel's grid; 0: one thread for every four elements
    std::uint64_t seed = 0;
    bool costs = true;  ///< whether what operations cost is measured beside, over the same payload
    const char* in_one_piece = "--strategy serial";  ///< the scenario's flag for a kernel that cannot be chunked

    [[nodiscard]] std::size_t element_bytes() const { return own ? own->element_bytes() : kElement; }
    /// Bytes that stay in one chunk: those of an element or a row.
    [[nodiscard]] std::size_t unit_bytes() const {
      return own && own->row_bytes > 0 ? own->row_bytes : element_bytes();
    }
    /// At least so many bytes, in such units.
    [[nodiscard]] std::size_t in_units(std::size_t least) const {
      return (least + unit_bytes() - 1) / unit_bytes() * unit_bytes();
    }
    /// How many of them a round has.
    [[nodiscard]] std::size_t units() const { return bytes / unit_bytes(); }
    /// The same with other data.
    [[nodiscard]] Shape seeded(std::uint64_t other) const {
      Shape shape = *this;
      shape.seed = other;
      return shape;
    }
  };

  /// Why a payload cannot be cut so on such a device, or on any, in the words of the flags, or nothing.
  static std::optional<SkipReason> skip_reason(const Shape& shape, const Capabilities* can);
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
  [[nodiscard]] std::size_t elements() const { return bytes() / shape_.element_bytes(); }
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
  /// A kernel over one element, or one row, that does next to nothing.
  void launch_empty(StreamView stream);

  // Each stage of the whole payload, in as few operations as fit the device: one, where all of it does. The copies of
  // what fits can be cut into so many equal parts, as far as it has units.
  void copy_all_in(StreamView stream, std::size_t parts = 1);
  void launch_all(StreamView stream);
  void copy_all_out(StreamView stream, std::size_t parts = 1);
  [[nodiscard]] std::size_t operations_for_all() const { return pieces().size(); }
  /// All three by blocking copies, piece after piece.
  void run_blocking(StreamView default_stream);
  /// One kernel that reads and writes the host's memory itself.
  void launch_on_host_memory(StreamView stream, unsigned blocks);

  void prepare() { payload_->prepare(); }
  void poison_all() { payload_->poison_all(); }
  void poison_host_out() { payload_->poison_host_out(); }
  /// Where copy_all_in() writes, and where copy_all_out() reads.
  void poison_stage_input() { payload_->poison_device(payload_->device_in(), in_place_of_pieces() + piece_bytes()); }
  void poison_stage_output() { payload_->poison_device(payload_->device_out() + out_place(), piece_bytes()); }
  /// Throws VerificationError, which begins with `what`, unless the host's output is right.
  void check(const std::string& what) const;
  /// The same after the chunks went their ways: where it is the kernel that cannot be chunked, the error says that.
  void check_chunked(const std::string& what);
  /// Of a kernel of the user's whose output was wrong: runs chunk after chunk, with nothing beside it. Throws
  /// VerificationError, which says that it cannot be chunked so, if the output is wrong all the same, or that the
  /// kernel comes to something else each time. Nothing for built-in kernels.
  void require_chunkable();
  /// The same after copy_all_in(), launch_all() and copy_all_out(), which leave the last piece on the device.
  void check_stages(const std::string& what) const;
  /// What copy_all_in() has left on the device, and launch_all(). Both come to the host's output, which is lost.
  void check_stage_input(const std::string& what);
  void check_stage_output(const std::string& what, StreamView stream);
  /// Whether copy_all_out() brings the right output after anything that has computed all of it, launch_all() or not:
  /// the device holds each element in a place of its own.
  [[nodiscard]] bool holds_all_output() const { return pieces().size() == 1 && !shape_.in_place; }
  /// The right output of a built-in kernel.
  [[nodiscard]] float expected(std::size_t element) const { return payload_->expected(element, shape_.work); }
  /// The host's output of one chunk.
  [[nodiscard]] std::span<const std::byte> output(const model::Chunk& chunk) const {
    return bytes_of(chunk, payload_->host_out());
  }
  /// What a chunk has of a buffer as long as the payload.
  [[nodiscard]] std::span<const std::byte> bytes_of(const model::Chunk& chunk, const std::byte* all) const {
    return {all + chunk.first * shape_.element_bytes(), chunk.count * shape_.element_bytes()};
  }

 private:
  /// A part of a chunk, or of all, whose input and output are at these places.
  void launch_over(const model::Chunk& chunk, std::size_t place, std::size_t out_place, unsigned blocks,
                   StreamView stream);
  [[nodiscard]] kernels::Elementwise built_in(const model::Chunk& chunk, std::size_t place, std::size_t out_place,
                                              unsigned blocks) const;
  [[nodiscard]] kernels::OwnKernel own_kernel(const std::byte* in, std::byte* out, std::size_t elements) const;
  /// Throws VerificationError unless they are all of the input with the work added, as most kernels leave it.
  void check_plus(std::uint32_t work, std::span<const std::byte> bytes, const std::string& what) const;
  /// Throws VerificationError unless the bytes are the right ones: NaNs are right where their bytes are.
  void compare(std::span<const std::byte> bytes, const std::byte* right, const std::string& what) const;
  [[nodiscard]] Copy copy(Direction direction, const model::Chunk& chunk, std::size_t place) const;
  /// All pieces, each from or to this place.
  void copy_all(Direction direction, std::size_t place, std::size_t parts, StreamView stream);
  /// Parts of the whole payload that fit the device at once. In place, input and output of a stage share the buffer.
  [[nodiscard]] std::vector<model::Chunk> pieces() const { return pieces_of(piece_elements()); }
  [[nodiscard]] std::vector<model::Chunk> pieces_of(std::size_t step) const;
  [[nodiscard]] std::size_t piece_elements() const;
  [[nodiscard]] bool is_one_piece() const { return piece_elements() == elements(); }
  /// The last element of the payload that was in the place of element `i` when all pieces have been on the device.
  [[nodiscard]] std::size_t last_in_place_of(std::size_t i) const;
  [[nodiscard]] std::size_t piece_bytes() const { return piece_elements() * shape_.element_bytes(); }
  [[nodiscard]] std::size_t in_place_of_pieces() const { return Payload::halo_room(payload_->shape()); }
  [[nodiscard]] std::size_t out_place() const { return in_place_of_pieces() + (shape_.in_place ? piece_bytes() : 0); }

  Device& device_;
  Shape shape_;
  std::shared_ptr<Payload> payload_;
  std::vector<model::Chunk> chunks_;
  std::vector<std::size_t> places_;  ///< of each chunk on the device, in bytes from the buffers' begin
  std::vector<std::string> names_;
};

/// The chunks of all rounds, in order.
std::vector<model::Chunk> cut(const ChunkedWork::Shape& shape);

}  // namespace xferbench
