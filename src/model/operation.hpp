// One operation on an engine, as everything that steps through time sees it. Pure; times in seconds.
#pragma once

#include <limits>

#include "model/pipeline.hpp"

namespace xferbench::model {

/// What the other direction does while a copy runs. It slows no kernel.
struct Beside {
  bool running = false;
  bool moves_payload = false;
};

/// What is left of an operation: what its engine needs to take it up, then its time beside the payload, then its
/// payload. Copies in the other direction slow the second while they run, and the third while they move payload.
class Operation {
 public:
  Operation() = default;  ///< none: the engine is idle
  Operation(const Cost& cost, double bytes, double preparation = 0)
      : cost_(&cost), preparation_(preparation), overhead_(cost.per_operation), payload_(bytes * cost.per_byte) {}

  [[nodiscard]] bool running() const { return cost_ != nullptr; }
  [[nodiscard]] bool moves_payload() const { return running() && preparation_ <= 0 && overhead_ <= 0; }
  [[nodiscard]] Beside beside() const { return {running(), moves_payload()}; }
  /// To the end of its present phase if nothing changes before; infinite if there is none.
  [[nodiscard]] double left(const Beside& other) const {
    if (!running()) return std::numeric_limits<double>::infinity();
    if (preparation_ > 0) return preparation_;
    if (overhead_ > 0) return overhead_ * (other.running ? cost_->duplex_overhead : 1);
    return payload_ / (other.moves_payload ? cost_->duplex_rate : 1);
  }
  /// Time passes, no more than left() says. True if the operation has ended by that.
  bool pass(double seconds, const Beside& other) {
    if (!running()) return false;
    const double whole = left(other);
    double& phase = preparation_ > 0 ? preparation_ : overhead_ > 0 ? overhead_ : payload_;
    // What ends now ends exactly, however times are rounded.
    phase = whole <= seconds ? 0 : phase * (1 - seconds / whole);
    if (preparation_ > 0 || overhead_ > 0 || payload_ > 0) return false;
    cost_ = nullptr;
    return true;
  }

 private:
  const Cost* cost_ = nullptr;
  double preparation_ = 0;
  double overhead_ = 0;
  double payload_ = 0;
};

}  // namespace xferbench::model
