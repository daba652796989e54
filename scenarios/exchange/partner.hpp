// Synchronizes this rank with its partner, the rank that it exchanges data with, so that an error at one end never
// leaves the other waiting.
#pragma once

#include <exception>
#include <stdexcept>

#include "run/scenario.hpp"

namespace xferbench {

/// Thrown if the other rank has failed; the result of that rank gives the reason.
struct PartnerFailedError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Synchronizes with the partner rank. Hazard: both ranks must call the same functions in the same order.
class Partner {
 public:
  Partner(const FleetContext& fleet, int rank) : fleet_(fleet), rank_(rank) {}

  [[nodiscard]] int rank() const { return rank_; }

  /// Tells the other rank whether this rank has succeeded (`mine`), and learns whether the other rank has. Throws an
  /// error postponed by within_pass(), or PartnerFailedError if only the other rank has failed. Does nothing after a
  /// failure of either rank.
  void agree(bool mine);
  /// Runs `work` within a pass and postpones its error to the next agree(). Calling agree() within the pass could
  /// deadlock: the partner may already wait for all ranks at the end of the pass.
  void within_pass(const std::function<void()>& work);
  /// Runs work that may fail on one rank only, then calls agree().
  void together(const std::function<void()>& work);
  /// Returns the element-wise maximum of the vectors of both ranks, which must have the same size.
  [[nodiscard]] std::vector<double> largest(const std::vector<double>& mine);
  /// Sends `mine` to the other rank and returns the vector of the other rank, which must have the same size.
  [[nodiscard]] std::vector<double> swap(const std::vector<double>& mine);

 private:
  std::vector<double> exchange(const std::vector<double>& mine);

  const FleetContext& fleet_;
  int rank_;
  bool failed_ = false;  // whether one of the two ranks has failed
  std::exception_ptr put_off_;
};

}  // namespace xferbench
