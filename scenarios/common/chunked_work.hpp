// A payload that is copied to the GPU in chunks, processed and copied back, and its verification. Scenarios decide
// which chunk runs when and in which stream.
#pragma once

#include <cstddef>

#include "device/device.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/own_kernel.hpp"
#include "model/partition.hpp"
#include "run/scenario.hpp"
#include "scenarios/common/own_kernel_choice.hpp"
#include "scenarios/common/payload.hpp"

namespace xferbench {

/// One way of cutting a payload into chunks and placing them in device buffers ("slots"), which the chunks reuse.
class ChunkedWork {
 public:
  static constexpr std::size_t kElement = Payload::kElement;

  struct Shape {
    std::size_t bytes = 0;   ///< bytes per direction in one round; a whole number of elements
    std::size_t chunks = 1;  ///< chunks per round
    double growth = 1;       ///< length of each chunk divided by that of the previous one
    std::size_t rounds = 1;  ///< number of payloads processed one after another
    std::size_t slots = 0;   ///< chunks that the device holds at once; 0: all
    bool in_place = false;
    kernels::ElementwiseOp op = kernels::ElementwiseOp::fma;
    std::shared_ptr<const OwnKernelChoice> own{};  ///< a user's kernel that replaces `op`
    std::uint32_t work = 1;                        ///< operations per element
    std::size_t kernels_per_chunk = 1;
    unsigned blocks = 0;  ///< grid size of each kernel; 0: one thread per four elements
    std::uint64_t seed = 0;
    bool costs = true;  ///< whether the device buffers must also suffice for measuring the cost of operations
    const char* in_one_piece = "--strategy serial";  ///< flag to suggest if the kernel cannot be chunked

    [[nodiscard]] std::size_t element_bytes() const { return own ? own->element_bytes() : kElement; }
    /// Bytes of a unit, the smallest part that must stay in one chunk: a row, or an element if there are no rows.
    [[nodiscard]] std::size_t unit_bytes() const {
      return own && own->row_bytes > 0 ? own->row_bytes : element_bytes();
    }
    /// Returns `least` bytes, rounded up to a multiple of unit_bytes().
    [[nodiscard]] std::size_t in_units(std::size_t least) const {
      return (least + unit_bytes() - 1) / unit_bytes() * unit_bytes();
    }
    /// Number of units (rows or elements) in one round.
    [[nodiscard]] std::size_t units() const { return bytes / unit_bytes(); }
    [[nodiscard]] Shape seeded(std::uint64_t other) const {
      Shape shape = *this;
      shape.seed = other;
      return shape;
    }
  };

  /// Returns why this payload cannot be cut in this way on a device with capabilities `can` (null: on any device);
  /// nothing if it can. The reason names the flags to change.
  static std::optional<SkipReason> skip_reason(const Shape& shape, const Capabilities* can);
  /// Returns the sizes of the payload buffers that this way of cutting requires.
  static Payload::Shape payload_of(const Shape& shape);
  static MemoryNeeds needs(const Shape& shape) { return Payload::needs(payload_of(shape)); }

  /// Uses the buffers of `payload`, whose device buffers must be at least as large as payload_of() says, or allocates a
  /// payload if it is null. Also loads the kernel.
  ChunkedWork(Device& device, const Shape& shape, std::shared_ptr<Payload> payload = nullptr);

  /// Chunks of all rounds, in order.
  [[nodiscard]] std::span<const model::Chunk> chunks() const { return chunks_; }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  /// Bytes of all rounds together, per direction.
  [[nodiscard]] std::size_t bytes() const { return shape_.bytes * shape_.rounds; }
  [[nodiscard]] std::size_t elements() const { return bytes() / shape_.element_bytes(); }
  [[nodiscard]] std::uint32_t work() const { return shape_.work; }
  void set_work(std::uint64_t work) { shape_.work = static_cast<std::uint32_t>(work); }
  [[nodiscard]] const std::shared_ptr<Payload>& payload() const { return payload_; }

  /// Returns the name of chunk `index` for profiler marks, for example "chunk 7". Stored, so that marks cost little.
  [[nodiscard]] const char* name(std::size_t index) const { return names_[index].c_str(); }

  void copy_in(std::size_t index, StreamView stream) { stream.copy(input(index)); }
  /// Enqueues the Shape::kernels_per_chunk kernels of chunk `index`.
  void launch(std::size_t index, StreamView stream);
  void copy_out(std::size_t index, StreamView stream) { stream.copy(output(index)); }
  /// The two copies of chunk `index`, for callers that submit the copies of several chunks in one call.
  [[nodiscard]] Copy input(std::size_t index) const;
  [[nodiscard]] Copy output(std::size_t index) const;
  /// Enqueues a kernel on one element or one row: its duration is almost only launch cost.
  void launch_empty(StreamView stream);

  // These functions enqueue one stage of the whole payload in as few operations as possible: one if the device buffers
  // hold the whole payload. `parts` cuts each copy further into equal parts, of at least one unit (unit_bytes()).
  void copy_all_in(StreamView stream, std::size_t parts = 1);
  void launch_all(StreamView stream);
  void copy_all_out(StreamView stream, std::size_t parts = 1);
  [[nodiscard]] std::size_t operations_for_all() const { return pieces().size(); }
  /// Runs all three stages with blocking copies, one piece after another.
  void run_blocking(StreamView default_stream);
  /// Enqueues one kernel that reads and writes the payload in host memory directly.
  void launch_on_host_memory(StreamView stream, unsigned blocks);

  void prepare() { payload_->prepare(); }
  void poison_all() { payload_->poison_all(); }
  void poison_host_out() { payload_->poison_host_out(); }
  /// Poisons the device memory that copy_all_in() writes.
  void poison_stage_input() { payload_->poison_device(payload_->device_in(), in_place_of_pieces() + piece_bytes()); }
  /// Poisons the device memory that copy_all_out() reads.
  void poison_stage_output() { payload_->poison_device(payload_->device_out() + out_place(), piece_bytes()); }
  /// Checks the output in host memory. If it is wrong, throws VerificationError, whose message begins with `what`.
  void check(const std::string& what) const;
  /// Like check(), for output of the chunks. If output is wrong because the kernel cannot be chunked, the error says
  /// so.
  void check_chunked(const std::string& what);
  /// Called after wrong output of a user's kernel: runs the chunks strictly one after another and checks again. Throws
  /// VerificationError if that output is wrong, too, because then the kernel cannot be chunked like this, or if the
  /// kernel is not deterministic. No effect for built-in kernels.
  void require_chunkable();
  /// Like check(), for the output of copy_all_in(), launch_all() and copy_all_out(). If the device holds only a piece
  /// of the payload at a time, the pieces overwrite each other there. So each element is compared with the element that
  /// was stored last in the same place.
  void check_stages(const std::string& what) const;
  /// The next two functions check the data that copy_all_in() or launch_all() has left on the device. Both overwrite
  /// the host's output buffer.
  void check_stage_input(const std::string& what);
  void check_stage_output(const std::string& what, StreamView stream);
  /// Whether each element has its own place on the device, so that copy_all_out() returns the right output after any
  /// computation of all elements, not only after launch_all().
  [[nodiscard]] bool holds_all_output() const { return pieces().size() == 1 && !shape_.in_place; }
  /// Returns the expected output of a built-in kernel for one element.
  [[nodiscard]] float expected(std::size_t element) const { return payload_->expected(element, shape_.work); }
  /// Returns the bytes of the host's output buffer that belong to `chunk`.
  [[nodiscard]] std::span<const std::byte> output(const model::Chunk& chunk) const {
    return bytes_of(chunk, payload_->host_out());
  }
  /// Returns the bytes of `chunk` in a buffer `all` that holds the whole payload.
  [[nodiscard]] std::span<const std::byte> bytes_of(const model::Chunk& chunk, const std::byte* all) const {
    return {all + chunk.first * shape_.element_bytes(), chunk.count * shape_.element_bytes()};
  }

 private:
  /// Launches the kernel on (part of) a chunk; `place` and `out_place` are byte offsets in the device buffers.
  void launch_over(const model::Chunk& chunk, std::size_t place, std::size_t out_place, unsigned blocks,
                   StreamView stream);
  [[nodiscard]] kernels::Elementwise built_in(const model::Chunk& chunk, std::size_t place, std::size_t out_place,
                                              unsigned blocks) const;
  [[nodiscard]] kernels::OwnKernel own_kernel(const std::byte* in, std::byte* out, std::size_t elements) const;
  /// Throws VerificationError unless each element is the input plus `work`, the result of most built-in kernels.
  void check_plus(std::uint32_t work, std::span<const std::byte> bytes, const std::string& what) const;
  /// Throws VerificationError unless all bytes are equal to those at `right`; NaNs are compared by their bytes, too.
  void compare(std::span<const std::byte> bytes, const std::byte* right, const std::string& what) const;
  [[nodiscard]] Copy copy(Direction direction, const model::Chunk& chunk, std::size_t place) const;
  /// Enqueues the copies of all pieces, each to or from the same device offset.
  void copy_all(Direction direction, std::size_t place, std::size_t parts, StreamView stream);
  /// Returns the pieces: the parts of the whole payload that fit in the device buffers at once. In place, the input and
  /// the output of a piece share one buffer.
  [[nodiscard]] std::vector<model::Chunk> pieces() const { return pieces_of(piece_elements()); }
  [[nodiscard]] std::vector<model::Chunk> pieces_of(std::size_t step) const;
  [[nodiscard]] std::size_t piece_elements() const;
  [[nodiscard]] bool is_one_piece() const { return piece_elements() == elements(); }
  /// Returns the index of the last element stored in the same place as element `i` when all pieces are processed.
  [[nodiscard]] std::size_t last_in_place_of(std::size_t i) const;
  [[nodiscard]] std::size_t piece_bytes() const { return piece_elements() * shape_.element_bytes(); }
  [[nodiscard]] std::size_t in_place_of_pieces() const { return Payload::halo_room(payload_->shape()); }
  [[nodiscard]] std::size_t out_place() const { return in_place_of_pieces() + (shape_.in_place ? piece_bytes() : 0); }

  Device& device_;
  Shape shape_;
  std::shared_ptr<Payload> payload_;
  std::vector<model::Chunk> chunks_;
  std::vector<std::size_t> places_;  ///< byte offset of each chunk in the device buffers
  std::vector<std::string> names_;
};

std::vector<model::Chunk> cut(const ChunkedWork::Shape& shape);

}  // namespace xferbench
