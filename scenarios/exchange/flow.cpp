#include "scenarios/exchange/flow.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <chrono>
#include <utility>

#include "core/interrupt.hpp"

namespace xferbench {

namespace {

constexpr std::uint64_t kLongestMessage = std::uint64_t{1} << 30;  // MPI counts bytes in an int
constexpr int kExchangeTag = 100;

/// Waits while no stage makes progress: first spins briefly, then yields the CPU to other ranks, and finally throws
/// RankTimeoutError.
class ProgressTimeout {
 public:
  explicit ProgressTimeout(const FlowWaiting& waiting) : waiting_(waiting) {}

  void note_progress() { asked_ = 0; }

  /// Must be called repeatedly while no stage makes progress.
  void look() {
    constexpr unsigned kBetween = 64;
    if (++asked_ % kBetween != 0) return;
    const Moment now = std::chrono::steady_clock::now();
    if (asked_ == kBetween) {
      since_ = now;
      told_ = false;
    }
    const double waited = seconds(now - since_);
    if (waited < kSpinning) return;
    if (waiting_.timeout.idle) waiting_.timeout.idle();
    if (interrupted() != 0 && !std::exchange(told_, true)) told_at_ = now;
    const bool told_long_ago = told_ && seconds(now - told_at_) > waiting_.timeout.after_interrupt;
    if (told_long_ago || waited > waiting_.timeout.seconds) {
      throw RankTimeoutError(fmt::format("{}: no data sent or received for {:.3g} s", waiting_.what, waited));
    }
    sched_yield();
  }

 private:
  using Moment = std::chrono::steady_clock::time_point;
  static double seconds(std::chrono::steady_clock::duration d) { return std::chrono::duration<double>(d).count(); }
  static constexpr double kSpinning = 50e-6;  // seconds for which the CPU is not yielded

  const FlowWaiting& waiting_;
  unsigned asked_ = 0;
  Moment since_{};
  bool told_ = false;  // whether the user's interrupt (Ctrl-C) was already noticed
  Moment told_at_{};
};

bool all_done(std::span<Flow* const> flows) {
  return std::ranges::all_of(flows, [](const Flow* flow) { return flow->is_done(); });
}

/// Finds the flow whose next step has the earliest due() time, waits for that step and takes it.
void take_due_step(std::span<Flow* const> flows, const FlowWaiting& waiting) {
  Flow* next = nullptr;
  for (Flow* flow : flows) {
    if (!flow->is_done() && (next == nullptr || flow->due() < next->due())) next = flow;
  }
  next->wait_and_step(waiting);
}

}  // namespace

CopyStage::CopyStage(Device& device, Direction direction, std::byte* on_gpu, const Slots& on_host, const Chunks& chunks,
                     std::size_t depth)
    : direction_(direction),
      on_gpu_(on_gpu),
      on_host_(on_host),
      chunks_(chunks),
      stream_(device.make_stream(StreamKind::nonblocking)) {
  for (std::size_t i = 0; i < depth; ++i) events_.push_back(device.make_event(EventKind::ordering));
}

void CopyStage::start(std::size_t chunk) {
  guarded([&] {
    std::byte* const there = on_gpu_ + chunks_.offset(chunk);
    std::byte* const here = on_host_.at(chunk);
    const bool in = direction_ == Direction::h2d;
    stream_.copy({in ? there : here, in ? here : there, chunks_.length(chunk), direction_});
    stream_.record(event(chunk));
  });
}

bool CopyStage::finished(std::size_t chunk) {
  bool is_done = false;
  guarded([&] { is_done = event(chunk).finished(); });
  return is_done || failure_;
}

void CopyStage::wait(std::size_t chunk, const FlowWaiting&) {
  guarded([&] { event(chunk).synchronize(); });
}

void CopyStage::rethrow_failure() {
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

MessageStage::MessageStage(Communicator& ranks, Way way, int other, const Slots& memory, const Chunks& chunks,
                           std::size_t depth)
    : ranks_(ranks), way_(way), other_(other), memory_(memory), chunks_(chunks), parts_(depth) {}

void MessageStage::start(std::size_t chunk) {
  Parts& all = parts(chunk);
  const std::span<std::byte> memory(memory_.at(chunk), chunks_.length(chunk));
  for (std::size_t begin = 0; begin < memory.size(); begin += kLongestMessage) {
    const auto part = memory.subspan(begin, std::min<std::size_t>(kLongestMessage, memory.size() - begin));
    all.push_back(way_ == Way::send ? ranks_.send(other_, kExchangeTag, part)
                                    : ranks_.receive(other_, kExchangeTag, part));
  }
}

bool MessageStage::finished(std::size_t chunk) {
  oldest_ = chunk;
  Parts& all = parts(chunk);
  while (!all.empty()) {
    if (!all.back()->done()) return false;
    all.pop_back();
  }
  return true;
}

void MessageStage::wait(std::size_t chunk, const FlowWaiting& waiting) {
  for (const PendingPtr& part : parts(chunk)) wait_for(*part, waiting.timeout, waiting.what);
  parts(chunk).clear();
}

void MessageStage::make_progress() {
  // A single MPI call makes progress on all pending messages.
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (parts(oldest_ + i).empty()) continue;
    static_cast<void>(parts(oldest_ + i).back()->done());
    return;
  }
}

void Flow::begin() {
  passed_ = left_ = 0;
  for (std::size_t i = 0; i < std::min(depth_, chunks_); ++i) first_.start(i);
}

void Flow::take_step() {
  if (second_ == nullptr) {
    ++passed_;
    ++left_;
  } else if (awaits_second()) {
    ++left_;
  } else {
    second_->start(passed_);
    ++passed_;
    return;
  }
  // A slot has become free, so the next chunk can start.
  if (left_ - 1 + depth_ < chunks_) first_.start(left_ - 1 + depth_);
}

bool Flow::try_step() {
  if (!awaited().finished(awaited_chunk())) {
    if (second_ != nullptr) (awaits_second() ? first_ : *second_).make_progress();
    return false;
  }
  take_step();
  return true;
}

void Flow::wait_and_step(const FlowWaiting& waiting) {
  awaited().wait(awaited_chunk(), waiting);
  take_step();
}

double Flow::due() const {
  // Assumed delay from the end of sending a message to its arrival, as a fraction of the time that sending takes.
  constexpr double kAcross = 0.1;
  constexpr double kCopy = 0.3;
  const auto chunk = static_cast<double>(awaited_chunk());
  if (awaits_second()) return chunk + 1 + (second_->is_message() ? 0 : kAcross + kCopy);
  if (first_.is_message()) return chunk + 1 + kAcross;
  return std::max(0.0, chunk + 1 - static_cast<double>(depth_)) + kCopy;  // copy starts after the slot's last message
}

void drive(std::span<Flow* const> flows, const FlowWaiting& waiting) {
  for (Flow* flow : flows) flow->begin();
  ProgressTimeout standstill(waiting);
  while (!all_done(flows)) {
    if (waiting.in_order) {
      take_due_step(flows, waiting);
      continue;
    }
    bool moved = false;
    for (Flow* flow : flows) moved = (!flow->is_done() && flow->try_step()) || moved;
    moved ? standstill.note_progress() : standstill.look();
  }
}

}  // namespace xferbench
