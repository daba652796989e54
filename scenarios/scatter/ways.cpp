#include "scenarios/scatter/ways.hpp"

#include <stdexcept>
#include <utility>

#include "kernels/delay.hpp"
#include "kernels/pieces.hpp"
#include "measure/region.hpp"
#include "scenarios/scatter/device_list.hpp"

namespace xferbench {

namespace {

using CopyList = std::vector<Copy>;

Stream new_stream(Device& device) { return device.make_stream(StreamKind::nonblocking); }

/// One call for each piece, round-robin over the streams.
class Calls final : public PieceMover {
 public:
  Calls(Device& device, const ScatterCase& c, CopyList copies)
      : copies_(std::move(copies)), blocks_host_(is_pageable(c.memory)) {
    for (std::size_t i = 0; i < c.streams; ++i) streams_.push_back(new_stream(device));
  }
  void submit() override {
    std::size_t next = 0;
    for (const Copy& copy : copies_) {
      streams_[next].copy(copy);
      next = next + 1 == streams_.size() ? 0 : next + 1;
    }
  }
  [[nodiscard]] std::vector<StreamView> streams() const override { return {streams_.begin(), streams_.end()}; }
  /// Hazard: a call that blocks the host must not be behind a gate, which the host opens afterwards.
  [[nodiscard]] std::size_t operations() const override {
    return blocks_host_ ? RegionTimer::kGateLimit + 1 : (copies_.size() - 1) / streams_.size() + 1;
  }

 private:
  CopyList copies_;
  bool blocks_host_;
  std::vector<Stream> streams_;
};

/// Base of the ways that enqueue one operation to one stream.
class OneCall : public PieceMover {
 public:
  explicit OneCall(Device& device) : stream_(new_stream(device)) {}
  [[nodiscard]] std::vector<StreamView> streams() const override { return {stream_}; }
  [[nodiscard]] std::size_t operations() const override { return 1; }

 protected:
  [[nodiscard]] StreamView stream() const { return stream_; }

 private:
  Stream stream_;
};

class GraphOfCalls final : public OneCall {
 public:
  GraphOfCalls(Device& device, const CopyList& copies)
      : OneCall(device),
        graph_(stream().capture([&] {
          for (const Copy& copy : copies) stream().copy(copy);
        })),
        copies_(copies.size()) {}
  void submit() override { stream().replay(graph_); }
  [[nodiscard]] std::size_t operations() const override { return copies_; }

 private:
  Graph graph_;
  std::size_t copies_;
};

class Batch final : public OneCall {
 public:
  Batch(Device& device, const ScatterCase& c, CopyList copies) : OneCall(device), batch_(std::move(copies)) {
    batch_.order = c.order;
    batch_.beside_kernels = c.beside_kernels;
    batch_.as_volumes = c.way == ScatterWay::batch_3d;
    if (!c.behind_kernel) return;
    first_.emplace(*c.behind_kernel);
    device.preload(*first_);
  }
  void submit() override {
    if (first_) stream().launch(*first_);
    stream().copy_batch(batch_);
  }

  /// A batch of 16,384 copies fits behind a gate, one of 100,000 does not (H100, driver 580). A batch inside the GPU or
  /// of volumes is carried out as single copies, and one whose sources are read during the call makes the call wait.
  [[nodiscard]] std::size_t operations() const override {
    constexpr std::size_t kCopiesOfOperation = 32;
    const bool waits = batch_.order == SourceOrder::during_call || batch_.copies.front().direction == Direction::d2d;
    if (batch_.as_volumes) return batch_.copies.size() + 1;
    return waits ? RegionTimer::kGateLimit + 1 : batch_.copies.size() / kCopiesOfOperation + 2;
  }

 private:
  CopyBatch batch_;
  std::optional<kernels::Delay> first_;
};

class Strided final : public OneCall {
 public:
  Strided(Device& device, const CopyList& copies)
      : OneCall(device), copy_{.first = copies.front(), .rows = copies.size()} {
    const bool one = copies.size() == 1;
    const auto apart = [&](const std::byte* first, const std::byte* second) {
      return one ? copy_.first.bytes : static_cast<std::size_t>(second - first);
    };
    copy_.destination_pitch = apart(copies.front().destination, copies[one ? 0 : 1].destination);
    copy_.source_pitch = apart(copies.front().source, copies[one ? 0 : 1].source);
  }
  void submit() override { stream().copy_strided(copy_); }

 private:
  StridedCopy copy_;
};

unsigned multiprocessors_of(const Device& device) {
  return static_cast<unsigned>(device.capabilities().environment.gpu.multiprocessors);
}

/// Returns the number of blocks if the user does not choose: enough to fill the link with pieces of any size, as a
/// sweep on an H100 and an H200 showed (docs/lab/scatter.md).
unsigned usual_blocks(const Device& device, const ScatterCase& c, Direction direction) {
  constexpr unsigned kStaged = 66;
  constexpr unsigned kReads = 33;
  constexpr unsigned kWrites = 16;
  if (direction == Direction::d2d) return 2 * multiprocessors_of(device);
  if (c.way == ScatterWay::staged) return kStaged;
  return direction == Direction::d2h && c.way == ScatterWay::kernel ? kWrites : kReads;
}

class ByKernel final : public OneCall {
 public:
  ByKernel(Device& device, const ScatterCase& c, CopyList copies)
      : OneCall(device),
        copies_(std::make_shared<const CopyList>(std::move(copies))),
        list_(device, c.list, *copies_),
        blocks_(c.blocks.value_or(usual_blocks(device, c, copies_->front().direction))),
        kernel_(c.way == ScatterWay::bulk ? kernels::PieceEngine::bulk : kernels::PieceEngine::threads, copies_,
                *copies_, list_.entries(), blocks_),
        multiprocessors_(std::min(blocks_, multiprocessors_of(device))) {
    device.preload(kernel_);
  }
  void submit() override {
    list_.bring(stream());
    stream().launch(kernel_);
  }
  [[nodiscard]] std::size_t operations() const override { return 2; }
  [[nodiscard]] unsigned multiprocessors() const override { return multiprocessors_; }
  void submit_kernels(StreamView on) override { on.launch(kernel_); }

 private:
  std::shared_ptr<const CopyList> copies_;
  DeviceList list_;
  unsigned blocks_;
  kernels::PieceCopy kernel_;
  unsigned multiprocessors_;
};

/// Copies gapless ranges of host memory to or from a buffer on the GPU, in chunks, while a kernel spreads the previous
/// chunk to its places, or packs the next one. Chunks become smaller towards the end at which only the kernel works.
class Staged final : public PieceMover {
 public:
  Staged(Device& device, const ScatterCase& c, CopyList copies)
      : direction_(copies.front().direction),
        buffer_(device.allocate_device(c.size)),
        link_(new_stream(device)),
        inside_(new_stream(device)) {
    const bool to_gpu = direction_ == Direction::h2d;
    const std::vector<HostSpan> spans = host_spans(copies, to_gpu, halving_borders(c.size, c.chunks, !to_gpu));
    moves_ = std::make_shared<const CopyList>(through_buffer(copies, buffer_.data));
    list_.emplace(device, c.list, *moves_);
    blocks_ = c.blocks.value_or(usual_blocks(device, c, direction_));
    multiprocessors_ = std::min(blocks_, multiprocessors_of(device));
    for (const HostSpan& span : spans) add(device, span, copies[span.first]);
    device.preload(chunks_.front().kernel);
  }

  void submit() override {
    const bool to_gpu = direction_ == Direction::h2d;
    StreamView first = to_gpu ? link_ : inside_;
    StreamView second = to_gpu ? inside_ : link_;
    list_->bring(inside_);
    for (const Chunk& chunk : chunks_) {
      to_gpu ? first.copy(chunk.copy) : first.launch(chunk.kernel);
      first.record(chunk.ready);
      second.wait(chunk.ready);
      to_gpu ? second.launch(chunk.kernel) : second.copy(chunk.copy);
    }
  }
  [[nodiscard]] std::vector<StreamView> streams() const override { return {link_, inside_}; }
  [[nodiscard]] std::size_t operations() const override { return 2 * chunks_.size() + 1; }
  [[nodiscard]] unsigned multiprocessors() const override { return multiprocessors_; }
  void submit_kernels(StreamView on) override {
    for (const Chunk& chunk : chunks_) on.launch(chunk.kernel);
  }

 private:
  struct Chunk {
    Copy copy;  ///< copy over the link
    kernels::PieceCopy kernel;
    Event ready;  ///< recorded after the copy (H2D) or the kernel (D2H), whichever is first in its direction
  };

  /// `first`: copy of the span's first piece, between host and GPU.
  void add(Device& device, const HostSpan& span, const Copy& first) {
    std::byte* const staged = buffer_.data + span.offset;
    const Copy copy = direction_ == Direction::h2d ? Copy{staged, first.source, span.bytes, direction_}
                                                   : Copy{first.destination, staged, span.bytes, direction_};
    const std::span<const Copy> part = std::span(*moves_).subspan(span.first, span.count);
    chunks_.push_back({copy,
                       {kernels::PieceEngine::threads, moves_, part, list_->entries() + span.first, blocks_},
                       device.make_event(EventKind::ordering)});
  }

  Direction direction_;
  DeviceBuffer buffer_;
  std::shared_ptr<const CopyList> moves_;  // between buffer_ and the places on the GPU
  std::optional<DeviceList> list_;
  unsigned blocks_ = 0;
  unsigned multiprocessors_ = 0;
  std::vector<Chunk> chunks_;
  Stream link_;
  Stream inside_;
};

}  // namespace

std::unique_ptr<PieceMover> make_piece_mover(Device& device, const ScatterCase& c, CopyList copies) {
  switch (c.way) {
    case ScatterWay::calls: return std::make_unique<Calls>(device, c, std::move(copies));
    case ScatterWay::graph: return std::make_unique<GraphOfCalls>(device, copies);
    case ScatterWay::batch:
    case ScatterWay::batch_3d: return std::make_unique<Batch>(device, c, std::move(copies));
    case ScatterWay::strided: return std::make_unique<Strided>(device, copies);
    case ScatterWay::kernel:
    case ScatterWay::bulk: return std::make_unique<ByKernel>(device, c, std::move(copies));
    case ScatterWay::staged: return std::make_unique<Staged>(device, c, std::move(copies));
    case ScatterWay::packed: return make_packed_mover(device, c, std::move(copies));
  }
  throw std::logic_error("unknown way of moving pieces");
}

}  // namespace xferbench
