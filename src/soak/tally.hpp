// Bookkeeping of a soak: turns become intervals, and intervals become totals whose size does not grow with time. Pure:
// it measures nothing, and the caller passes the time.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "results/soak.hpp"

namespace xferbench::soak {

/// One load on one GPU, lasting from tenths of a second to a few seconds.
struct GpuTurn {
  int gpu = 0;
  SoakLoad load{};
  std::uint64_t moved = 0;     ///< bytes that copies moved
  std::uint64_t verified = 0;  ///< bytes that were compared with the expected words
  double seconds = 0;          ///< duration of the transfers by the GPU's clock
  std::vector<SoakWrong> wrong{};
};

/// The state of a GPU at some moment.
struct GpuState {
  int gpu = 0;
  Health health{};
  Clocks clocks{};
};

/// Adds a reading to an interval. Keeps the worse of varying values (highest temperature, lowest clocks), the latest
/// counters, and all errors and throttle reasons.
void add_health(std::vector<GpuState>& interval, const std::vector<GpuState>& now);

/// A time in a soak.
struct Moment {
  double elapsed = 0;  ///< seconds into the soak
  std::string at{};    ///< ISO 8601, UTC
};

class Tally {
 public:
  /// `states`: the present states of all GPUs. `before`: the totals so far of a resumed soak.
  Tally(const SoakSettings& settings, std::vector<GpuState> states, std::optional<SoakTotals> before = {});

  /// Adds a turn that has ended at `now` and took `seconds`, submission and checks included.
  void add(const GpuTurn& turn, double seconds, const Moment& now);
  /// Notes that a GPU has failed or does not answer.
  void record_loss(const Moment& now, const std::string& reason);
  /// Ends the interval. Values that are missing in the states count as unchanged.
  SoakInterval close(const Moment& now, const std::vector<GpuState>& states);

  [[nodiscard]] const SoakTotals& so_far() const { return totals_; }
  /// The length of the first minutes in seconds, which give the baseline: 300, or a tenth of the soak if that is less.
  [[nodiscard]] static double first_minutes(const SoakSettings& settings);

 private:
  struct Series {
    std::vector<double> rates{};         // bytes per second of each turn in this interval
    bool is_low = false;                 // whether the rate of the last turn was too low
    double low_until = 0;                // end of the last turn with a low rate, in seconds into the soak
    std::optional<std::size_t> kept{};   // index in SoakTotals::drops of the current drop, if it is stored
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
  std::vector<Series> series_;  // one for each of totals_.loads, in the same order
};

/// Notes that a GPU failed or did not answer at time `at`. Only the first reasons are kept, but all losses are counted.
void add_loss(SoakTotals& totals, const std::string& at, const std::string& reason);

/// Whether nothing is wrong: no wrong byte, no drop, no lost GPU, no critical error (Xid) and no memory error that
/// could not be corrected. Corrected errors and resent packets are reported but are no failure: error correction has
/// worked.
bool is_healthy(const SoakTotals& totals);

}  // namespace xferbench::soak
