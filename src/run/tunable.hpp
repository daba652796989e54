// What a scenario offers to `tune`: its cases as a search space. run/tuner.hpp searches it.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/axis.hpp"
#include "core/enum_text.hpp"
#include "core/non_copyable.hpp"
#include "measure/region.hpp"
#include "results/result.hpp"
#include "run/skip_reason.hpp"

namespace xferbench {

/// What `tune` minimizes.
enum class Objective {
  device,  ///< the time on the device, as regions are timed
  wall,    ///< the time to result, as a program sees it
};
constexpr auto texts_of(Objective) { return std::to_array<std::string_view>({"device", "wall"}); }

/// The region to sample for an objective: `region` itself, or its wall_region() with a warm-up of its own.
Region region_for(Objective objective, const Region& region);

/// One configuration, ready to be timed. Its functions keep its streams and events alive. What all candidates share
/// belongs to the Tunable, which outlives them.
struct Candidate {
  /// Makes the timed region. Called once for each round of sampling. Regions of several candidates are sampled
  /// interleaved, so they may share data, but no streams or events. The region's name becomes that of the measurement;
  /// for Objective::device, all candidates use one name. The region has a check if it has an output.
  std::function<Region()> region;
  /// Runs once on poisoned memory and checks the result. Called before the first sample, unless the user disables it.
  /// Throws VerificationError.
  std::function<void()> verify;
};

/// A scenario's cases as a search space. Made once per tune: measures the inputs of the predictions, and owns the data
/// that all candidates share.
class Tunable : NonCopyable {
 public:
  virtual ~Tunable() = default;

  /// Why the device cannot run the case, if only the device itself can tell; such a case is not searched.
  [[nodiscard]] virtual std::optional<SkipReason> skip_reason(const Case&) const { return std::nullopt; }
  /// Predicted time of the case in seconds, for RunContext::objective, from measurements at construction. The order of
  /// predictions matters more than their scale: the search corrects each family by its measured times.
  [[nodiscard]] virtual double predict(const Case&) const = 0;
  /// How many passes of the case one gate can hold together, at least one.
  [[nodiscard]] virtual unsigned most_behind_gate(const Case&) const { return RegionTimer::most_behind_gate(1, 1); }
  /// From now on, samples of all candidates are means of this many passes. Predictions and reference measurements must
  /// be for as many. Called at most once, before the first candidate is prepared; the default is one.
  virtual void repeat_passes(unsigned) {}
  /// Repeats the reference measurements to which candidates are compared; the fastest counts. Called before and after
  /// the last round, since the machine may have been busier at the beginning.
  virtual void measure_again() {}
  /// Less is simpler. Of equally fast configurations, the simplest one is named.
  [[nodiscard]] virtual double complexity(const Case&) const = 0;
  /// A key for cases whose predictions probably have similar errors. Default: cases that agree in all words.
  [[nodiscard]] virtual std::string family(const Case&) const;
  /// Relative error of a prediction, without the error that its family shares: a first guess, replaced by experience.
  [[nodiscard]] virtual double model_error() const { return 0.03; }
  /// Prepares a case. Throws DeviceError if the device cannot run it; then only that configuration drops out.
  [[nodiscard]] virtual Candidate prepare(const Case&) = 0;
  /// Adds the scenario's own metrics and labels: bandwidth, efficiency, bottleneck. `seconds`: median of the case;
  /// `fastest`: that of the fastest case so far. The tuner adds `makespan`, `predicted`, `residual` and `behind_best`.
  virtual void describe(const Case&, double seconds, double fastest, Result&) const = 0;
  /// Measurements made at construction, for the report. Their names differ from those of the candidates' regions.
  [[nodiscard]] virtual std::vector<Measurement> stages() const = 0;
};

/// For implementations: throws UsageError unless the cases agree in these axes, which define the work.
void require_same_work(std::span<const Case> cases, std::span<const std::string_view> axes);

}  // namespace xferbench
