// A call of a device as those see it who stand between a program and its machine: the watchdog, and what injects
// faults.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "core/enum_text.hpp"
#include "core/health.hpp"
#include "core/non_copyable.hpp"
#include "device/kernel.hpp"
#include "device/memory.hpp"
#include "device/types.hpp"

namespace xferbench {

class Device;
class StreamImpl;

enum class CallKind : unsigned char {
  // Of streams.
  copy,
  copy_batch,
  fill,
  launch,
  prefetch,
  stamp,
  call_host,
  record,
  wait_for_event,
  replay,
  capture,
  allocate_in_stream,
  synchronize_stream,
  // Of events and gates.
  synchronize_event,
  query_event,
  elapsed,
  close_gate,
  wait_until_held,
  // Of devices and machines.
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
  // Of owners that go.
  free,
  destroy,
};
constexpr auto texts_of(CallKind) {
  return std::to_array<std::string_view>({
      "copy",
      "copy-batch",
      "fill",
      "launch",
      "prefetch",
      "stamp",
      "call-host",
      "record",
      "wait-for-event",
      "replay",
      "capture",
      "allocate-in-stream",
      "synchronize-stream",
      "synchronize-event",
      "query-event",
      "elapsed",
      "close-gate",
      "wait-until-held",
      "make-stream",
      "make-event",
      "make-gate",
      "allocate-device",
      "allocate-host",
      "register-host",
      "set-peer-access",
      "memory-info",
      "copy-blocking",
      "synchronize-device",
      "usable",
      "health",
      "set-wait-policy",
      "preload",
      "kernel-resources",
      "load-kernel",
      "reserve-launches",
      "reserved-launches",
      "relate-clocks",
      "measure-clock",
      "start-trace",
      "stop-trace",
      "free",
      "destroy",
  });
}

/// Whether the call tells of errors. The others never throw: they are made by destructors, and where an error is over.
constexpr bool may_throw(CallKind kind) {
  return kind != CallKind::free && kind != CallKind::destroy && kind != CallKind::usable && kind != CallKind::health;
}

/// Whether it returns when work that was submitted has been done.
constexpr bool waits_for_work(CallKind kind) {
  return kind == CallKind::synchronize_stream || kind == CallKind::synchronize_event || kind == CallKind::query_event ||
         kind == CallKind::synchronize_device || kind == CallKind::copy_blocking || kind == CallKind::usable ||
         kind == CallKind::start_trace || kind == CallKind::stop_trace;
}

/// Whether what it is expected to take is done later, in a stream, and not before it returns.
constexpr bool submits_work(CallKind kind) {
  return kind == CallKind::copy || kind == CallKind::copy_batch || kind == CallKind::fill || kind == CallKind::launch ||
         kind == CallKind::prefetch || kind == CallKind::replay;
}

/// What there is in it is that of the machine behind: its device, its stream.
struct DeviceCall {
  CallKind kind{};
  /// Seconds that what the call does or submits takes at rates that every machine reaches; 0 where next to nothing.
  double expected = 0;
  std::span<const Copy> copies{};
  const Kernel* kernel = nullptr;
  StreamImpl* stream = nullptr;
  Device* device = nullptr;
};

/// Is told of every call, on the thread that makes it: several at once. What is timed waits for it, so it has
/// nanoseconds.
class CallObserver : NonCopyable {
 public:
  virtual ~CallObserver() = default;

  /// Before it. Where the call may throw, so may this, and then neither the call nor leave() follows. To throw
  /// DeviceError before CallKind::usable makes its answer no.
  virtual void enter(const DeviceCall& call) = 0;
  /// After a copy that has been submitted to a stream. May throw, as the copy may.
  virtual void submitted(const DeviceCall&) {}
  /// After it, however it ended. `progress` is false where an event was asked for that has not finished yet.
  virtual void leave(const DeviceCall& call, bool progress) noexcept = 0;

  // What tests change of what a machine says and is told.
  virtual void adjust(Capabilities&) const {}
  virtual void adjust(Health&) {}
  virtual void adjust(std::optional<LinkBytes>&) {}
  /// Whether data is to move, where that was asked for or not.
  virtual bool moves_data(bool asked) { return asked; }
};

}  // namespace xferbench
