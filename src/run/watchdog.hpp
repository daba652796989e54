// The watchdog: a thread that detects a device that no longer answers, because threads inside device calls are blocked.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "core/enum_text.hpp"
#include "core/non_copyable.hpp"
#include "device/call.hpp"

namespace xferbench {

/// Timeouts in seconds.
struct WatchdogLimits {
  double timeout = 30;       ///< time that any call may take, even if its expected time is short
  double factor = 10;        ///< a call may also take this many times its expected time
  double interrupted = 1.2;  ///< time after Ctrl-C in which the program must destroy the Watch
  double interval = 0.1;     ///< time between two checks
};

struct Alarm {
  enum class Kind {
    stuck,        ///< a call has not returned in time
    interrupted,  ///< the program has not ended in time after Ctrl-C
  };
  Kind kind{};
  std::string_view operation{};  ///< call that a thread is inside, as text; empty if there is none
  double seconds = 0;            ///< seconds without progress, or seconds since Ctrl-C
};
constexpr auto texts_of(Alarm::Kind) { return enum_texts("stuck", "interrupted"); }

/// Observes device calls and counts them for the watchdog. Each thread has counters of its own, so that a call costs
/// only a few stores. The watchdog's thread reads them.
class CallCounters final : public CallObserver {
 public:
  CallCounters();
  void enter(const DeviceCall& call) override;
  void leave(const DeviceCall& call, bool progress) noexcept override;

  /// Sums of the counters of all threads.
  struct Totals {
    std::uint64_t progress = 0;  ///< number of begins and ends of calls, plus event queries that found a finished event
    std::uint64_t polls = 0;     ///< number of event queries
    std::uint64_t waits = 0;     ///< number of waits for device work that have returned
    double expected = 0;         ///< expected duration of all submitted work, in seconds
    bool inside = false;         ///< whether any thread is inside a call; `kind` is then the kind of that call
    CallKind kind{};
  };
  [[nodiscard]] Totals totals() const;

 private:
  /// Counters of one thread. The last element is shared by all threads for which no other is left.
  struct alignas(64) Counters {
    std::atomic<std::uint64_t> entered{0};
    std::atomic<std::uint64_t> left{0};
    std::atomic<std::uint64_t> asked{0};     // number of event queries that began
    std::atomic<std::uint64_t> answered{0};  // number of event queries that returned
    std::atomic<std::uint64_t> finished{0};  // number of event queries that found the event finished
    std::atomic<std::uint64_t> waits{0};
    std::atomic<std::uint64_t> expected{0};  // expected duration of submitted work, in nanoseconds
    std::atomic<CallKind> kind{};
    bool shared = false;

    void add(std::atomic<std::uint64_t>& counter, std::uint64_t more = 1) const;
  };

  Counters& mine();

  std::vector<Counters> places_;
};

/// Raises an alarm if the device is stuck: a thread is inside a device call or polls an event, but for too long no call
/// has begun or ended and no event has finished. Host work outside of device calls may take any time. Time in which the
/// whole process was stopped (Ctrl-Z) does not count.
class Watchdog {
 public:
  explicit Watchdog(const WatchdogLimits& limits = {}) : limits_(limits) {}

  /// Returns the observer to pass to intercept(). The watchdog must outlive the machine.
  [[nodiscard]] CallObserver& observer() { return calls_; }

  /// Owns the thread that makes the periodic checks.
  class Watch : NonCopyable {
    friend class Watchdog;
    explicit Watch(std::jthread thread) : thread_(std::move(thread)) {}
    std::jthread thread_;
  };

  /// Starts the checks. The Watch's thread calls `on_alarm` at most once and then ends. `on_alarm` must not throw.
  [[nodiscard]] Watch watch(std::function<void(const Alarm&)> on_alarm);

 private:
  WatchdogLimits limits_;
  CallCounters calls_;
};

}  // namespace xferbench
