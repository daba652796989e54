#include "run/watchdog.hpp"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <bit>
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

namespace {

/// Number of exclusive slots. A thread has the same slot in all counters.
constexpr std::size_t kPlaces = 512;

/// Assigns slots to threads. There are enough for all threads that a scenario may start; any further thread gets the
/// shared slot after them.
class Places {
 public:
  /// The slot of the calling thread, from its first call to its end.
  static std::size_t mine() {
    std::size_t& number = number_of_this_thread();
    if (number == kNone) number = all().take();
    return number;
  }

 private:
  static constexpr std::size_t kNone = kPlaces + 1;

  static Places& all() {
    static Places places;
    return places;
  }
  static std::size_t& number_of_this_thread() {
    thread_local std::size_t number = kNone;
    return number;
  }

  // A thread_local object with a destructor would also release the slot. But to register the first one in a thread, the
  // C library allocates memory, and aborts if it cannot.
  Places() : are_given_back_(pthread_key_create(&at_end_of_thread_, give_back) == 0) {}

  std::size_t take() {
    for (std::size_t word = 0; are_given_back_ && word < taken_.size(); ++word) {
      std::uint64_t seen = taken_[word].load(std::memory_order_relaxed);
      while (~seen != 0) {
        const int bit = std::countr_one(seen);
        if (!taken_[word].compare_exchange_weak(seen, seen | std::uint64_t{1} << bit, std::memory_order_acquire)) {
          continue;
        }
        const std::size_t number = 64 * word + static_cast<std::size_t>(bit);
        if (pthread_setspecific(at_end_of_thread_, &number_of_this_thread()) == 0) return number;
        release(number);
        return kPlaces;
      }
    }
    return kPlaces;
  }

  void release(std::size_t number) {
    taken_[number / 64].fetch_and(~(std::uint64_t{1} << number % 64), std::memory_order_release);
  }

  static void give_back(void* number_of_a_thread) {
    all().release(std::exchange(*static_cast<std::size_t*>(number_of_a_thread), kNone));
  }

  std::array<std::atomic<std::uint64_t>, kPlaces / 64> taken_{};
  pthread_key_t at_end_of_thread_{};
  bool are_given_back_;
};

std::uint64_t expected_nanoseconds(const DeviceCall& call) {
  constexpr double kMostExpected = 1e6;  // seconds; sums of larger values might overflow
  return static_cast<std::uint64_t>(std::min(call.expected, kMostExpected) * 1e9);
}

}  // namespace

CallCounters::CallCounters() : places_(kPlaces + 1) { places_.back().shared = true; }

CallCounters::Counters& CallCounters::mine() { return places_[Places::mine()]; }

void CallCounters::Counters::add(std::atomic<std::uint64_t>& counter, std::uint64_t more) const {
  if (shared) {
    counter.fetch_add(more, std::memory_order_release);
  } else {  // a load and a store take a fifth of the time of an atomic addition
    counter.store(counter.load(std::memory_order_relaxed) + more, std::memory_order_release);
  }
}

void CallCounters::enter(const DeviceCall& call) {
  Counters& my = mine();
  if (call.kind == CallKind::query_event) return my.add(my.asked);
  my.kind.store(call.kind, std::memory_order_relaxed);
  if (call.expected > 0) my.add(my.expected, expected_nanoseconds(call));
  my.add(my.entered);
}

void CallCounters::leave(const DeviceCall& call, bool progress) noexcept {
  Counters& my = mine();
  if (progress && waits_for_work(call.kind)) my.add(my.waits);
  // Work done within the call is over, and is no reason to wait longer for later calls.
  if (call.expected > 0 && !submits_work(call.kind)) my.add(my.expected, 0 - expected_nanoseconds(call));
  if (call.kind != CallKind::query_event) return my.add(my.left);
  if (progress) my.add(my.finished);
  my.add(my.answered);
}

CallCounters::Totals CallCounters::totals() const {
  Totals all;
  for (const Counters& of : places_) {
    // Read ends before beginnings, so that nothing seems to have ended before it began.
    const std::uint64_t left = of.left.load(std::memory_order_acquire);
    const std::uint64_t answered = of.answered.load(std::memory_order_acquire);
    const std::uint64_t entered = of.entered.load(std::memory_order_acquire);
    const std::uint64_t asked = of.asked.load(std::memory_order_acquire);
    all.progress += entered + left + of.finished.load(std::memory_order_relaxed);
    all.polls += asked;
    all.waits += of.waits.load(std::memory_order_relaxed);
    all.expected += 1e-9 * static_cast<double>(of.expected.load(std::memory_order_relaxed));
    const auto in = [&all](CallKind kind) {
      // If several threads are in calls, name one that waits.
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

/// Draws conclusions from successive checks.
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
    // When a wait has returned, work submitted before the previous check may be done.
    if (now.waits != last_.waits) settled_ = last_.expected;
    busy_ = now.inside || polling;
    // A thread that queries an event may briefly do something else in between; longer pauses are host work.
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

  /// Seconds since the last check, limited: after a long gap, the process and perhaps the work that it waits for had
  /// been stopped.
  double time_since_last_look() {
    const auto now = Clock::now();
    const double passed = std::chrono::duration<double>(now - std::exchange(looked_, now)).count();
    return std::min(passed, 10 * limits_.interval);
  }

  [[nodiscard]] double limit() const {
    const double expected = std::max(last_.expected - settled_, longest_);
    return std::max(limits_.timeout, limits_.factor * expected);
  }

  const CallCounters& calls_;
  const WatchdogLimits& limits_;
  CallCounters::Totals last_;
  double settled_;      // seconds of expected work that is done
  double waited_ = 0;   // seconds without progress
  double longest_ = 0;  // longest wait that returned
  bool busy_ = false;   // at the last check, a thread was in a call or had queried an event
  double idle_ = 0;     // seconds since busy_ was last true
  double since_interrupt_ = 0;
  Clock::time_point looked_ = Clock::now();
};

/// Blocks all signals in this thread, so that the threads that existed before it handle them.
void block_signals() {
  sigset_t all;
  sigfillset(&all);
  static_cast<void>(pthread_sigmask(SIG_BLOCK, &all, nullptr));
}

}  // namespace

Watchdog::Watch Watchdog::watch(std::function<void(const Alarm&)> on_alarm) {
  // Construct the Judgement here, so that only calls from now on count.
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
