#include "run/watchdog.hpp"

#include <pthread.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <optional>
#include <stop_token>

#include "core/interrupt.hpp"

namespace xferbench {

// --- Counting -------------------------------------------------------------------------------------------------------

namespace {

/// Number of counter slots that belong to one thread each. A thread has the same slot in all CallCounters.
constexpr std::size_t kPlaces = 512;

/// Assigns slots to threads. There are enough for all threads that a scenario may start; any further thread gets the
/// shared slot, number kPlaces.
class Places {
 public:
  /// Returns the slot of the calling thread. A thread's first call takes a slot, which the thread's end releases.
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

  // A pthread key releases the slot at the end of the thread. A thread_local object with a destructor could do so, too,
  // but its registration allocates memory, and the C library aborts if that fails.
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
  constexpr double kMostExpected = 1e6;  // limit in seconds, so that sums of expected times cannot overflow
  return static_cast<std::uint64_t>(std::min(call.expected, kMostExpected) * 1e9);
}

// --- Judging --------------------------------------------------------------------------------------------------------

/// Decides from successive readings of the call counters whether a device is stuck.
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
    // A wait has returned, so the work submitted before the previous check may be finished.
    if (now.waits != last_.waits) settled_ = last_.expected;
    busy_ = now.inside || polling;
    // A short pause between two event queries still counts as polling. After a longer one, waited_ restarts at 0.
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

  /// Returns the seconds since the last check, limited to ten intervals. A longer gap means that the whole process was
  /// stopped, perhaps together with the work that it waits for.
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
  double settled_;      // seconds of expected work that is considered finished
  double waited_ = 0;   // seconds since the last progress
  double longest_ = 0;  // duration, in seconds, of the longest wait that returned
  bool busy_ = false;   // whether, at the last check, a thread was inside a call or had just queried an event
  double idle_ = 0;     // seconds since a thread was last inside a call or queried an event
  double since_interrupt_ = 0;
  Clock::time_point looked_ = Clock::now();
};

}  // namespace

CallCounters::CallCounters() : places_(kPlaces + 1) { places_.back().shared = true; }

CallCounters::Counters& CallCounters::mine() { return places_[Places::mine()]; }

void CallCounters::Counters::add(std::atomic<std::uint64_t>& counter, std::uint64_t more) const {
  if (shared) {
    counter.fetch_add(more, std::memory_order_release);
  } else {  // a store is five times as fast as an atomic addition, and safe: only this thread writes this counter
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
  // Work that was done within the call is finished and must not prolong the time limit of later calls.
  if (call.expected > 0 && !submits_work(call.kind)) my.add(my.expected, 0 - expected_nanoseconds(call));
  if (call.kind != CallKind::query_event) return my.add(my.left);
  if (progress) my.add(my.finished);
  my.add(my.answered);
}

CallCounters::Totals CallCounters::totals() const {
  Totals all;
  for (const Counters& of : places_) {
    // Read the counters of ended calls first: otherwise a call could seem to have ended before it began.
    const std::uint64_t left = of.left.load(std::memory_order_acquire);
    const std::uint64_t answered = of.answered.load(std::memory_order_acquire);
    const std::uint64_t entered = of.entered.load(std::memory_order_acquire);
    const std::uint64_t asked = of.asked.load(std::memory_order_acquire);
    all.progress += entered + left + of.finished.load(std::memory_order_relaxed);
    all.polls += asked;
    all.waits += of.waits.load(std::memory_order_relaxed);
    all.expected += 1e-9 * static_cast<double>(of.expected.load(std::memory_order_relaxed));
    const auto in = [&all](CallKind kind) {
      // If several threads are inside calls, report one that waits for work.
      if (!all.inside || waits_for_work(kind)) all.kind = kind;
      all.inside = true;
    };
    if (asked != answered) in(CallKind::query_event);
    if (entered != left) in(of.kind.load(std::memory_order_relaxed));
  }
  return all;
}

Watchdog::Watch Watchdog::watch(std::function<void(const Alarm&)> on_alarm) {
  // The Judgement is constructed here, on the calling thread, so that only later calls count.
  return Watch(std::jthread(
      [this, judgement = Judgement(calls_, limits_), tell = std::move(on_alarm)](const std::stop_token& stop) mutable {
        sigset_t all;  // other threads of the process handle all signals
        sigfillset(&all);
        static_cast<void>(pthread_sigmask(SIG_BLOCK, &all, nullptr));
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
