// Chooses which of many configurations to measure, given a model's predictions. A state machine without clock or
// device: the caller measures what next() returns and records the results.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "results/result.hpp"

namespace xferbench::model {

/// A model's prediction for one configuration.
struct Prediction {
  double seconds = 0;
  std::string family;  ///< configurations of one family (strategy) have similar model errors
};

/// Settings of the search. Errors and margins are fractions of the predicted or measured time that they apply to.
struct CandidateSearchPolicy {
  double model_error = 0.03;   ///< initial estimate of a prediction's error within a measured family
  double family_error = 0.10;  ///< additional error for a family that has not been measured
  double reach = 3;            ///< measure a candidate if its prediction minus this many errors beats the best time
  double worthwhile = 0.005;   ///< minimum gain over the best time for which another candidate is measured
  double clearly = 0.01;       ///< drop a candidate whose interval lies more than this fraction above that of the best
  double share = 0.2;          ///< maximum fraction of the configurations to measure
  std::size_t least = 8;       ///< minimum number of configurations to measure, even if `share` allows fewer
  std::size_t most = 200;      ///< maximum number of configurations to measure, even if `share` allows more
  std::size_t batch = 6;       ///< number of new configurations in each round (return value of next())
  std::size_t rounds = 2;      ///< maximum number of rounds for a candidate that is not the best
  std::size_t finalists = 6;   ///< if at most this many candidates are near the best, none is measured again
};

class CandidateSearch {
 public:
  /// Replaces predictions that are not positive and finite by the slowest valid prediction.
  explicit CandidateSearch(std::vector<Prediction> predictions, const CandidateSearchPolicy& policy = {});

  /// Returns the configurations to measure in the next round; empty when the search is over. The first round has the
  /// best predictions of each family and overall. Later rounds have the best measured configuration, as a reference,
  /// and the configurations whose corrected predictions could beat it. If more than `finalists` configurations are tied
  /// with the best, the last rounds measure them again. Each returned index must then be passed to record() or fail().
  [[nodiscard]] std::vector<std::size_t> next() const;
  [[nodiscard]] bool over() const { return next().empty(); }

  /// Records the median and interval over all samples of a configuration so far, in seconds. Called once per round.
  void record(std::size_t index, double median, const std::optional<Interval>& interval);
  /// Records that a configuration cannot be measured. A family with two failures and no success is not tried again.
  void fail(std::size_t index);

  [[nodiscard]] std::size_t measured() const;  ///< number of recorded configurations
  [[nodiscard]] std::size_t most() const;      ///< maximum number of configurations recorded or failed
  /// Returns the configuration with the lowest median; nothing before the first record().
  [[nodiscard]] std::optional<std::size_t> leader() const;
  /// Returns the measured configurations not clearly slower than the leader, best first; may be more than `finalists`.
  [[nodiscard]] std::vector<std::size_t> standing() const;
  /// Returns the prediction in seconds, times the bias (measured over predicted time) of its family.
  [[nodiscard]] double corrected(std::size_t index) const;

 private:
  struct Runner {
    Prediction prediction;
    std::size_t rounds = 0;
    bool failed = false;
    double median = 0;
    Interval interval;
    [[nodiscard]] bool fresh() const { return rounds == 0 && !failed; }
    [[nodiscard]] double log_ratio() const;   ///< logarithm of measured time / predicted time
    [[nodiscard]] double half_width() const;  ///< half the logarithm of the interval's upper end over its lower end
  };
  /// Model error of one family of configurations, in logarithms of measured over predicted time.
  struct Family {
    std::size_t measured = 0;
    std::size_t failed = 0;
    double bias = 0;
    double weight = 0;   ///< sum of the measurements' weights; noisy measurements weigh less
    double squares = 0;  ///< sum of squared residuals after removal of bias and noise
    double error = 0;    ///< standard error of a bias-corrected prediction
  };

  [[nodiscard]] std::vector<std::size_t> ranked(const std::function<bool(const Runner&)>& wanted,
                                                const std::function<double(std::size_t)>& rank) const;
  [[nodiscard]] bool hopeless(const Runner& runner) const;
  [[nodiscard]] std::vector<std::size_t> first_batch() const;
  [[nodiscard]] std::vector<std::size_t> promising() const;
  [[nodiscard]] std::vector<std::size_t> undecided() const;
  [[nodiscard]] std::size_t left() const;
  [[nodiscard]] double optimistic(std::size_t index) const;
  void learn();

  std::vector<Runner> runners_;
  CandidateSearchPolicy policy_;
  std::map<std::string, Family> families_;
};

}  // namespace xferbench::model
