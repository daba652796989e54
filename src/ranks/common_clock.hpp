// One clock for all ranks: that of rank 0, as each rank computes it from its own. docs/lab/fleets.md tells how it is
// found, after whom, and what its uncertainty covers.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "device/host_runtime.hpp"
#include "ranks/communicator.hpp"
#include "ranks/waiting.hpp"

namespace xferbench {

/// Two clocks drift apart by no more than this, in seconds per second: each may be off by 100 parts in a million, as
/// the worst crystals are, and some room.
inline constexpr double kLargestDrift = 250e-6;
/// The drift of two clocks stays within this of its mean, in seconds per second: the rate of each within 0.1 parts in a
/// million, over all time scales, as Veitch, Ridoux and Korada measured of clocks of computers.
inline constexpr double kWander = 0.2e-6;

/// The common clock as a line through a rank's own, and how far it may be off.
struct ClockLine {
  double at = 0;           ///< a moment of the rank's own clock, in seconds, ...
  double offset = 0;       ///< ... what the common clock shows then, less that, ...
  double drift = 0;        ///< ... and seconds that this grows by in a second
  double uncertainty = 0;  ///< seconds that it may be off by at that moment, ...
  double growth = 0;       ///< ... and how much more in a second, before and after

  [[nodiscard]] double common(double own) const { return own + offset + drift * (own - at); }
  [[nodiscard]] double own(double common_time) const { return (common_time - offset + drift * at) / (1 + drift); }
  [[nodiscard]] double uncertainty_at(double own) const { return uncertainty + growth * std::abs(own - at); }
};

/// One measured offset: what the common clock shows less the rank's own.
struct ClockOffset {
  double at = 0;           ///< of the rank's own clock
  double offset = 0;       ///< seconds
  double uncertainty = 0;  ///< seconds that it is off by at most: the teacher's uncertainty and half the round trip
};

/// The line through offsets, of which there is one at least, ascending in time. Its drift is that of least squares,
/// each offset weighted by its uncertainty; unknown, and 0, where the offsets lie too close together to know better
/// than kLargestDrift. The line goes through the newest offset, or where all of them together say better where it is
/// then. Its uncertainty holds whatever the errors of the offsets are within theirs.
ClockLine line_through(std::span<const ClockOffset> offsets);

/// Keeps the relation of this rank's clock to that of rank 0. Ranks learn from each other in a tree: in each of log2 of
/// their number steps every rank that knows the common clock teaches one that does not. What messages are written to is
/// in here, so after a RanksSilentError it must live until MPI is out of use.
class CommonClock {
 public:
  /// `host` is whose clock this rank's is.
  CommonClock(Communicator& ranks, HostRuntime& host) : ranks_(ranks), host_(host) {}

  /// Collective: measures the offset anew. The first time with a hundred round trips, later with ten; fewer where these
  /// take long. An offset that contradicts the line so far shows that a clock was set, or corrected at another rate:
  /// then only the new one counts.
  void synchronise(const Patience& patience);

  /// The common time now, in seconds.
  [[nodiscard]] double now() const { return line_.common(host_.now()); }
  /// How far that may be off, in seconds.
  [[nodiscard]] double uncertainty() const { return line_.uncertainty_at(host_.now()); }
  [[nodiscard]] const ClockLine& line() const { return line_; }

 private:
  void teach(int student, const Patience& patience);
  void learn(int teacher, const Patience& patience);
  ClockOffset round_trip(int teacher, bool last, const Patience& patience);
  void add(const ClockOffset& offset);

  Communicator& ranks_;
  HostRuntime& host_;
  ClockLine line_;
  std::vector<ClockOffset> offsets_;
  std::array<double, 1> question_{};  // whether it is the last one
  std::array<double, 2> answer_{};    // the common time, and its uncertainty
};

}  // namespace xferbench
