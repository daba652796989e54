// Faults of a device on purpose: how it is tried what the program makes of them.
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
    hang,  ///< it never returns; on a real GPU, work of a stream is enqueued behind a kernel that never ends
    fail,  ///< it throws DeviceError
    lose,  ///< it does, and so does every call of that device from then on: it is not usable() any more; on a real GPU,
           ///< work of a stream is enqueued behind a kernel that writes where it must not
    die,   ///< the process is gone at once, as after kill -9
    flip,  ///< of a copy: one bit of one byte of what it has brought is wrong; where data do not move (timed passes of
           ///< a simulated machine), of the next copy that moves them
  };
  Effect effect{};
  std::optional<CallKind> kind{};  ///< of the calls that are counted; none: of all that may throw
  std::uint64_t nth = 1;           ///< which of them, from 1; 0: none
};
constexpr auto texts_of(InjectedFault::Effect) {
  return std::to_array<std::string_view>({"hang", "fail", "lose", "die", "flip"});
}

/// "hang:launch:5": the effect, the kind of call, and which of them. Throws UsageError that lists what there is.
InjectedFault parse_fault(std::string_view text);

/// What the environment variable XFERBENCH_INJECT asks for; nothing where it is not set or empty. Throws as
/// parse_fault() does. The only place that reads it.
std::optional<InjectedFault> fault_from_environment();

/// Does what a fault says.
class FaultInjector : public CallObserver {
 public:
  explicit FaultInjector(const InjectedFault& fault) : fault_(fault) {}

  /// Makes ready for a real machine, which outlives this.
  void prepare(Machine& machine);

  void enter(const DeviceCall& call) override;
  void submitted(const DeviceCall& call) override;
  void leave(const DeviceCall&, bool) noexcept override {}
  bool moves_data(bool asked) override { return moving_ = asked; }

  /// Calls so far of the kind that is counted.
  [[nodiscard]] std::uint64_t calls() const { return calls_; }
  /// That the fault hit; nothing as long as it has not.
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
  const Device* lost_device_ = nullptr;  // that it is about; null: all of the machine
  bool several_ = false;                 // devices
  bool real_ = false;
  Gate gate_;  // on a real machine, which nobody ever opens
};

}  // namespace xferbench
