#include "scenarios/common/slot_workers.hpp"

#include <exception>

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

namespace {

/// What the slots of all threads share.
struct SlotGear {
  SlotGear(Device& device, const SlotPlan& plan, const SlotFiller& fills)
      : host(device.host()),
        filler(fills),
        direction(plan.direction),
        on_gpu(plan.on_gpu),
        watch_first(plan.watch_first),
        streams(device, plan.one_stream ? 1 : plan.threads) {}

  HostRuntime& host;
  const SlotFiller& filler;
  Direction direction;
  std::byte* on_gpu;
  bool watch_first;
  WorkerStreams streams;
  std::vector<HostBuffer> rings;                 // one per thread
  std::atomic<const EventView*> first{nullptr};  // after the first copy of the pass
  std::atomic<double> first_arrival{0};          // host's clock; 0: not seen yet

  void note_sent(const EventView& copied) {
    const EventView* none = nullptr;
    if (watch_first) first.compare_exchange_strong(none, &copied);
  }
  void look_for_first() {
    if (!watch_first || first_arrival != 0) return;
    const EventView* const copied = first;
    double none = 0;
    if (copied != nullptr && copied->finished()) first_arrival.compare_exchange_strong(none, host.now());
  }
};

/// A slot that one thread uses.
class Slot {
 public:
  Slot(Device& device, SlotGear& gear, StreamView stream, std::byte* data)
      : gear_(gear), stream_(stream), data_(data), copied_(device.make_event(EventKind::ordering)) {}

  void send(const model::Chunk& chunk) {
    chunk_ = chunk;
    if (gear_.direction == Direction::h2d) move();
    if (gear_.on_gpu == nullptr) return;
    gear_.look_for_first();
    std::byte* const there = gear_.on_gpu + chunk.first;
    stream_.copy(gear_.direction == Direction::h2d ? Copy{there, data_, chunk.count, Direction::h2d}
                                                   : Copy{data_, there, chunk.count, Direction::d2h});
    stream_.record(copied_);
    gear_.note_sent(copied_);
  }
  void receive() {
    if (gear_.on_gpu != nullptr) {
      const double begun = gear_.host.now();
      copied_.synchronize();
      waiting_ += gear_.host.now() - begun;
      gear_.look_for_first();
    }
    if (gear_.direction == Direction::d2h) move();
  }

  [[nodiscard]] double moving() const { return moving_; }
  [[nodiscard]] double waiting() const { return waiting_; }
  void restart() { moving_ = waiting_ = 0; }

 private:
  void move() {
    const double begun = gear_.host.now();
    gear_.filler.move(data_, chunk_);
    moving_ += gear_.host.now() - begun;
  }

  SlotGear& gear_;
  StreamView stream_;
  std::byte* data_;
  Event copied_;  // recorded when the copy engine has read or written the slot
  model::Chunk chunk_{};
  double moving_ = 0;
  double waiting_ = 0;
};

class SlotWorkers final : public IndependentWorkers<Slot> {
 public:
  SlotWorkers(Device& device, const SlotPlan& plan, std::shared_ptr<SlotGear> gear)
      : IndependentWorkers(device.host(), plan.chunks, plan.threads, plan.idle, gear,
                           [&](std::size_t thread) { return slots_of(device, plan, *gear, thread); }),
        host_(device.host()),
        gear_(*gear),
        cpu_(plan.threads) {}

  void transfer_payload() override {
    gear_.first_arrival = 0;
    gear_.first = nullptr;
    IndependentWorkers::transfer_payload();
  }

  [[nodiscard]] WorkTimes times() const override {
    WorkTimes all{.arrived = gear_.first_arrival};
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
      slots.emplace_back(device, gear, gear.streams.of(thread), ring.data + i * plan.slot_bytes);
    }
    return slots;
  }

  HostRuntime& host_;
  SlotGear& gear_;           // owned by the base
  std::vector<double> cpu_;  // seconds of each thread in the last pass
};

}  // namespace

std::unique_ptr<WorkerPool> make_slot_workers(Device& device, const SlotPlan& plan, const SlotFiller& filler) {
  auto gear = std::make_shared<SlotGear>(device, plan, filler);
  return std::make_unique<SlotWorkers>(device, plan, std::move(gear));
}

}  // namespace xferbench
