// Keeps the totals of a soak test: turns are summed up to intervals, and intervals to totals whose size does not grow
// with time. Pure: it measures nothing, and the caller passes the time.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "results/soak.hpp"

namespace xferbench::soak {

/// The results of one turn, in which one GPU runs one load for tenths of a second up to a few seconds.
struct GpuTurn {
  int gpu = 0;
  SoakLoad load{};
  std::uint64_t moved = 0;     ///< bytes that copies moved
  std::uint64_t verified = 0;  ///< bytes that were compared with the expected words
  double seconds = 0;          ///< duration of the transfers in seconds by the GPU's clock
  std::vector<SoakWrong> wrong{};
};

/// The state of a GPU (health and clocks) at one moment.
struct GpuState {
  int gpu = 0;
  Health health{};
  Clocks clocks{};
};

/// Merges a reading into the states of an interval. Keeps the worse of varying values (highest temperature, lowest
/// clocks), the latest counters, and all errors and throttle reasons.
void add_health(std::vector<GpuState>& interval, const std::vector<GpuState>& now);

struct Moment {
  double elapsed = 0;  ///< seconds since the start of the soak test
  std::string at{};    ///< the same time in UTC (ISO 8601)
};

class Tally {
 public:
  /// `states` are the present states of all GPUs. `before` are the totals so far if a soak test is resumed.
  Tally(const SoakSettings& settings, std::vector<GpuState> states, std::optional<SoakTotals> before = {});

  /// Adds a turn that ended at `now` and took `seconds`, including submission and checks.
  void add(const GpuTurn& turn, double seconds, const Moment& now);
  /// Records that a GPU has failed or does not respond.
  void record_loss(const Moment& now, const std::string& reason);
  /// Ends the interval and returns it. A value that is missing in `states` counts as unchanged.
  SoakInterval close(const Moment& now, const std::vector<GpuState>& states);

  [[nodiscard]] const SoakTotals& so_far() const { return totals_; }
  /// Returns for how many seconds from the start the test measures baseline rates: a tenth of the test, at most 300 s.
  [[nodiscard]] static double first_minutes(const SoakSettings& settings);

 private:
  struct Series {
    std::vector<double> rates{};  // rate of each turn in this interval in bytes per second
    bool is_low = false;          // whether the rate of the last turn was too low
    double low_until = 0;         // end of the last turn with a low rate, in seconds since the start of the soak test
    // index in SoakTotals::drops of the current drop; absent if there is none or it is not stored
    std::optional<std::size_t> kept{};
    std::optional<std::size_t> noted{};  // index in SoakTotals::drops of the last drop in this interval
  };

  void add(SoakWrong wrong, const Moment& now);
  std::size_t place_of(int gpu, SoakLoad load);
  void judge(std::size_t place, double rate, double seconds, const Moment& now);
  void begin_drop(std::size_t place, double rate, const Moment& now);
  void end_first_minutes(double elapsed);
  SoakGpu gpu_of(const GpuState& before, const GpuState& now);
  void count(const GpuState& before, const GpuState& now);

  SoakSettings settings_;
  std::vector<GpuState> states_;  // states of all GPUs at the end of the previous interval
  SoakTotals totals_;
  std::vector<Series> series_;  // one for each entry of totals_.loads, in the same order
};

/// Counts the loss of a GPU, which failed or did not respond at time `at`. Keeps only the first reasons.
void add_loss(SoakTotals& totals, const std::string& at, const std::string& reason);

/// Returns whether the test has passed: no wrong byte, no drop of a rate, no lost GPU, no critical error (Xid) and no
/// uncorrectable memory error. Corrected errors and resent packets are reported but are not failures.
bool is_healthy(const SoakTotals& totals);

}  // namespace xferbench::soak
