// What a soak comes to: turns become intervals, and intervals become totals that do not grow with time. Pure: it
// measures nothing, and is told what time it is.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "results/soak.hpp"

namespace xferbench::soak {

/// One load of one GPU, some tenths of a second to a few seconds long.
struct TurnOfGpu {
  int gpu = 0;
  SoakLoad load{};
  std::uint64_t moved = 0;     ///< bytes
  std::uint64_t verified = 0;  ///< bytes
  double seconds = 0;          ///< in which they moved, by the GPU's clock
  std::vector<SoakWrong> wrong{};
};

/// How a GPU is at some moment.
struct GpuState {
  int gpu = 0;
  Health health{};
  Clocks clocks{};
};

/// One more look in an interval: of what sways the worse is kept (the hottest, the lowest clocks), of counters the
/// latest, of errors and of what holds clocks down all.
void add_look(std::vector<GpuState>& interval, const std::vector<GpuState>& now);

/// When something is.
struct Moment {
  double elapsed = 0;  ///< seconds into the soak
  std::string at{};    ///< ISO 8601, UTC
};

class Tally {
 public:
  /// `states`: of all GPUs, as they are now. `before`: what the soak came to before it was stopped.
  Tally(const SoakSettings& settings, std::vector<GpuState> states, std::optional<SoakTotals> before = {});

  /// A turn that has ended now, after so many seconds.
  void add(const TurnOfGpu& turn, double seconds, const Moment& now);
  /// A GPU has failed, or does not answer.
  void lose(const Moment& now, const std::string& reason);
  /// The interval ends now. What the states do not tell of is no change.
  SoakInterval close(const Moment& now, const std::vector<GpuState>& states);

  [[nodiscard]] const SoakTotals& so_far() const { return totals_; }
  /// Seconds after which the first minutes are over: five, or a tenth of the soak where that is less.
  [[nodiscard]] static double first_minutes(const SoakSettings& settings);

 private:
  struct Series {
    std::vector<double> rates{};         // of this interval's turns
    bool is_low = false;                 // the last of them was
    std::optional<std::size_t> kept{};   // the drop that goes on, among those kept
    std::optional<std::size_t> noted{};  // the last one that this interval had
  };

  void add(SoakWrong wrong, const Moment& now);
  std::size_t place_of(int gpu, SoakLoad load);
  void judge(std::size_t place, double rate, double seconds, const Moment& now);
  void begin_drop(std::size_t place, double rate, double seconds, const Moment& now);
  void end_first_minutes(double elapsed);
  SoakGpu gpu_of(const GpuState& before, const GpuState& now);
  void count(const GpuState& before, const GpuState& now);

  SoakSettings settings_;
  std::vector<GpuState> states_;  // at the end of the interval before
  SoakTotals totals_;
  std::vector<Series> series_;  // in the order of totals_.loads
};

/// A GPU failed or did not answer any more, then and for that reason; the first reasons are kept, all are counted.
void add_loss(SoakTotals& totals, const std::string& at, const std::string& reason);

/// Whether all is well: no wrong byte, no drop, no critical error, no memory error that could not be corrected.
/// Corrected ones and packets that were sent again are told, and are no failure: what they are there for has worked.
bool is_well(const SoakTotals& totals);

}  // namespace xferbench::soak
