// The interface through which a scenario offers its cases to `tune` as a search space. run/tuner.hpp searches it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/axis.hpp"
#include "core/enum_text.hpp"
#include "core/non_copyable.hpp"
#include "measure/region.hpp"
#include "results/result.hpp"
#include "run/skip_reason.hpp"

namespace xferbench {

/// The time that `tune` minimizes.
enum class Objective {
  device,  ///< time on the device, as the region's clock measures it
  wall,    ///< time to result: host time from the first submitting call until the wait returns
};
constexpr auto texts_of(Objective) { return enum_texts("device", "wall"); }

/// Returns the region to sample for an objective: `region` itself, or its wall_region() with a warm-up of its own.
Region region_for(Objective objective, const Region& region);

/// One configuration that is ready to be timed. Its functions own its streams and events. The Tunable owns the data
/// that all candidates share, and outlives them.
struct Candidate {
  /// Returns the region to time. Called once for each round of sampling. Regions of several candidates are sampled
  /// alternately, so they may share data, but not streams or events. The region's name becomes that of the measurement;
  /// with Objective::device, all candidates must use one name. A region that produces output must have a check.
  std::function<Region()> region;
  /// Runs the work once on poisoned memory and checks the result. Called before the first sample, unless the user
  /// disables verification. Throws VerificationError if the result is wrong.
  std::function<void()> verify;
  /// Whether the search samples the candidate alone, because its passes would slow candidates that are sampled
  /// alternately with it, for example by evicting CPU caches.
  bool apart = false;
};

/// The search space of one `tune`: a scenario's cases. The constructor measures the inputs of the predictions; the
/// object owns the data that all candidates share.
class Tunable : NonCopyable {
 public:
  virtual ~Tunable() = default;

  /// Returns why the device cannot run the case, if only a query of the device shows this; nothing if it can run. The
  /// search omits cases for which this function returns a reason.
  [[nodiscard]] virtual std::optional<SkipReason> skip_reason(const Case&) const { return std::nullopt; }
  /// Predicts the time of the case in seconds, for RunContext::objective. The order of predictions matters more than
  /// their scale, because the search corrects the predictions of each family() by measured times.
  [[nodiscard]] virtual double predict(const Case&) const = 0;
  /// Returns how many passes of the case fit behind one closed gate together; at least one.
  [[nodiscard]] virtual unsigned most_behind_gate(const Case&) const { return RegionTimer::most_behind_gate(1, 1); }
  /// Sets the number of passes in each later sample of a candidate; 1 before the call. Later predictions and reference
  /// measurements must be for samples of that many passes. Called at most once, before the first prepare().
  virtual void repeat_passes(unsigned) {}
  /// Repeats the reference measurements with which candidates are compared; the fastest repetition counts. Called
  /// before and after the last round, because the machine may have been busier at the beginning.
  virtual void measure_again() {}
  /// Returns how complex the case is. Of equally fast configurations, `tune` names the least complex as the simplest.
  [[nodiscard]] virtual double complexity(const Case&) const = 0;
  /// Returns a key that is equal for cases whose predictions probably have similar errors. By default, cases are one
  /// family if they agree in all axes that have words as values.
  [[nodiscard]] virtual std::string family(const Case&) const;
  /// Initial estimate of the relative error of predictions within a family. The search replaces it by measured errors.
  [[nodiscard]] virtual double model_error() const { return 0.03; }
  /// Prepares a case for timing. Throws DeviceError if the device cannot run it; then only this case is dropped.
  [[nodiscard]] virtual Candidate prepare(const Case&) = 0;
  /// Adds the scenario's own metrics and labels, such as bandwidth, efficiency and bottleneck. `seconds` is the median
  /// time of the case, `fastest` that of the fastest case so far. The tuner itself adds `makespan`, `predicted`,
  /// `residual` and `behind_best`.
  virtual void describe(const Case&, double seconds, double fastest, Result&) const = 0;
  /// Returns the measurements that the constructor made, for the report. Their names differ from those of the
  /// candidates' regions.
  [[nodiscard]] virtual std::vector<Measurement> stages() const { return stages_; }

 protected:
  std::vector<Measurement> stages_;
};

}  // namespace xferbench
