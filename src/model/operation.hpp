// One operation on an engine, as everything that steps through time sees it. Pure; times in seconds.
#pragma once

#include <limits>

#include "model/pipeline.hpp"

namespace xferbench::model {

/// What is left of an operation: first its time beside the payload, then its payload. How fast either passes depends on
/// whether the other direction moves payload at the same time, which slows a copy and no kernel.
class Operation {
 public:
  Operation() = default;  ///< none: the engine is idle
  Operation(const Cost& cost, double bytes)
      : cost_(&cost), overhead_(cost.per_operation), payload_(bytes * cost.per_byte) {}

  [[nodiscard]] bool running() const { return cost_ != nullptr; }
  [[nodiscard]] bool moves_payload() const { return running() && overhead_ <= 0; }
  /// To the end of its present phase if nothing changes before; infinite if there is none.
  [[nodiscard]] double left(bool contended) const {
    if (!running()) return std::numeric_limits<double>::infinity();
    if (overhead_ > 0) return overhead_ * (contended ? cost_->duplex_overhead : 1);
    return payload_ / (contended ? cost_->duplex_rate : 1);
  }
  /// Time passes, no more than left() says. True if the operation has ended by that.
  bool pass(double seconds, bool contended) {
    if (!running()) return false;
    const double whole = left(contended);
    double& phase = overhead_ > 0 ? overhead_ : payload_;
    // What ends now ends exactly, however times are rounded.
    phase = whole <= seconds ? 0 : phase * (1 - seconds / whole);
    if (overhead_ > 0 || payload_ > 0) return false;
    cost_ = nullptr;
    return true;
  }

 private:
  const Cost* cost_ = nullptr;
  double overhead_ = 0;
  double payload_ = 0;
};

}  // namespace xferbench::model
