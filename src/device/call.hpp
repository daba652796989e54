// Describes each device call to the two observers that sit between a program and its machine: the watchdog and the
// fault injector.
#pragma once

#include <optional>
#include <span>

#include "core/enum_text.hpp"
#include "core/health.hpp"
#include "core/non_copyable.hpp"
#include "device/kernel.hpp"
#include "device/types.hpp"

namespace xferbench {

class Device;
class StreamImpl;

enum class CallKind : unsigned char {
  // Stream calls.
  copy,
  copy_batch,
  copy_strided,
  fill,
  launch,
  prefetch,
  stamp,
  call_host,
  record,
  wait_for_event,
  replay,
  capture,
  synchronize_stream,
  // Event and gate calls.
  synchronize_event,
  query_event,
  elapsed,
  close_gate,
  wait_until_held,
  // Device and machine calls.
  make_stream,
  make_event,
  make_gate,
  allocate_device,
  allocate_host,
  register_host,
  set_peer_access,
  memory_info,
  copy_blocking,
  synchronize_device,
  usable,
  health,
  set_wait_policy,
  preload,
  kernel_resources,
  load_kernel,
  reserve_launches,
  reserved_launches,
  relate_clocks,
  measure_clock,
  start_trace,
  stop_trace,
  // Calls in the destructors of memory, streams and other resources.
  free,
  destroy,
};
constexpr auto texts_of(CallKind) {
  return enum_texts("copy", "copy-batch", "copy-strided", "fill", "launch", "prefetch", "stamp", "call-host", "record",
                    "wait-for-event", "replay", "capture", "synchronize-stream", "synchronize-event", "query-event",
                    "elapsed", "close-gate", "wait-until-held", "make-stream", "make-event", "make-gate",
                    "allocate-device", "allocate-host", "register-host", "set-peer-access", "memory-info",
                    "copy-blocking", "synchronize-device", "usable", "health", "set-wait-policy", "preload",
                    "kernel-resources", "load-kernel", "reserve-launches", "reserved-launches", "relate-clocks",
                    "measure-clock", "start-trace", "stop-trace", "free", "destroy");
}

/// Whether calls of this kind may throw. The other kinds run in destructors or during error handling and never throw.
constexpr bool may_throw(CallKind kind) {
  return kind != CallKind::free && kind != CallKind::destroy && kind != CallKind::usable && kind != CallKind::health;
}

/// Whether the return of a call of this kind shows that submitted work has progressed or finished.
constexpr bool waits_for_work(CallKind kind) {
  return kind == CallKind::synchronize_stream || kind == CallKind::synchronize_event || kind == CallKind::query_event ||
         kind == CallKind::synchronize_device || kind == CallKind::copy_blocking || kind == CallKind::usable ||
         kind == CallKind::start_trace || kind == CallKind::stop_trace;
}

/// Whether calls of this kind only submit work. DeviceCall::expected is then the work's duration, not the call's.
constexpr bool submits_work(CallKind kind) {
  return kind == CallKind::copy || kind == CallKind::copy_batch || kind == CallKind::copy_strided ||
         kind == CallKind::fill || kind == CallKind::launch || kind == CallKind::prefetch || kind == CallKind::replay;
}

/// One call of a device, as observers see it. `stream` and `device` are objects of the wrapped machine, not the
/// wrappers that the program uses.
struct DeviceCall {
  CallKind kind{};
  /// Upper bound for the duration of the work that the call does or submits, in seconds; 0 if negligible.
  double expected = 0;
  std::span<const Copy> copies{};
  const Kernel* kernel = nullptr;
  StreamImpl* stream = nullptr;
  Device* device = nullptr;
};

/// Interface that is notified before and after every device call, on the calling thread. It must be thread-safe, and
/// must return within nanoseconds, because most calls are inside timed regions.
class CallObserver : NonCopyable {
 public:
  virtual ~CallObserver() = default;

  /// Called before a device call. May throw if may_throw(call.kind); then the device call and leave() are skipped. If
  /// it throws a DeviceError for CallKind::usable, usable() returns false.
  virtual void enter(const DeviceCall& call) = 0;
  /// Called after a CallKind::copy was submitted to a stream, before leave(). May throw what the copy may throw.
  virtual void submitted(const DeviceCall&) {}
  /// Called after the call has returned or thrown. `progress` is false if an event query found the event unfinished.
  virtual void leave(const DeviceCall& call, bool progress) noexcept = 0;

  // Hooks with which tests and the fault injector change what a device reports.
  virtual void adjust(Capabilities&) const {}
  virtual void adjust(Health&) {}
  virtual void adjust(std::optional<LinkBytes>&) {}
  /// Returns whether a simulated machine really moves data. `asked`: argument of Machine::set_data_movement().
  virtual bool moves_data(bool asked) { return asked; }
};

}  // namespace xferbench
