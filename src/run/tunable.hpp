// What a scenario offers to `tune`: its cases as a space to search. run/tuner.hpp does the searching.
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

/// What `tune` searches for.
enum class Objective {
  device,  ///< the shortest time on the device, as regions are timed
  wall,    ///< the shortest time to the result, as a program sees it
};
constexpr auto texts_of(Objective) { return std::to_array<std::string_view>({"device", "wall"}); }

/// What is sampled of a region for that: itself, or wall_of() it, which then has a warm-up of its own.
Region region_for(Objective objective, const Region& region);

/// One configuration made ready to be timed. Its functions keep its streams and events alive; what all candidates share
/// belongs to the Tunable, which outlives them.
struct Candidate {
  /// What is timed. Called once for each round of sampling; regions of several candidates are sampled interleaved, so
  /// they may share data but no streams or events. Its name is that of the measurement, the same for all candidates,
  /// where the time on the device is searched for.
  /// With a check, where it has an output.
  std::function<Region()> region;
  /// Runs once on poisoned memory and checks the result. Called before the first sample, unless the user forbids it.
  /// Throws VerificationError.
  std::function<void()> verify;
};

/// A scenario's cases as a space to search. Made once per tune: measures what the predictions are made of, and owns the
/// data that all candidates share.
class Tunable : NonCopyable {
 public:
  virtual ~Tunable() = default;

  /// Why the device cannot run the case, as far as that shows only when it is asked; such a case is not searched.
  [[nodiscard]] virtual std::optional<SkipReason> skip_reason(const Case&) const { return std::nullopt; }
  /// Seconds that the case should take by the model, of what RunContext::objective says, from what was measured at
  /// construction. Its order matters more than its scale: the search corrects each family by what it measures of it.
  [[nodiscard]] virtual double predict(const Case&) const = 0;
  /// How many passes over the case a gate holds together, at least one.
  [[nodiscard]] virtual unsigned most_behind_gate(const Case&) const { return RegionTimer::most_behind_gate(1, 1); }
  /// Samples are means of so many passes from now on, of all candidates alike: predictions, and what candidates are
  /// held against, have to be of as many. Called at most once, before the first candidate is prepared; until then it is
  /// one.
  virtual void repeat_passes(unsigned) {}
  /// What candidates are held against, once more: called before the last round and after it, since a machine may have
  /// been busier at the beginning. What was fastest counts.
  virtual void measure_again() {}
  /// Fewer is simpler; among configurations that are equally fast the simplest is named.
  [[nodiscard]] virtual double complexity(const Case&) const = 0;
  /// Cases whose predictions are likely to be wrong alike. Here: those that agree in every word.
  [[nodiscard]] virtual std::string family(const Case&) const;
  /// How far a prediction is off beside what its family has in common, relative: a first guess, replaced by experience.
  [[nodiscard]] virtual double model_error() const { return 0.03; }
  /// Throws DeviceError if the device cannot; only that configuration drops out.
  [[nodiscard]] virtual Candidate prepare(const Case&) = 0;
  /// Adds the scenario's own metrics and labels, given the median in seconds of the case and of the fastest so far:
  /// bandwidth, efficiency, what limits it. The tuner adds `makespan`, `predicted`, `residual` and `behind_best`.
  virtual void describe(const Case&, double seconds, double fastest, Result&) const = 0;
  /// What was measured at construction, for the report; names differ from those of the candidates' regions.
  [[nodiscard]] virtual std::vector<Measurement> stages() const = 0;
};

/// For those that make one: throws UsageError unless the cases agree in these axes, which say what is done and not how.
void require_same_work(std::span<const Case> cases, std::span<const std::string_view> axes);

}  // namespace xferbench
