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

/// The list of a pass's chunks, from which each free thread takes the next one.
class Work {
 public:
  explicit Work(std::vector<Chunk> chunks) : chunks_(std::move(chunks)) {}
  void restart() { next_ = 0; }
  const Chunk* take() {
    const std::size_t number = next_.fetch_add(1, std::memory_order_relaxed);
    return number < chunks_.size() ? &chunks_[number] : nullptr;
  }

 private:
  std::vector<Chunk> chunks_;
  std::atomic<std::size_t> next_{0};
};

/// Copies data between the payload and pinned slots, on the calling thread.
class Mover {
 public:
  Mover(Device& device, const StagedPayload& payload, StagingStores stores)
      : host_(device.host()), payload_(payload), stores_(stores) {}

  /// Copies part `part` of the payload into a slot (H2D) or out of it (D2H). `slot`: address in the slot of the part's
  /// first byte.
  void move(std::byte* slot, const Chunk& part) const {
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

/// Moves chunks on one thread, with at most places.size() of them in flight. send() starts the transfer of a chunk;
/// receive() waits for it and finishes it. Chunks are received in the order in which they were sent.
template <class Place>
void transfer_by_turns(std::vector<Place>& places, Work& work) {
  std::size_t sent = 0;
  std::size_t arrived = 0;
  const auto place = [&places](std::size_t turn) -> Place& { return places[turn % places.size()]; };
  for (;;) {
    // Places not yet used in this pass are free, because every pass ends after all chunks have arrived.
    if (sent - arrived == places.size()) place(arrived++).receive();
    const Chunk* chunk = work.take();
    if (chunk == nullptr) break;
    place(sent++).send(*chunk);
  }
  while (arrived < sent) place(arrived++).receive();
}

/// A pinned slot that one thread uses.
class Slot {
 public:
  Slot(Device& device, const StagedPayload& payload, const Mover& mover, StreamView stream, std::byte* data)
      : payload_(payload),
        mover_(mover),
        stream_(stream),
        data_(data),
        copied_(device.make_event(EventKind::ordering)) {}

  void send(const Chunk& chunk) {
    chunk_ = chunk;
    if (payload_.direction == Direction::h2d) mover_.move(data_, chunk);
    stream_.copy(payload_.copy(data_, chunk));
    stream_.record(copied_);
  }
  void receive() const {
    copied_.synchronize();
    if (payload_.direction == Direction::d2h) mover_.move(data_, chunk_);
  }

 private:
  const StagedPayload& payload_;
  const Mover& mover_;
  StreamView stream_;
  std::byte* data_;
  Event copied_;  // recorded when the copy engine has read or written the slot
  Chunk chunk_{};
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

/// A thread pool: its worker threads are created once and wait between passes.
class Threads {
 public:
  Threads(HostRuntime& host, const StagingCase& c) {
    for (std::size_t i = 0; i < c.threads; ++i) threads_.push_back(std::make_unique<Worker>(host, c.idle));
  }
  [[nodiscard]] std::size_t count() const { return threads_.size(); }
  /// Runs task(i) on thread i, for every thread i. Does not wait for the threads.
  void start(std::function<void(std::size_t)> task) {
    task_ = std::move(task);
    start_range(0, count());
  }
  /// Waits until all threads have ended their tasks. Rethrows the first error.
  void finish() {
    std::exception_ptr error;
    for (const auto& thread : threads_) {
      try {
        thread->finish();
      } catch (...) {
        if (!error) error = std::current_exception();
      }
    }
    if (error) std::rethrow_exception(error);
  }

 private:
  /// Wakes the threads from `first` to before `last`. Waking a sleeping thread takes up to 0.1 ms, so they are woken in
  /// a tree: each thread wakes half of the remaining threads. Must not throw: finish() would wait forever for threads
  /// that were not started.
  void start_range(std::size_t first, std::size_t last) noexcept {
    while (first < last) {
      const std::size_t middle = first + (last - first) / 2;
      threads_[middle]->start([this, middle, last] {
        start_range(middle + 1, last);
        task_(middle);
      });
      last = middle;
    }
  }

  std::function<void(std::size_t)> task_;
  std::vector<std::unique_ptr<Worker>> threads_;
};

/// Worker pool in which each thread has slots (Place) of its own. The threads share only the list of chunks and, if
/// requested, a stream.
template <class Place>
class IndependentWorkers final : public WorkerPool {
 public:
  using MakePlaces = std::function<std::vector<Place>(std::size_t)>;

  /// make_places(i) returns the slots of thread i. `gear` owns the objects to which the slots refer.
  IndependentWorkers(Device& device, const StagingCase& c, std::shared_ptr<void> gear, const MakePlaces& make_places)
      : work_(c.chunks()), gear_(std::move(gear)), threads_(device.host(), c) {
    for (std::size_t i = 0; i < c.threads; ++i) places_.push_back(make_places(i));
  }

  void transfer_payload() override {
    work_.restart();
    threads_.start([this](std::size_t i) { transfer_by_turns(places_[i], work_); });
    threads_.finish();
  }

 private:
  Work work_;
  std::shared_ptr<void> gear_;
  std::vector<std::vector<Place>> places_;
  Threads threads_;  // last member: its threads use all other members
};

/// Owns the streams of the threads: one per thread, or a single one for all.
class Streams {
 public:
  Streams(Device& device, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) streams_.push_back(device.make_stream(StreamKind::nonblocking));
  }
  [[nodiscard]] StreamView of(std::size_t thread) const { return streams_[thread % streams_.size()]; }

 private:
  std::vector<Stream> streams_;
};

std::unique_ptr<WorkerPool> make_slot_workers(Device& device, const StagedPayload& payload, const StagingCase& c) {
  struct SlotResources {
    Mover mover;
    Streams streams;
    std::vector<HostBuffer> rings{};  // one per thread
  };
  const auto gear = std::make_shared<SlotResources>(
      SlotResources{{device, payload, c.stores}, {device, c.crew == StagingWorkers::one_stream ? 1 : c.threads}});
  const std::size_t bytes = c.chunk_bytes();
  return std::make_unique<IndependentWorkers<Slot>>(device, c, gear, [&](std::size_t thread) {
    const HostBuffer& ring = gear->rings.emplace_back(device.allocate_host(bytes * c.slots, c.slot_memory));
    std::vector<Slot> slots;
    for (std::size_t i = 0; i < c.slots; ++i) {
      slots.emplace_back(device, payload, gear->mover, gear->streams.of(thread), ring.data + i * bytes);
    }
    return slots;
  });
}

std::unique_ptr<WorkerPool> make_registering_workers(Device& device, const StagedPayload& payload,
                                                     const StagingCase& c) {
  const auto stream = std::make_shared<Streams>(device, 1);  // one stream, as switching streams costs copy engines time
  return std::make_unique<IndependentWorkers<PinnedChunk>>(device, c, stream, [&](std::size_t thread) {
    std::vector<PinnedChunk> chunks;
    for (std::size_t i = 0; i < c.slots; ++i) chunks.emplace_back(device, payload, stream->of(thread));
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
  Threads threads_;                                // last member: its threads use all other members
};

SharedRingWorkers::SharedRingWorkers(Device& device, const StagedPayload& payload, const StagingCase& c)
    : payload_(payload),
      mover_(device, payload, c.stores),
      slot_bytes_(c.chunk_bytes()),
      ring_(device.allocate_host(slot_bytes_ * c.slots, c.slot_memory)),
      stream_(device.make_stream(StreamKind::nonblocking)),
      stages_(c.chunks().size()),
      submitted_(device.host().make_channel()),
      threads_(device.host(), c) {
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
  return make_slot_workers(device, payload, c);
}

}  // namespace xferbench
