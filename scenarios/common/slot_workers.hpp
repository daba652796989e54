// CPU threads that move a payload through slots: page-locked buffers. Each thread fills or empties one slot while the
// copy engine reads or writes another. The scenarios, staging and storage, define how a slot is filled.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "core/non_copyable.hpp"
#include "device/device.hpp"
#include "device/types.hpp"
#include "measure/worker.hpp"
#include "model/partition.hpp"

namespace xferbench {

/// What the threads of a pool did in the last pass; seconds are summed over the threads.
struct WorkTimes {
  double moving = 0;   ///< filling or emptying slots
  double waiting = 0;  ///< waiting until a slot had crossed the link
  double cpu = 0;
  double first = 0;  ///< from the start of the pass until the first chunk had crossed the link; 0: not measured
};

class WorkerPool : NonCopyable {
 public:
  virtual ~WorkerPool() = default;

  /// Moves the whole payload once and waits until it has arrived. Rethrows an error of a thread.
  virtual void transfer_payload() = 0;
  [[nodiscard]] virtual WorkTimes times() const { return {}; }
};

/// Worker pool whose threads fill or empty slots.
class SlotPool : public WorkerPool {
 public:
  /// Fills (H2D) or empties (D2H) the same slots for the whole payload, but nothing crosses the link.
  virtual void move_only() = 0;
};

/// How the threads share slots and streams.
enum class SlotCrew {
  apart,       ///< each thread has its own slots and stream
  one_stream,  ///< each thread has its own slots; all copies are in one stream
  together,    ///< all threads fill or empty one slot at a time; all copies are in one stream
};
inline constexpr std::array<std::string_view, 3> kSlotCrews{"apart", "one-stream", "together"};

/// Moves data between a slot and its place on the host side: host memory or a file.
class SlotFiller : NonCopyable {
 public:
  virtual ~SlotFiller() = default;
  /// Fills a slot with a part of the payload (H2D) or writes it from the slot to its place (D2H), on the calling
  /// thread, which is number `thread` of the pool. `slot`: address in the slot of the part's first byte; offset and
  /// length of `part` are in bytes.
  virtual void move(std::size_t thread, std::byte* slot, const model::Chunk& part) const = 0;
};

/// Called after the copy of a chunk to the GPU was submitted, on the thread that did so, with an event that is recorded
/// after the copy. Hazard: the event is recorded again for a later chunk, so streams must be told to wait for it before
/// the call returns.
using AfterCopy = std::function<void(EventView copied, const model::Chunk& chunk)>;

struct SlotPlan {
  Direction direction = Direction::h2d;
  std::byte* on_gpu = nullptr;  ///< place of the payload; null: only move_only() will be called
  /// Maps an offset in the payload to an offset in `on_gpu`, both in bytes; empty: equal offsets.
  std::function<std::uint64_t(std::uint64_t)> place_of{};
  std::vector<model::Chunk> chunks{};  ///< offsets and lengths in bytes
  std::size_t threads = 1;
  std::size_t slots = 1;       ///< slots of each thread or, with SlotCrew::together, of all threads
  std::size_t slot_bytes = 0;  ///< bytes of the largest chunk
  HostMemory memory = HostMemory::pinned;
  SlotCrew crew = SlotCrew::apart;
  Worker::Idle idle = Worker::Idle::sleep;
  bool time_first = false;  ///< whether WorkTimes::first is measured
  AfterCopy after_copy{};   ///< for H2D only; may be empty
};

/// Creates the worker pool. `filler` must outlive it.
std::unique_ptr<SlotPool> make_slot_workers(Device& device, const SlotPlan& plan, const SlotFiller& filler);

/// Returns the copy of one chunk between a slot and its place on the GPU.
[[nodiscard]] Copy copy_of(const SlotPlan& plan, std::byte* slot, const model::Chunk& chunk);

/// The list of a pass's chunks, from which each free thread takes the next one.
class ChunkQueue {
 public:
  explicit ChunkQueue(std::vector<model::Chunk> chunks) : chunks_(std::move(chunks)) {}
  void restart() { next_ = 0; }
  const model::Chunk* take() {
    const std::size_t number = next_.fetch_add(1, std::memory_order_relaxed);
    return number < chunks_.size() ? &chunks_[number] : nullptr;
  }

 private:
  std::vector<model::Chunk> chunks_;
  std::atomic<std::size_t> next_{0};
};

/// A thread pool: its worker threads are created once and wait between passes.
class WorkerThreads {
 public:
  WorkerThreads(HostRuntime& host, std::size_t count, Worker::Idle idle);

  [[nodiscard]] std::size_t count() const { return threads_.size(); }
  /// Runs task(i) on thread i, for every thread i. Does not wait for the threads.
  void start(std::function<void(std::size_t)> task);
  /// Waits until all threads have ended their tasks. Rethrows the first error.
  void finish();

 private:
  void start_range(std::size_t first, std::size_t last) noexcept;

  std::function<void(std::size_t)> task_;
  std::vector<std::unique_ptr<Worker>> threads_;
};

/// Owns the streams of the threads: one per thread, or a single one for all.
class WorkerStreams {
 public:
  WorkerStreams(Device& device, std::size_t count);
  [[nodiscard]] StreamView of(std::size_t thread) const { return streams_[thread % streams_.size()]; }

 private:
  std::vector<Stream> streams_;
};

/// Moves chunks on one thread, with at most places.size() of them in flight. send() starts the transfer of a chunk;
/// receive() waits for it and finishes it. Chunks are received in the order in which they were sent.
template <class Place>
void transfer_by_turns(std::vector<Place>& places, ChunkQueue& work) {
  std::size_t sent = 0;
  std::size_t arrived = 0;
  const auto place = [&places](std::size_t turn) -> Place& { return places[turn % places.size()]; };
  for (;;) {
    // Places not yet used in this pass are free, because every pass ends after all chunks have arrived.
    if (sent - arrived == places.size()) place(arrived++).receive();
    const model::Chunk* chunk = work.take();
    if (chunk == nullptr) break;
    place(sent++).send(*chunk);
  }
  while (arrived < sent) place(arrived++).receive();
}

/// Worker pool in which each thread has places of its own for chunks. The threads share only the list of chunks and, if
/// requested, a stream.
template <class Place, class Base = WorkerPool>
class IndependentWorkers : public Base {
 public:
  using MakePlaces = std::function<std::vector<Place>(std::size_t)>;

  /// make_places(i) returns the places of thread i. `gear` owns the objects to which the places refer.
  IndependentWorkers(HostRuntime& host, std::vector<model::Chunk> chunks, std::size_t threads, Worker::Idle idle,
                     std::shared_ptr<void> gear, const MakePlaces& make_places)
      : work_(std::move(chunks)), gear_(std::move(gear)), threads_(host, threads, idle) {
    for (std::size_t i = 0; i < threads; ++i) places_.push_back(make_places(i));
  }

  void transfer_payload() override {
    work_.restart();
    threads_.start([this](std::size_t i) { run(i); });
    threads_.finish();
  }

 protected:
  virtual void run(std::size_t thread) { transfer_by_turns(places_[thread], work_); }
  [[nodiscard]] std::vector<Place>& places_of(std::size_t thread) { return places_[thread]; }
  [[nodiscard]] const std::vector<std::vector<Place>>& places() const { return places_; }

 private:
  ChunkQueue work_;
  std::shared_ptr<void> gear_;
  std::vector<std::vector<Place>> places_;
  WorkerThreads threads_;  // last member: its threads use all other members
};

}  // namespace xferbench
