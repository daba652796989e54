// The watchdog: notices that a device does not answer any more, where nothing in the program itself could.
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

/// When to give up. In seconds.
struct WatchdogLimits {
  double patience = 30;      ///< a call may take as long in any case, ...
  double factor = 10;        ///< ... and so many times what it is expected to take, where that is longer
  double interrupted = 1.2;  ///< between Ctrl-C and the end of what is watched
  double interval = 0.1;     ///< between two looks
};

struct Alarm {
  enum class Kind {
    stuck,        ///< a call does not come back
    interrupted,  ///< Ctrl-C was asked for, and something takes too long to see it
  };
  Kind kind{};
  std::string_view operation{};  ///< the call that a thread is in, as to_text(CallKind) has it; empty: in none
  double seconds = 0;            ///< without progress, or since Ctrl-C
};
constexpr auto texts_of(Alarm::Kind) { return std::to_array<std::string_view>({"stuck", "interrupted"}); }

/// What a watchdog is told of calls. Each thread writes to counters of its own, a few stores for a call; the watchdog's
/// thread alone makes sense of them.
class CallCounters final : public CallObserver {
 public:
  CallCounters();
  void enter(const DeviceCall& call) override;
  void leave(const DeviceCall& call, bool progress) noexcept override;

  /// The sums over all threads.
  struct Totals {
    std::uint64_t progress = 0;  ///< calls that were entered or left; that an event has not finished is none
    std::uint64_t polls = 0;     ///< questions for an event
    std::uint64_t waits = 0;     ///< for work, that came back
    double expected = 0;         ///< seconds of all that was submitted
    bool inside = false;         ///< a thread is in a call, namely:
    CallKind kind{};
  };
  [[nodiscard]] Totals totals() const;

 private:
  /// Of one thread at a time; the last place is for all threads that find no other.
  struct alignas(64) Counters {
    std::atomic<std::uint64_t> entered{0};
    std::atomic<std::uint64_t> left{0};
    std::atomic<std::uint64_t> asked{0};     // whether an event has finished
    std::atomic<std::uint64_t> answered{0};  // of these
    std::atomic<std::uint64_t> finished{0};  // of these, by yes
    std::atomic<std::uint64_t> waits{0};
    std::atomic<std::uint64_t> expected{0};  // nanoseconds
    std::atomic<CallKind> kind{};
    bool shared = false;

    void add(std::atomic<std::uint64_t>& counter, std::uint64_t more = 1) const;
  };

  Counters& mine();

  std::vector<Counters> places_;
};

/// A device is taken for stuck while a thread is in one of its calls, or asks again and again for an event, and for
/// too long no call has been entered or has come back with anything new. Work of the host outside of calls may take as
/// long as it likes. A time in which the whole process was stopped (Ctrl-Z) does not count.
class Watchdog {
 public:
  explicit Watchdog(const WatchdogLimits& limits = {}) : limits_(limits) {}

  /// For intercept(). The watchdog outlives the machine.
  [[nodiscard]] CallObserver& observer() { return calls_; }

  /// While it lives, a thread looks.
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
