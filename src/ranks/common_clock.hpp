// One clock for all ranks: that of rank 0, as each rank computes it from its own.
#pragma once

#include <string>
#include <vector>

#include "device/host_runtime.hpp"
#include "ranks/communicator.hpp"
#include "ranks/waiting.hpp"

namespace xferbench {

/// The common clock as a line through a rank's own, and how far it may be off.
struct ClockLine {
  double at = 0;      ///< a moment of the rank's own clock, in seconds, ...
  double offset = 0;  ///< ... what the common clock shows then, less that, ...
  double drift = 0;   ///< ... and seconds that this grows by in a second
  double uncertainty =
      0;  ///< seconds that it may be off by now: half the round trips on the way to rank 0, and the fit

  [[nodiscard]] double common(double own) const { return own + offset + drift * (own - at); }
  [[nodiscard]] double own(double common_time) const { return (common_time - offset + drift * at) / (1 + drift); }
};

/// Keeps the relation of this rank's clock to that of rank 0. Ranks learn from each other in a tree: in each of log2 of
/// their number steps every rank that knows the common clock teaches one that does not.
class CommonClock {
 public:
  /// `host` is whose clock this rank's is.
  CommonClock(Communicator& ranks, HostRuntime& host) : ranks_(ranks), host_(host) {}

  /// Collective: measures the offset anew. The first time with many round trips; later ones are few, and a line through
  /// all offsets so far gives the drift.
  void synchronise(const Patience& patience);

  /// The common time now, in seconds.
  [[nodiscard]] double now() const { return line_.common(host_.now()); }
  [[nodiscard]] const ClockLine& line() const { return line_; }

 private:
  struct Offset {
    double at = 0;           // of this rank's clock
    double offset = 0;       // common time less that
    double uncertainty = 0;  // the teacher's, and half the round trip
  };

  Communicator& ranks_;
  HostRuntime& host_;
  ClockLine line_;
  std::vector<Offset> offsets_;
};

}  // namespace xferbench
