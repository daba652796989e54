// Scattered pieces by CPU threads: they pack pieces into page-locked slots, which cross the link as whole copies, and a
// kernel spreads them on the GPU; or, in the other direction, a kernel packs and the threads unpack.
#include "scenarios/scatter/ways.hpp"

#include <cstring>
#include <utility>

#include "core/units.hpp"
#include "measure/region.hpp"
#include "measure/worker.hpp"
#include "scenarios/scatter/device_list.hpp"

namespace xferbench {

namespace {

constexpr std::size_t kSlotsEach = 2;  // so that a thread packs one slot while the other crosses the link

/// Data that all threads share. `moves` are the copies between `staging` on the GPU and the places on the GPU.
struct PackedWork {
  Direction direction;
  DeviceBuffer staging;
  std::shared_ptr<const std::vector<Copy>> pieces;  ///< copies between host and GPU
  std::shared_ptr<const std::vector<Copy>> moves;
  DeviceList list;
  unsigned blocks;
};

/// Consecutive pieces that one thread moves through one slot.
struct PackedChunk {
  std::size_t first;
  std::size_t count;
  std::size_t offset;  ///< byte offset in the staging buffer
  std::size_t bytes;
  kernels::PieceCopy kernel;
};

/// The stream, slots and chunks of one thread.
class Packer : NonCopyable {
 public:
  Packer(Device& device, const PackedWork& work, std::size_t slot)
      : host_(device.host()), work_(work), stream_(device.make_stream(StreamKind::nonblocking)) {
    for (std::size_t i = 0; i < kSlotsEach; ++i) {
      slots_[i] = device.allocate_host(slot, HostMemory::pinned);
      passed_[i] = device.make_event(EventKind::ordering);
    }
  }

  void add(PackedChunk chunk) { chunks_.push_back(std::move(chunk)); }
  [[nodiscard]] StreamView stream() const { return stream_; }
  [[nodiscard]] double cpu_seconds() const { return cpu_; }

  void submit_kernels(StreamView stream) const {
    for (const PackedChunk& chunk : chunks_) stream.launch(chunk.kernel);
  }

  void move_all() {
    const double begun = host_.cpu_now();
    work_.direction == Direction::h2d ? pack_all() : unpack_all();
    cpu_ = host_.cpu_now() - begun;
  }

 private:
  void pack_all() {
    for (std::size_t i = 0; i < chunks_.size(); ++i) {
      const std::size_t slot = i % kSlotsEach;
      if (i >= kSlotsEach) passed_[slot].synchronize();
      for_pieces(i, [](std::byte* in_slot, const Copy& piece) { std::memcpy(in_slot, piece.source, piece.bytes); });
      const PackedChunk& chunk = chunks_[i];
      stream_.copy({work_.staging.data + chunk.offset, slots_[slot].data, chunk.bytes, Direction::h2d});
      stream_.record(passed_[slot]);
      stream_.launch(chunk.kernel);
    }
  }

  void unpack_all() {
    for (std::size_t i = 0; i <= chunks_.size(); ++i) {
      if (i < chunks_.size()) fetch(i);
      if (i == 0) continue;
      passed_[(i - 1) % kSlotsEach].synchronize();
      for_pieces(i - 1,
                 [](std::byte* in_slot, const Copy& piece) { std::memcpy(piece.destination, in_slot, piece.bytes); });
    }
  }

  /// Enqueues the packing of a chunk on the GPU and its copy to its slot.
  void fetch(std::size_t i) {
    const PackedChunk& chunk = chunks_[i];
    stream_.launch(chunk.kernel);
    stream_.copy({slots_[i % kSlotsEach].data, work_.staging.data + chunk.offset, chunk.bytes, Direction::d2h});
    stream_.record(passed_[i % kSlotsEach]);
  }

  /// Calls body(address in the slot, piece) for each piece of a chunk.
  template <class Body>
  void for_pieces(std::size_t i, const Body& body) {
    const PackedChunk& chunk = chunks_[i];
    std::byte* in_slot = slots_[i % kSlotsEach].data;
    host_.work({.bytes_copied = chunk.bytes}, [&] {
      for (const Copy& piece : std::span(*work_.pieces).subspan(chunk.first, chunk.count)) {
        body(in_slot, piece);
        in_slot += piece.bytes;
      }
    });
  }

  HostRuntime& host_;
  const PackedWork& work_;
  std::array<HostBuffer, kSlotsEach> slots_;
  std::array<Event, kSlotsEach> passed_;  // per slot: recorded when the slot may be used again
  std::vector<PackedChunk> chunks_;
  double cpu_ = 0;
  Stream stream_;
};

PackedWork work_of(Device& device, const ScatterCase& c, std::vector<Copy> copies) {
  constexpr unsigned kBlocks = 32;  // blocks of each kernel; as many kernels run at once as there are threads
  const Direction direction = copies.front().direction;
  DeviceBuffer staging = device.allocate_device(c.size);
  auto moves = std::make_shared<const std::vector<Copy>>(through_buffer(copies, staging.data));
  DeviceList list(device, c.list, *moves);
  return {direction,        std::move(staging), std::make_shared<const std::vector<Copy>>(std::move(copies)),
          std::move(moves), std::move(list),    c.blocks.value_or(kBlocks)};
}

class Packed final : public PieceMover {
 public:
  Packed(Device& device, const ScatterCase& c, std::vector<Copy> copies)
      : work_(work_of(device, c, std::move(copies))),
        root_(device.make_stream(StreamKind::nonblocking)),
        listed_(device.make_event(EventKind::ordering)) {
    constexpr std::size_t kLeast = 256 * KiB;
    constexpr std::size_t kLargest = 4 * MiB;
    const std::size_t chunk = std::clamp(c.size / (4 * c.threads), std::min(kLeast, c.size), kLargest);
    const std::size_t slot = std::max(chunk, largest(*work_.pieces));
    for (std::size_t i = 0; i < c.threads; ++i) {
      packers_.push_back(std::make_unique<Packer>(device, work_, slot));
      workers_.push_back(std::make_unique<Worker>(device.host()));
    }
    add_chunks(slot);
    device.preload(kernel(0, 1));
  }

  void submit() override {
    work_.list.bring(root_);
    root_.record(listed_);
    for (std::size_t i = 0; i < packers_.size(); ++i) {
      packers_[i]->stream().wait(listed_);
      workers_[i]->start([&packer = *packers_[i]] { packer.move_all(); });
    }
  }
  void finish() override {
    for (const auto& worker : workers_) worker->finish();
  }
  [[nodiscard]] std::vector<StreamView> streams() const override {
    std::vector<StreamView> all{root_};
    for (const auto& packer : packers_) all.push_back(packer->stream());
    return all;
  }
  /// The threads wait for the GPU, so a closed gate would deadlock: returns more operations than a gate can hold.
  [[nodiscard]] std::size_t operations() const override { return RegionTimer::kGateLimit + 1; }
  [[nodiscard]] double helpers_cpu_seconds() const override {
    return total_of(packers_, [](const auto& packer) { return packer->cpu_seconds(); });
  }
  [[nodiscard]] unsigned multiprocessors() const override { return work_.blocks; }
  void submit_kernels(StreamView on) override {
    for (const auto& packer : packers_) packer->submit_kernels(on);
  }

 private:
  static std::size_t largest(const std::vector<Copy>& copies) {
    return std::ranges::max_element(copies, {}, &Copy::bytes)->bytes;
  }

  [[nodiscard]] kernels::PieceCopy kernel(std::size_t first, std::size_t count) const {
    return {kernels::PieceEngine::threads, work_.moves, std::span(*work_.moves).subspan(first, count),
            work_.list.entries() + first, work_.blocks};
  }

  /// Deals chunks of at most `slot` bytes to the threads in turn.
  void add_chunks(std::size_t slot) {
    const std::vector<Copy>& pieces = *work_.pieces;
    std::size_t offset = 0;
    std::size_t turn = 0;
    for (std::size_t first = 0; first < pieces.size();) {
      std::size_t bytes = 0;
      std::size_t end = first;
      while (end < pieces.size() && bytes + pieces[end].bytes <= slot) bytes += pieces[end++].bytes;
      packers_[turn++ % packers_.size()]->add({first, end - first, offset, bytes, kernel(first, end - first)});
      offset += bytes;
      first = end;
    }
  }

  PackedWork work_;
  Stream root_;
  Event listed_;
  std::vector<std::unique_ptr<Packer>> packers_;
  std::vector<std::unique_ptr<Worker>> workers_;  // last member: its threads use the packers
};

}  // namespace

std::unique_ptr<PieceMover> make_packed_mover(Device& device, const ScatterCase& c, std::vector<Copy> copies) {
  return std::make_unique<Packed>(device, c, std::move(copies));
}

}  // namespace xferbench
