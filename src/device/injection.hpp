// Injects device faults on request, to test how the program handles them.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>

#include "device/call.hpp"
#include "device/machine.hpp"

namespace xferbench {

struct InjectedFault {
  enum class Effect {
    hang,  ///< the call never returns; a stream call on a real GPU instead enqueues an endless kernel before its work
    fail,  ///< the call throws DeviceError
    lose,  ///< this and all later calls of the device throw, and usable() is false; a stream call on a real GPU
           ///< enqueues a kernel with an invalid memory access before its work
    die,   ///< the process is killed at once, as by kill -9
    flip,  ///< the copy delivers one wrong bit; if it moves no data (timed passes of a simulated machine), the fault
           ///< hits the next copy that moves data
  };
  Effect effect{};
  std::optional<CallKind> kind{};  ///< kind of calls to count; empty: all calls that may throw
  std::uint64_t nth = 1;           ///< number, from 1, of the counted call that gets the fault; 0: no fault
};
constexpr auto texts_of(InjectedFault::Effect) { return enum_texts("hang", "fail", "lose", "die", "flip"); }

/// Parses a fault, for example "hang:launch:5" (effect, kind of call, number). Throws UsageError with the valid values.
InjectedFault parse_fault(std::string_view text);

/// Returns the fault that the environment variable XFERBENCH_INJECT requests; nothing if it is unset or empty. Throws
/// UsageError like parse_fault(). No other code reads the variable.
std::optional<InjectedFault> fault_from_environment();

/// Counts the calls to a machine and injects the fault into call number InjectedFault::nth.
class FaultInjector : public CallObserver {
 public:
  explicit FaultInjector(const InjectedFault& fault) : fault_(fault) {}

  /// Creates the gate for hangs on a real machine. The machine must outlive this object.
  void prepare(Machine& machine);

  void enter(const DeviceCall& call) override;
  void submitted(const DeviceCall& call) override;
  void leave(const DeviceCall&, bool) noexcept override {}
  bool moves_data(bool asked) override { return moving_ = asked; }

  /// Number of calls so far of the kind to count (InjectedFault::kind).
  [[nodiscard]] std::uint64_t calls() const { return calls_; }
  /// The kind of call that the fault hit; nothing if it has not hit yet.
  [[nodiscard]] std::optional<CallKind> hit() const {
    const bool flips = fault_.effect == InjectedFault::Effect::flip;
    const bool has_hit = flips ? flipped_.load() : calls_ >= fault_.nth && fault_.nth > 0;
    return has_hit ? std::optional(hit_.load()) : std::nullopt;
  }

 private:
  [[nodiscard]] bool is_counted(const DeviceCall& call) const;
  void hang(const DeviceCall& call);
  [[nodiscard]] bool is_lost(const DeviceCall& call) const;

  InjectedFault fault_;
  std::atomic<std::uint64_t> calls_{0};
  std::atomic<CallKind> hit_{};
  std::atomic<bool> lost_{false};
  std::atomic<bool> moving_{true};
  std::atomic<bool> flipped_{false};
  const Device* lost_device_ = nullptr;  // the device that was lost; null: every device of the machine
  bool several_ = false;                 // whether the machine has several devices
  bool real_ = false;
  Gate gate_;  // never opened: holds streams for Effect::hang on a real machine
};

}  // namespace xferbench
