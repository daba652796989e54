// Watching what a machine does: timelines of its own, and marks for profilers that watch the process.
#pragma once

#include <string_view>

#include "core/non_copyable.hpp"
#include "core/trace.hpp"
#include "device/types.hpp"

namespace xferbench {

/// How a copy appears in timelines, on every backend.
struct TracedCopy {
  std::string_view name;
  Activity::Row row;
};

constexpr TracedCopy traced(Direction direction) {
  switch (direction) {
    case Direction::h2d: return {"copy H2D", Activity::Row::h2d};
    case Direction::d2h: return {"copy D2H", Activity::Row::d2h};
    case Direction::p2p: return {"copy P2P", Activity::Row::peer};
    case Direction::d2d: break;
  }
  return {"copy D2D", Activity::Row::internal};
}

class Tracer : NonCopyable {
 public:
  virtual ~Tracer() = default;

  /// Waits for the devices; from then on everything that is enqueued, and the calls that enqueue it, are recorded.
  /// Watching costs time, so never while samples are taken.
  virtual void start() = 0;
  /// Waits for the devices and ends the recording. Gates, stamps and clock probes are not part of it.
  [[nodiscard]] virtual Trace stop() = 0;

  /// Marks by thread, which nest; nothing where no profiler can see them. `name` is copied.
  virtual void begin_range(const char* /*name*/) {}
  virtual void end_range() {}
};

/// Marks what a scope does for profilers. Cheap where none watches, if `name` need not be made for it.
class NvtxRange : NonCopyable {
 public:
  NvtxRange(Tracer& tracer, const char* name) : tracer_(tracer) { tracer_.begin_range(name); }
  ~NvtxRange() { tracer_.end_range(); }

 private:
  Tracer& tracer_;
};

}  // namespace xferbench
