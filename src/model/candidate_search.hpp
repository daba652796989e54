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

/// Prediction for an unmeasured configuration.
struct Prediction {
  double seconds = 0;
  std::string family;  ///< configurations with a similar model error: one strategy
};

/// Errors and margins are fractions of the predicted or measured time that they apply to.
struct CandidateSearchPolicy {
  double model_error = 0.03;   ///< of a prediction within a measured family; initial estimate
  double family_error = 0.10;  ///< additional error for a family that has not been measured
  double reach = 3;  ///< measure a candidate if it would be the best at this many errors below its prediction ...
  double worthwhile = 0.005;  ///< ... by more than this fraction
  double clearly = 0.01;   ///< drop a candidate whose interval lies above that of the best by more than this fraction
  double share = 0.2;      ///< maximum fraction of the configurations to measure ...
  std::size_t least = 8;   ///< ... but at least this many ...
  std::size_t most = 200;  ///< ... and at most this many; the least promising are left out
  std::size_t batch = 6;   ///< new configurations per round
  std::size_t rounds = 2;  ///< maximum rounds that measure a near-best candidate, if there are more than `finalists`
  std::size_t finalists = 6;  ///< this many near-best candidates need no further rounds
};

class CandidateSearch {
 public:
  /// Predictions that are not positive and finite are replaced by the slowest valid one.
  explicit CandidateSearch(std::vector<Prediction> predictions, const CandidateSearchPolicy& policy = {});

  /// Configurations to measure next, together. First the ones with the best predictions, of each family and overall.
  /// Then the ones whose corrected predictions could beat the best measured one. Then, once more, the ones that are
  /// tied with the best, if more than `finalists` are tied and the best's interval is wide. Includes the best measured
  /// one as a reference. Empty when the search is over. Each returned index must then be passed to record() or fail().
  [[nodiscard]] std::vector<std::size_t> next() const;
  [[nodiscard]] bool over() const { return next().empty(); }

  /// Median and interval over all samples of the configuration so far, in seconds. Call once per round.
  void record(std::size_t index, double median, const std::optional<Interval>& interval);
  /// The configuration cannot be measured. A family with two failures and no success is not tried again.
  void fail(std::size_t index);

  [[nodiscard]] std::size_t measured() const;  ///< number of recorded configurations
  [[nodiscard]] std::size_t most() const;      ///< maximum number of configurations recorded or failed
  /// Configuration with the lowest median; nothing before the first record.
  [[nodiscard]] std::optional<std::size_t> leader() const;
  /// Measured configurations that are not clearly slower than the leader, best first. May be more than `finalists`.
  [[nodiscard]] std::vector<std::size_t> standing() const;
  /// Prediction in seconds, times the bias (measured over predicted) of its family.
  [[nodiscard]] double corrected(std::size_t index) const;

 private:
  struct Runner {
    Prediction prediction;
    std::size_t rounds = 0;
    bool failed = false;
    double median = 0;
    Interval interval;
    [[nodiscard]] bool fresh() const { return rounds == 0 && !failed; }
    [[nodiscard]] double log_ratio() const;   ///< log of measured over predicted
    [[nodiscard]] double half_width() const;  ///< half the logarithm of the interval's upper end over its lower end
  };
  /// Model error of a family, in logarithms.
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
