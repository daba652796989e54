#include "scenarios/common/slot_workers.hpp"

#include <algorithm>
#include <exception>

#include "core/on_exit.hpp"
#include "scenarios/common/first_copy.hpp"

namespace xferbench {

WorkerThreads::WorkerThreads(HostRuntime& host, std::size_t count, Worker::Idle idle) {
  for (std::size_t i = 0; i < count; ++i) threads_.push_back(std::make_unique<Worker>(host, idle));
}

void WorkerThreads::start(std::function<void(std::size_t)> task) {
  task_ = std::move(task);
  start_range(0, count());
}

void WorkerThreads::finish() {
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

/// Wakes the threads from `first` to before `last`. Waking a sleeping thread takes up to 0.1 ms, so they are woken in a
/// tree: each thread wakes half of the remaining threads. Must not throw: finish() would wait forever for threads that
/// were not started.
void WorkerThreads::start_range(std::size_t first, std::size_t last) noexcept {
  while (first < last) {
    const std::size_t middle = first + (last - first) / 2;
    threads_[middle]->start([this, middle, last] {
      start_range(middle + 1, last);
      task_(middle);
    });
    last = middle;
  }
}

WorkerStreams::WorkerStreams(Device& device, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) streams_.push_back(device.make_stream(StreamKind::nonblocking));
}

Copy copy_of(const SlotPlan& plan, std::byte* slot, const model::Chunk& chunk) {
  std::byte* const there = plan.on_gpu + (plan.place_of ? plan.place_of(chunk.first) : chunk.first);
  return plan.direction == Direction::h2d ? Copy{there, slot, chunk.count, Direction::h2d}
                                          : Copy{slot, there, chunk.count, Direction::d2h};
}

namespace {

bool times_first(const SlotPlan& plan) { return plan.time_first && plan.on_gpu != nullptr; }

/// Data that the slots of all threads share.
struct SlotGear {
  SlotGear(Device& device, const SlotPlan& made, const SlotFiller& fills)
      : host(device.host()),
        filler(fills),
        plan(made),
        streams(device, plan.crew == SlotCrew::one_stream ? 1 : plan.threads),
        first(device, times_first(made)) {}

  HostRuntime& host;
  const SlotFiller& filler;
  const SlotPlan plan;
  WorkerStreams streams;
  FirstCopy first;
  std::vector<HostBuffer> rings;  // one per thread
  bool crosses = true;            // whether slots cross the link in this pass
};

class Slot {
 public:
  Slot(Device& device, SlotGear& gear, std::size_t thread, std::byte* data)
      : gear_(gear),
        thread_(thread),
        stream_(gear.streams.of(thread)),
        data_(data),
        copied_(device.make_event(EventKind::ordering)) {}

  void send(const model::Chunk& chunk) {
    chunk_ = chunk;
    if (gear_.plan.direction == Direction::h2d) move();
    if (!gear_.crosses) return;
    stream_.copy(copy_of(gear_.plan, data_, chunk));
    gear_.first.note_copy(stream_);
    stream_.record(copied_);
    if (gear_.plan.after_copy) gear_.plan.after_copy(copied_, chunk);
  }
  void receive() {
    if (gear_.crosses) {
      const double begun = gear_.host.now();
      copied_.synchronize();
      waiting_ += gear_.host.now() - begun;
    }
    if (gear_.plan.direction == Direction::d2h) move();
  }

  [[nodiscard]] double moving() const { return moving_; }
  [[nodiscard]] double waiting() const { return waiting_; }
  void restart() { moving_ = waiting_ = 0; }

 private:
  void move() {
    const double begun = gear_.host.now();
    gear_.filler.move(thread_, data_, chunk_);
    moving_ += gear_.host.now() - begun;
  }

  SlotGear& gear_;
  std::size_t thread_;
  StreamView stream_;
  std::byte* data_;
  Event copied_;  // recorded when the copy engine has read or written the slot
  model::Chunk chunk_{};
  double moving_ = 0;
  double waiting_ = 0;
};

class SlotWorkers final : public IndependentWorkers<Slot, SlotPool> {
 public:
  SlotWorkers(Device& device, const SlotPlan& plan, std::shared_ptr<SlotGear> gear)
      : IndependentWorkers(device.host(), plan.chunks, plan.threads, plan.idle, gear,
                           [&](std::size_t thread) { return slots_of(device, plan, *gear, thread); }),
        host_(device.host()),
        gear_(*gear),
        cpu_(plan.threads) {}

  void transfer_payload() override {
    gear_.first.begin(gear_.streams.of(0));
    IndependentWorkers::transfer_payload();
  }
  void move_only() override {
    gear_.crosses = false;
    const OnExit again([this] { gear_.crosses = true; });
    IndependentWorkers::transfer_payload();
  }

  [[nodiscard]] WorkTimes times() const override {
    WorkTimes all{.first = gear_.first.seconds()};
    for (const double seconds : cpu_) all.cpu += seconds;
    for (const auto& slots : places()) {
      for (const Slot& slot : slots) {
        all.moving += slot.moving();
        all.waiting += slot.waiting();
      }
    }
    return all;
  }

 protected:
  void run(std::size_t thread) override {
    for (Slot& slot : places_of(thread)) slot.restart();
    const double begun = host_.cpu_now();
    IndependentWorkers::run(thread);
    cpu_[thread] = host_.cpu_now() - begun;
  }

 private:
  static std::vector<Slot> slots_of(Device& device, const SlotPlan& plan, SlotGear& gear, std::size_t thread) {
    const HostBuffer& ring = gear.rings.emplace_back(device.allocate_host(plan.slot_bytes * plan.slots, plan.memory));
    std::vector<Slot> slots;
    for (std::size_t i = 0; i < plan.slots; ++i) {
      slots.emplace_back(device, gear, thread, ring.data + i * plan.slot_bytes);
    }
    return slots;
  }

  HostRuntime& host_;
  SlotGear& gear_;           // owned by the base class
  std::vector<double> cpu_;  // CPU seconds of each thread in the last pass
};

/// Worker pool in which all threads fill or empty the same slot at once, each its own part, one slot after another. Few
/// slots are enough, chunks can be long, and the first chunk is ready sooner than with one thread per chunk.
///
/// The thread that finishes the last part of a chunk submits the copy of that chunk. Only the thread that called
/// transfer_payload() waits for copies. It has one channel to each thread, through which it tells the thread which
/// chunk comes next, so threads do not contend for a lock.
class SharedRingWorkers final : public SlotPool {
 public:
  SharedRingWorkers(Device& device, const SlotPlan& plan, const SlotFiller& filler);

  void transfer_payload() override {
    first_.begin(stream_);
    run();
  }
  void move_only() override {
    crosses_ = false;
    const OnExit again([this] { crosses_ = true; });
    run();
  }
  [[nodiscard]] WorkTimes times() const override;

 private:
  static constexpr std::uint64_t kEnd = ~std::uint64_t{0};

  struct Stage {
    model::Chunk chunk{};
    std::atomic<std::size_t> parts_left{0};
    bool submitted = false;  // used only by the thread that waits for copies
  };

  [[nodiscard]] bool to_device() const { return plan_.direction == Direction::h2d; }
  [[nodiscard]] std::size_t slot_of(std::size_t number) const { return number % copied_.size(); }
  [[nodiscard]] std::byte* data_of(std::size_t number) const { return ring_.data + slot_of(number) * plan_.slot_bytes; }
  void run();
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

  HostRuntime& host_;
  const SlotFiller& filler_;
  const SlotPlan plan_;
  HostBuffer ring_;
  Stream stream_;
  std::vector<Event> copied_;                      // per slot: recorded when the copy engine is done with the slot
  std::vector<Stage> stages_;                      // progress of each chunk
  std::unique_ptr<Channel> submitted_;             // numbers of chunks whose copies have been submitted
  std::vector<std::unique_ptr<Channel>> offered_;  // per thread: numbers of the chunks to move, in order
  std::vector<WorkTimes> of_thread_;               // per thread: times of the last pass
  bool crosses_ = true;                            // whether slots cross the link in this pass
  double waiting_ = 0;                             // seconds in which the calling thread waited for copies
  FirstCopy first_;
  WorkerThreads threads_;  // last member: its threads use all other members
};

SharedRingWorkers::SharedRingWorkers(Device& device, const SlotPlan& plan, const SlotFiller& filler)
    : host_(device.host()),
      filler_(filler),
      plan_(plan),
      ring_(device.allocate_host(plan.slot_bytes * plan.slots, plan.memory)),
      stream_(device.make_stream(StreamKind::nonblocking)),
      stages_(plan.chunks.size()),
      submitted_(host_.make_channel()),
      of_thread_(plan.threads),
      first_(device, times_first(plan)),
      threads_(host_, plan.threads, plan.idle) {
  for (std::size_t i = 0; i < plan.slots; ++i) copied_.push_back(device.make_event(EventKind::ordering));
  for (std::size_t i = 0; i < plan.threads; ++i) offered_.push_back(host_.make_channel());
  for (std::size_t i = 0; i < stages_.size(); ++i) stages_[i].chunk = plan.chunks[i];
}

WorkTimes SharedRingWorkers::times() const {
  WorkTimes all{.waiting = waiting_, .first = first_.seconds()};
  for (const WorkTimes& one : of_thread_) {
    all.moving += one.moving;
    all.cpu += one.cpu;
  }
  return all;
}

void SharedRingWorkers::run() {
  waiting_ = 0;
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
    const double begun = host_.now();
    if (crosses_) copied_[slot_of(number)].synchronize();
    waiting_ += host_.now() - begun;
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
  const double cpu = host_.cpu_now();
  of_thread_[thread] = {};
  try {
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      const auto number = offered_[thread]->take();
      if (!number || *number == kEnd) break;
      move_part(thread, *number);
      if (stages_[*number].parts_left.fetch_sub(1, std::memory_order_acq_rel) == 1) end(*number);
    }
  } catch (...) {
    submitted_->post(kEnd);  // transfer_payload() must not wait for copies that this thread would have submitted
    throw;
  }
  of_thread_[thread].cpu = host_.cpu_now() - cpu;
}

void SharedRingWorkers::move_part(std::size_t thread, std::size_t number) {
  constexpr std::size_t kPage = 4096;
  const model::Chunk& chunk = stages_[number].chunk;
  // A thread always moves the same part of a slot, so that this part stays in the caches of the thread's core.
  const std::size_t share = (chunk.count + threads_.count() - 1) / threads_.count();
  const std::size_t length = (share + kPage - 1) / kPage * kPage;
  const std::size_t begin = thread * length;
  if (begin >= chunk.count) return;
  const double begun = host_.now();
  filler_.move(thread, data_of(number) + begin, {chunk.first + begin, std::min(length, chunk.count - begin)});
  of_thread_[thread].moving += host_.now() - begun;
}

void SharedRingWorkers::end(std::size_t number) {
  if (to_device()) return submit(number);
  const std::size_t next = number + copied_.size();  // next chunk that uses the same slot
  if (next < stages_.size()) submit(next);
}

void SharedRingWorkers::submit(std::size_t number) {
  if (crosses_) {
    stream_.copy(copy_of(plan_, data_of(number), stages_[number].chunk));
    first_.note_copy(stream_);
    stream_.record(copied_[slot_of(number)]);
    if (plan_.after_copy) plan_.after_copy(copied_[slot_of(number)], stages_[number].chunk);
  }
  submitted_->post(number);
}

}  // namespace

std::unique_ptr<SlotPool> make_slot_workers(Device& device, const SlotPlan& plan, const SlotFiller& filler) {
  if (plan.crew == SlotCrew::together) return std::make_unique<SharedRingWorkers>(device, plan, filler);
  auto gear = std::make_shared<SlotGear>(device, plan, filler);
  return std::make_unique<SlotWorkers>(device, plan, std::move(gear));
}

}  // namespace xferbench
