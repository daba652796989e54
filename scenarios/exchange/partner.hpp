// Not a scenario: the rank that this one exchanges with. Both know at all times whether both are still there, so that
// one that fails leaves nobody waiting.
#pragma once

#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "run/scenario.hpp"

namespace xferbench {

/// The other end has failed, and says itself why.
struct PartnerFailedError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Both ends call the same functions in the same order.
class Partner {
 public:
  Partner(const FleetContext& fleet, int rank) : fleet_(fleet), rank_(rank) {}

  [[nodiscard]] int rank() const { return rank_; }

  /// Tells whether this end is in order. Throws what this one has put off, or PartnerFailedError if the other one alone
  /// is not in order. Once one of them has failed, nothing is said any more.
  void agree(bool mine);
  /// Work within a pass. What it throws is put off until both agree again: whoever waited for the other end now would
  /// keep all ranks waiting, which have yet to agree on the pass.
  void within_pass(const std::function<void()>& work);
  /// Does something that may fail at one end alone.
  void together(const std::function<void()>& work);
  /// The larger of what both say, number by number.
  [[nodiscard]] std::vector<double> largest(const std::vector<double>& mine);
  /// What the other end says.
  [[nodiscard]] std::vector<double> swap(const std::vector<double>& mine);

 private:
  std::vector<double> exchange(const std::vector<double>& mine);

  const FleetContext& fleet_;
  int rank_;
  bool failed_ = false;  // one of them
  std::exception_ptr put_off_;
};

}  // namespace xferbench
