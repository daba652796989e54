// Synchronizes this rank with its partner, the rank that it exchanges data with, so that an error at one end never
// leaves the other waiting.
#pragma once

#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "run/scenario.hpp"

namespace xferbench {

/// The other end has failed; its own result gives the reason.
struct PartnerFailedError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Hazard: both ends must call the same functions in the same order.
class Partner {
 public:
  Partner(const FleetContext& fleet, int rank) : fleet_(fleet), rank_(rank) {}

  [[nodiscard]] int rank() const { return rank_; }

  /// Tells the other end whether this end is fine (`mine`), and learns whether the other end is. Throws an error
  /// postponed by within_pass(), or PartnerFailedError if only the other end has failed. After a failure of either end,
  /// does nothing.
  void agree(bool mine);
  /// Runs `work` within a pass and postpones its error to the next agree(): waiting for the other end now would block
  /// all ranks, which have yet to agree on the pass.
  void within_pass(const std::function<void()>& work);
  /// Runs work that may fail at one end only, then calls agree().
  void together(const std::function<void()>& work);
  /// Element-wise maximum of the vectors of both ends, which must have the same size.
  [[nodiscard]] std::vector<double> largest(const std::vector<double>& mine);
  /// Returns the other end's vector, which must have the same size.
  [[nodiscard]] std::vector<double> swap(const std::vector<double>& mine);

 private:
  std::vector<double> exchange(const std::vector<double>& mine);

  const FleetContext& fleet_;
  int rank_;
  bool failed_ = false;  // whether either end has failed
  std::exception_ptr put_off_;
};

}  // namespace xferbench
