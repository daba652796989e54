// One operation on an engine, for models that advance through time step by step. Pure; times in seconds.
#pragma once

#include <limits>

#include "model/pipeline.hpp"

namespace xferbench::model {

/// State of the copy in the opposite direction, which slows a copy but no kernel.
struct Concurrent {
  bool running = false;
  bool moves_payload = false;
};

/// The remaining phases of an operation on an engine: preparation of the engine, then overhead, then payload. A copy in
/// the opposite direction slows the overhead while that copy runs, and the payload while that copy moves payload.
class Operation {
 public:
  Operation() = default;  ///< no operation: the engine is idle
  Operation(const Cost& cost, double bytes, double preparation = 0)
      : cost_(&cost), preparation_(preparation), overhead_(cost.per_operation), payload_(bytes * cost.per_byte) {}

  [[nodiscard]] bool running() const { return cost_ != nullptr; }
  [[nodiscard]] bool moves_payload() const { return running() && preparation_ <= 0 && overhead_ <= 0; }
  [[nodiscard]] Concurrent concurrent() const { return {running(), moves_payload()}; }
  /// Seconds to the end of the current phase if `other` does not change; infinite if the engine is idle.
  [[nodiscard]] double remaining(const Concurrent& other) const {
    if (!running()) return std::numeric_limits<double>::infinity();
    if (preparation_ > 0) return preparation_;
    if (overhead_ > 0) return overhead_ * (other.running ? cost_->duplex_overhead : 1);
    return payload_ / (other.moves_payload ? cost_->duplex_rate : 1);
  }
  /// Advances by at most remaining() seconds. Returns true if the operation ended.
  bool elapse(double seconds, const Concurrent& other) {
    if (!running()) return false;
    const double whole = remaining(other);
    double& phase = preparation_ > 0 ? preparation_ : overhead_ > 0 ? overhead_ : payload_;
    // A phase that ends now must have a remainder of exactly 0, regardless of rounding.
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
