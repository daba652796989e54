// Implements the threads that move a payload through pinned slots, or pin it chunk by chunk.
#include "scenarios/staging/worker_pool.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <utility>
#include <vector>

#include "device/cpu_cache.hpp"
#include "measure/worker.hpp"

namespace xferbench {

namespace {

using model::Chunk;

/// Copies data between the payload and pinned slots, on the calling thread.
class Mover final : public SlotFiller {
 public:
  Mover(Device& device, const StagedPayload& payload, StagingStores stores)
      : host_(device.host()), payload_(payload), stores_(stores) {}

  void move(std::byte* slot, const Chunk& part) const override {
    const auto copy = [&](std::size_t begin, std::size_t end) {
      std::byte* const there = slot + (begin - part.first);
      std::byte* const here = payload_.host.data + begin;
      payload_.direction == Direction::h2d ? write(there, here, end - begin) : write(here, there, end - begin);
    };
    host_.work({.bytes_copied = part.count},
               [&] { payload_.part.for_each(part.first, part.first + part.count, copy); });
  }

 private:
  void write(std::byte* to, const std::byte* from, std::size_t bytes) const {
    if (stores_ == StagingStores::streaming) return copy_past_cache(to, from, bytes);
    std::memcpy(to, from, bytes);
  }

  HostRuntime& host_;
  const StagedPayload& payload_;
  StagingStores stores_;
};

/// A chunk of the payload that is pinned during its transfer.
class PinnedChunk {
 public:
  PinnedChunk(Device& device, const StagedPayload& payload, StreamView stream)
      : device_(device), payload_(payload), stream_(stream), copied_(device.make_event(EventKind::ordering)) {}

  void send(const Chunk& chunk) {
    std::byte* const data = payload_.host.data + chunk.first;
    registration_ = device_.register_host({data, chunk.count, payload_.host.kind});
    stream_.copy(payload_.copy(data, chunk));
    stream_.record(copied_);
  }
  void receive() {
    copied_.synchronize();
    registration_ = Registration();
  }

 private:
  Device& device_;
  const StagedPayload& payload_;
  StreamView stream_;
  Event copied_;
  Registration registration_;
};

/// Worker pool whose threads copy the payload through slots of their own.
class CopyingWorkers final : public WorkerPool {
 public:
  CopyingWorkers(Device& device, const StagedPayload& payload, const StagingCase& c)
      : mover_(device, payload, c.stores),
        workers_(make_slot_workers(device,
                                   {.direction = payload.direction,
                                    .on_gpu = payload.device.data,
                                    .chunks = c.chunks(),
                                    .threads = c.threads,
                                    .slots = c.slots,
                                    .slot_bytes = c.chunk_bytes(),
                                    .memory = c.slot_memory,
                                    .one_stream = c.crew == StagingWorkers::one_stream,
                                    .idle = c.idle},
                                   mover_)) {}
  void transfer_payload() override { workers_->transfer_payload(); }

 private:
  Mover mover_;
  std::unique_ptr<WorkerPool> workers_;
};

std::unique_ptr<WorkerPool> make_registering_workers(Device& device, const StagedPayload& payload,
                                                     const StagingCase& c) {
  // One stream, as switching streams costs copy engines time.
  const auto stream = std::make_shared<WorkerStreams>(device, 1);
  return std::make_unique<IndependentWorkers<PinnedChunk>>(device.host(), c.chunks(), c.threads, c.idle, stream,
                                                           [&](std::size_t thread) {
                                                             std::vector<PinnedChunk> chunks;
                                                             for (std::size_t i = 0; i < c.slots; ++i)
                                                               chunks.emplace_back(device, payload, stream->of(thread));
                                                             return chunks;
                                                           });
}

/// Worker pool in which all threads fill or empty the same slot at once, each its own part, one slot after another. Few
/// slots are enough, chunks can be long, and the first chunk is ready sooner than with one thread per chunk.
///
/// The thread that finishes the last part of a chunk submits the copy of that chunk. Only the thread that called
/// transfer_payload() waits for copies. It has one channel to each thread, through which it tells the thread which
/// chunk comes next, so threads do not contend for a lock.
class SharedRingWorkers final : public WorkerPool {
 public:
  SharedRingWorkers(Device& device, const StagedPayload& payload, const StagingCase& c);

  void transfer_payload() override;

 private:
  static constexpr std::uint64_t kEnd = ~std::uint64_t{0};

  struct Stage {
    Chunk chunk{};
    std::atomic<std::size_t> parts_left{0};
    bool submitted = false;  // used only by the thread that waits for copies
  };

  [[nodiscard]] bool to_device() const { return payload_.direction == Direction::h2d; }
  [[nodiscard]] std::size_t slot_of(std::size_t number) const { return number % copied_.size(); }
  /// Waits for the copies in order. After each copy, offers a chunk to the threads: for H2D the next chunk, which goes
  /// into the free slot; for D2H the chunk that has arrived.
  void follow_copies();
  /// Waits until the copy of chunk `number` has been submitted. Returns false if a thread has failed.
  [[nodiscard]] bool await_submission(std::size_t number);
  void offer(std::size_t number);
  void stop_workers();

  // Called by the worker threads.
  void work(std::size_t thread);
  void move_part(std::size_t thread, std::size_t number);
  /// Called after the last part of chunk `number` has been moved. Submits the copy of that chunk (H2D), or of the next
  /// chunk that uses its slot (D2H).
  void end(std::size_t number);
  void submit(std::size_t number);

  const StagedPayload& payload_;
  Mover mover_;
  std::size_t slot_bytes_;
  HostBuffer ring_;
  Stream stream_;
  std::vector<Event> copied_;                      // per slot: recorded when the copy engine is done with the slot
  std::vector<Stage> stages_;                      // progress of each chunk
  std::unique_ptr<Channel> submitted_;             // numbers of chunks whose copies have been submitted
  std::vector<std::unique_ptr<Channel>> offered_;  // per thread: numbers of the chunks to move, in order
  WorkerThreads threads_;                          // last member: its threads use all other members
};

SharedRingWorkers::SharedRingWorkers(Device& device, const StagedPayload& payload, const StagingCase& c)
    : payload_(payload),
      mover_(device, payload, c.stores),
      slot_bytes_(c.chunk_bytes()),
      ring_(device.allocate_host(slot_bytes_ * c.slots, c.slot_memory)),
      stream_(device.make_stream(StreamKind::nonblocking)),
      stages_(c.chunks().size()),
      submitted_(device.host().make_channel()),
      threads_(device.host(), c.threads, c.idle) {
  for (std::size_t i = 0; i < c.slots; ++i) copied_.push_back(device.make_event(EventKind::ordering));
  for (std::size_t i = 0; i < c.threads; ++i) offered_.push_back(device.host().make_channel());
  const std::vector<Chunk> chunks = c.chunks();
  for (std::size_t i = 0; i < chunks.size(); ++i) stages_[i].chunk = chunks[i];
}

void SharedRingWorkers::transfer_payload() {
  for (Stage& stage : stages_) {
    stage.parts_left = threads_.count();
    stage.submitted = false;
  }
  // At the start of a pass all slots are free, because every pass ends after all chunks have arrived.
  for (std::size_t i = 0; i < std::min(copied_.size(), stages_.size()); ++i) to_device() ? offer(i) : submit(i);
  threads_.start([this](std::size_t thread) { work(thread); });
  try {
    follow_copies();
  } catch (...) {
    stop_workers();
    threads_.finish();
    throw;
  }
  threads_.finish();
}

void SharedRingWorkers::follow_copies() {
  for (std::size_t number = 0; number < stages_.size(); ++number) {
    if (!await_submission(number)) return stop_workers();
    copied_[slot_of(number)].synchronize();
    const std::size_t next = to_device() ? number + copied_.size() : number;
    if (next < stages_.size()) offer(next);
  }
}

bool SharedRingWorkers::await_submission(std::size_t number) {
  while (!stages_[number].submitted) {
    const auto other = submitted_->take();  // chunk numbers may arrive out of order
    if (!other || *other == kEnd) return false;
    stages_[*other].submitted = true;
  }
  return true;
}

void SharedRingWorkers::offer(std::size_t number) {
  for (const auto& channel : offered_) channel->post(number);
}

void SharedRingWorkers::stop_workers() { offer(kEnd); }

void SharedRingWorkers::work(std::size_t thread) {
  try {
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      const auto number = offered_[thread]->take();
      if (!number || *number == kEnd) return;
      move_part(thread, *number);
      if (stages_[*number].parts_left.fetch_sub(1, std::memory_order_acq_rel) == 1) end(*number);
    }
  } catch (...) {
    submitted_->post(kEnd);  // transfer_payload() must not wait for copies that this thread would have submitted
    throw;
  }
}

void SharedRingWorkers::move_part(std::size_t thread, std::size_t number) {
  const Chunk& chunk = stages_[number].chunk;
  // A thread always moves the same part of a slot, so that this part stays in the caches of the thread's core.
  const std::size_t length = in_whole_pages((chunk.count + threads_.count() - 1) / threads_.count());
  const std::size_t begin = thread * length;
  if (begin >= chunk.count) return;
  mover_.move(ring_.data + slot_of(number) * slot_bytes_ + begin,
              {chunk.first + begin, std::min(length, chunk.count - begin)});
}

void SharedRingWorkers::end(std::size_t number) {
  if (to_device()) return submit(number);
  const std::size_t next = number + copied_.size();  // next chunk that uses the same slot
  if (next < stages_.size()) submit(next);
}

void SharedRingWorkers::submit(std::size_t number) {
  stream_.copy(payload_.copy(ring_.data + slot_of(number) * slot_bytes_, stages_[number].chunk));
  stream_.record(copied_[slot_of(number)]);
  submitted_->post(number);
}

}  // namespace

std::unique_ptr<WorkerPool> make_worker_pool(Device& device, const StagedPayload& payload, const StagingCase& c) {
  if (c.method == StagingMethod::register_chunks) return make_registering_workers(device, payload, c);
  if (c.works_together()) return std::make_unique<SharedRingWorkers>(device, payload, c);
  return std::make_unique<CopyingWorkers>(device, payload, c);
}

}  // namespace xferbench
