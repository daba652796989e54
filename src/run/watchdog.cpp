#include "run/watchdog.hpp"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

#include "core/interrupt.hpp"

namespace xferbench {

// --- Counting -------------------------------------------------------------------------------------------------------

CallCounters::Counters& CallCounters::mine() {
  // A thread's handle is the address of what the system keeps of it, apart from others by some pages at least.
  // Multiplied by the golden ratio, the topmost bits differ.
  constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15U;
  return places_[static_cast<std::uint64_t>(pthread_self()) * kGolden >> 58U];
}

void CallCounters::enter(const DeviceCall& call) {
  Counters& my = mine();
  if (call.kind == CallKind::query_event) {
    my.asked.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  my.kind.store(call.kind, std::memory_order_relaxed);
  if (call.expected > 0) {
    constexpr double kLongest = 1e6;  // seconds: sums of longer ones might not fit
    my.expected.fetch_add(static_cast<std::uint64_t>(std::min(call.expected, kLongest) * 1e9),
                          std::memory_order_relaxed);
  }
  my.entered.fetch_add(1, std::memory_order_release);
}

void CallCounters::leave(const DeviceCall& call, bool progress) noexcept {
  Counters& my = mine();
  if (progress && waits_for_work(call.kind)) my.waits.fetch_add(1, std::memory_order_relaxed);
  if (call.kind == CallKind::query_event) {
    if (progress) my.finished.fetch_add(1, std::memory_order_relaxed);
    my.answered.fetch_add(1, std::memory_order_release);
  } else {
    my.left.fetch_add(1, std::memory_order_release);
  }
}

CallCounters::Totals CallCounters::totals() const {
  Totals all;
  for (const Counters& of : places_) {
    // What ended is read before what began, so that nothing seems to have ended before it began.
    const std::uint64_t left = of.left.load(std::memory_order_acquire);
    const std::uint64_t answered = of.answered.load(std::memory_order_acquire);
    const std::uint64_t entered = of.entered.load(std::memory_order_acquire);
    const std::uint64_t asked = of.asked.load(std::memory_order_relaxed);
    all.progress += entered + left + of.finished.load(std::memory_order_relaxed);
    all.polls += asked;
    all.waits += of.waits.load(std::memory_order_relaxed);
    all.expected += 1e-9 * static_cast<double>(of.expected.load(std::memory_order_relaxed));
    const auto in = [&all](CallKind kind) {
      // Where several threads are in calls, the one that waits is the one to name.
      if (!all.inside || waits_for_work(kind)) all.kind = kind;
      all.inside = true;
    };
    if (asked != answered) in(CallKind::query_event);
    if (entered != left) in(of.kind.load(std::memory_order_relaxed));
  }
  return all;
}

// --- Judging --------------------------------------------------------------------------------------------------------

namespace {

/// What several looks say together.
class Judgement {
 public:
  Judgement(const CallCounters& calls, const WatchdogLimits& limits)
      : calls_(calls), limits_(limits), last_(calls.totals()), settled_(last_.expected) {}

  std::optional<Alarm> look() {
    const CallCounters::Totals now = calls_.totals();
    const double passed = time_since_last_look();
    const bool polling = now.polls != last_.polls;
    waited_ += passed;
    if (now.progress != last_.progress) {
      if (busy_) longest_ = std::max(longest_, waited_);
      waited_ = 0;
    }
    // What was submitted before the look before a wait came back may have been done by then.
    if (now.waits != last_.waits) settled_ = last_.expected;
    busy_ = now.inside || polling;
    // Whoever asks again and again may do something else in between; not for long, or it was work of the host.
    idle_ = busy_ ? 0 : idle_ + passed;
    if (idle_ > kBetweenPolls) waited_ = 0;
    last_ = now;
    const std::string_view operation =
        now.inside ? to_text(now.kind) : (polling ? to_text(CallKind::query_event) : std::string_view());
    if (busy_ && waited_ > limit()) return Alarm{Alarm::Kind::stuck, operation, waited_};
    since_interrupt_ = interrupted() != 0 ? since_interrupt_ + passed : 0;
    if (since_interrupt_ > limits_.interrupted) return Alarm{Alarm::Kind::interrupted, operation, since_interrupt_};
    return std::nullopt;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr double kBetweenPolls = 1.0;  // seconds

  /// In seconds. After a long time without a look the process was stopped, and so was whoever it waits for.
  double time_since_last_look() {
    const auto now = Clock::now();
    const double passed = std::chrono::duration<double>(now - std::exchange(looked_, now)).count();
    return std::min(passed, 10 * limits_.interval);
  }

  [[nodiscard]] double limit() const {
    const double expected = std::max(last_.expected - settled_, longest_);
    return std::max(limits_.patience, limits_.factor * expected);
  }

  const CallCounters& calls_;
  const WatchdogLimits& limits_;
  CallCounters::Totals last_;
  double settled_;      // of what is expected, in seconds
  double waited_ = 0;   // without progress
  double longest_ = 0;  // wait that came back
  bool busy_ = false;   // at the last look, somebody was in a call or had asked for an event
  double idle_ = 0;     // since somebody was
  double since_interrupt_ = 0;
  Clock::time_point looked_ = Clock::now();
};

/// Signals are for the threads that did without this one.
void block_signals() {
  sigset_t all;
  sigfillset(&all);
  static_cast<void>(pthread_sigmask(SIG_BLOCK, &all, nullptr));
}

}  // namespace

Watchdog::Watch Watchdog::watch(std::function<void(const Alarm&)> on_alarm) {
  // Begun here: what happens from now on is what counts.
  return Watch(std::jthread(
      [this, judgement = Judgement(calls_, limits_), tell = std::move(on_alarm)](const std::stop_token& stop) mutable {
        block_signals();
        std::mutex mutex;
        std::condition_variable_any ended;
        const auto interval = std::chrono::duration<double>(limits_.interval);
        for (std::unique_lock lock(mutex);;) {
          ended.wait_for(lock, stop, interval, [] { return false; });
          if (stop.stop_requested()) return;
          if (const auto alarm = judgement.look()) return tell(*alarm);
        }
      }));
}

}  // namespace xferbench
