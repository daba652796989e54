// The watchdog: detects a device that no longer answers, which the blocked program itself cannot notice.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
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
  double timeout = 30;       ///< any call may take this long, ...
  double factor = 10;        ///< ... and this many times its expected time, if that is longer
  double interrupted = 1.2;  ///< from Ctrl-C to the end of the Watch
  double interval = 0.1;     ///< between two checks
};

struct Alarm {
  enum class Kind {
    stuck,        ///< a call does not return
    interrupted,  ///< the program takes too long to react to Ctrl-C
  };
  Kind kind{};
  std::string_view operation{};  ///< the call that a thread is in, by to_text(CallKind); empty: none
  double seconds = 0;            ///< time without progress, or since Ctrl-C
};
constexpr auto texts_of(Alarm::Kind) { return std::to_array<std::string_view>({"stuck", "interrupted"}); }

/// Counts calls for a watchdog. Each thread has counters of its own, so that a call costs only a few stores; only the
/// watchdog's thread evaluates them.
class CallCounters final : public CallObserver {
 public:
  CallCounters();
  void enter(const DeviceCall& call) override;
  void leave(const DeviceCall& call, bool progress) noexcept override;

  /// The sums over all threads.
  struct Totals {
    std::uint64_t progress = 0;  ///< calls entered or left; a query of an unfinished event does not count
    std::uint64_t polls = 0;     ///< event queries
    std::uint64_t waits = 0;     ///< waits for work that returned
    double expected = 0;         ///< seconds of all submitted work
    bool inside = false;         ///< a thread is in a call, of this kind:
    CallKind kind{};
  };
  [[nodiscard]] Totals totals() const;

 private:
  /// The counters of one thread at a time; the last ones are shared by threads for which there are no others.
  struct alignas(64) Counters {
    std::atomic<std::uint64_t> entered{0};
    std::atomic<std::uint64_t> left{0};
    std::atomic<std::uint64_t> asked{0};     // event queries
    std::atomic<std::uint64_t> answered{0};  // event queries that returned
    std::atomic<std::uint64_t> finished{0};  // event queries that returned and found the event finished
    std::atomic<std::uint64_t> waits{0};
    std::atomic<std::uint64_t> expected{0};  // expected duration of submitted work, in nanoseconds
    std::atomic<CallKind> kind{};
    bool shared = false;

    void add(std::atomic<std::uint64_t>& counter, std::uint64_t more = 1) const;
  };

  Counters& mine();

  std::vector<Counters> places_;
};

/// A device counts as stuck if a thread is in one of its calls, or keeps querying an event, and for too long no call
/// was entered or returned anything new. Host work outside of calls may take any time. Time in which the whole process
/// was stopped (Ctrl-Z) does not count.
class Watchdog {
 public:
  explicit Watchdog(const WatchdogLimits& limits = {}) : limits_(limits) {}

  /// The observer for intercept(). The watchdog must outlive the machine.
  [[nodiscard]] CallObserver& observer() { return calls_; }

  /// A thread makes checks as long as this object exists.
  class Watch : NonCopyable {
    friend class Watchdog;
    explicit Watch(std::jthread thread) : thread_(std::move(thread)) {}
    std::jthread thread_;
  };

  /// `on_alarm` is called at most once, on the watch's own thread, which then ends; it must not throw.
  [[nodiscard]] Watch watch(std::function<void(const Alarm&)> on_alarm);

 private:
  WatchdogLimits limits_;
  CallCounters calls_;
};

}  // namespace xferbench
