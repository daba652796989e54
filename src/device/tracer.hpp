// Records timelines of device activity and marks ranges for external profilers.
#pragma once

#include <string_view>

#include "core/non_copyable.hpp"
#include "core/trace.hpp"
#include "device/types.hpp"

namespace xferbench {

/// Name and timeline row of a copy, which are the same on every backend.
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

  /// Waits until the devices are idle, then records all operations that are enqueued and the calls that enqueue them.
  /// Recording slows the work, so never record while taking samples.
  virtual void start() = 0;
  /// Waits until the devices are idle and ends the recording. The trace leaves out gates, stamps and clock probes.
  [[nodiscard]] virtual Trace stop() = 0;

  /// Begins or ends an NVTX range of the calling thread. Ranges nest. No effect without a profiler. `name` is copied.
  virtual void begin_range(const char* /*name*/) {}
  virtual void end_range() {}
};

/// Scope guard that profilers show as an NVTX range. Without a profiler it costs little more than making `name`.
class NvtxRange : NonCopyable {
 public:
  NvtxRange(Tracer& tracer, const char* name) : tracer_(tracer) { tracer_.begin_range(name); }
  ~NvtxRange() { tracer_.end_range(); }

 private:
  Tracer& tracer_;
};

}  // namespace xferbench
