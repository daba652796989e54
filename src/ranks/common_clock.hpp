// A clock common to all ranks: the clock of rank 0, which each rank computes from its own clock. docs/lab/fleets.md
// explains the method, its sources and its uncertainty.
#pragma once

#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "device/host_runtime.hpp"
#include "ranks/communicator.hpp"
#include "ranks/timed_collectives.hpp"

namespace xferbench {

/// Largest drift between two clocks, in seconds per second. Each clock may be wrong by 100 ppm, as the worst crystal
/// oscillators are; the other 50 ppm are a margin.
inline constexpr double kLargestDrift = 250e-6;
/// Largest deviation of the drift between two clocks from its mean, in seconds per second. The rate of each clock
/// varies by at most 0.1 ppm over all time scales, as Veitch, Ridoux and Korada measured for computer clocks.
inline constexpr double kWander = 0.2e-6;

/// The common clock as a linear function of a rank's own clock, with an upper bound of its error.
struct ClockLine {
  double at = 0;           ///< reference time on the rank's own clock, seconds
  double offset = 0;       ///< common time minus own time at `at`, seconds
  double drift = 0;        ///< change of the offset, seconds per second
  double uncertainty = 0;  ///< largest error of the common time at `at`, seconds
  double growth = 0;       ///< increase of the error per second before or after `at`

  [[nodiscard]] double common(double own) const { return own + offset + drift * (own - at); }
  [[nodiscard]] double own(double common_time) const { return (common_time - offset + drift * at) / (1 + drift); }
  [[nodiscard]] double uncertainty_at(double own) const { return uncertainty + growth * std::abs(own - at); }
};

/// One measured offset: common time minus the rank's own time.
struct ClockOffset {
  double at = 0;      ///< time of the measurement on the rank's own clock, seconds
  double offset = 0;  ///< common time minus own time, seconds
  /// Largest error of `offset` in seconds: half the round trip, plus the error of the other rank's answer.
  double uncertainty = 0;
};

/// Fits a line through measured offsets (at least one), which must be sorted by time. The drift comes from a
/// least-squares fit, weighted by the offsets' uncertainties; it is 0 if the offsets are too close together to
/// determine it better than kLargestDrift. The line goes through the newest offset, or through the fitted value at that
/// time if that has a smaller uncertainty. The line's uncertainty is a strict upper bound as long as the error of each
/// offset is within the offset's uncertainty.
ClockLine line_through(std::span<const ClockOffset> offsets);

/// Tracks the relation of this rank's clock to that of rank 0. Ranks learn in a tree: in each of log2(ranks) steps,
/// every rank that knows the common clock teaches one that does not. The object holds message buffers, so after a
/// RankTimeoutError it must live until MPI is no longer used.
class CommonClock {
 public:
  /// `host` provides this rank's own clock.
  CommonClock(Communicator& ranks, HostRuntime& host) : ranks_(ranks), host_(host) {}

  /// Collective: measures the clock offset again, with 100 round trips the first time and 10 later, or fewer if they
  /// take long. If the new offset contradicts the fitted line, a clock was set or its rate was corrected; then all
  /// older offsets are dropped.
  void synchronise(const Timeout& timeout);

  [[nodiscard]] double now() const { return line_.common(host_.now()); }
  /// Returns the largest error of now(), in seconds.
  [[nodiscard]] double uncertainty() const { return line_.uncertainty_at(host_.now()); }
  [[nodiscard]] const ClockLine& line() const { return line_; }

 private:
  void teach(int student, const Timeout& timeout);
  void learn(int teacher, const Timeout& timeout);
  ClockOffset round_trip(int teacher, bool last, const Timeout& timeout);
  void add(const ClockOffset& offset);

  Communicator& ranks_;
  HostRuntime& host_;
  ClockLine line_;
  std::vector<ClockOffset> offsets_;
  std::array<double, 1> question_{};  // question to the teacher: 1 if it is the last one of a synchronisation, else 0
  std::array<double, 2> answer_{};    // answer of the teacher: the common time and its largest error, seconds
};

}  // namespace xferbench
