// Which of many configurations to measure, given what a model says of all of them. A state machine without clock or
// device: whoever drives it measures what next() names and records what came of it.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "results/result.hpp"

namespace xferbench::model {

/// What is believed of a configuration before it is measured.
struct Prediction {
  double seconds = 0;
  std::string family;  ///< configurations that the model is likely to misjudge alike: one strategy
};

/// All shares are relative to the time they are about.
struct CandidateSearchPolicy {
  double model_error = 0.03;   ///< of a prediction once its family is corrected: a first guess, replaced by experience
  double family_error = 0.10;  ///< of a whole family that has not been measured
  double reach = 3;            ///< measure what would be best if it were that many errors faster than predicted ...
  double worthwhile = 0.005;   ///< ... and that by more than this
  double clearly = 0.01;       ///< an interval that lies higher than the best one's by more than this drops out
  double share = 0.2;          ///< of the configurations, the most that are measured ...
  std::size_t least = 8;       ///< ... but not fewer than this ...
  std::size_t most = 200;      ///< ... and not more: what is left out of a large space is the least promising
  std::size_t batch = 6;       ///< new configurations in a round
  std::size_t rounds = 2;      ///< in which one that lies close to the best is measured, where there are many such
  std::size_t finalists = 6;   ///< that many that lie close are few enough
};

class CandidateSearch {
 public:
  /// A prediction that is no positive number counts as that of the slowest.
  explicit CandidateSearch(std::vector<Prediction> predictions, const CandidateSearchPolicy& policy = {});

  /// What to measure next, together: first the best predicted of each family and of all; then what by the corrected
  /// predictions could beat the best by what is worth the while; then again what cannot be told from the best, if that
  /// is more than finalists and the best is not known well. The best measured is always among them, as what the others
  /// are compared with. Empty when the race is over. Each must then be recorded or fail.
  [[nodiscard]] std::vector<std::size_t> next() const;
  [[nodiscard]] bool over() const { return next().empty(); }

  /// Median and its interval from all samples of that configuration so far; call once for each round.
  void record(std::size_t index, double median, const std::optional<Interval>& interval);
  /// It cannot be measured. A family of which two failed and none succeeded is not tried again.
  void fail(std::size_t index);

  [[nodiscard]] std::size_t measured() const;  ///< configurations recorded
  [[nodiscard]] std::size_t most() const;      ///< configurations recorded or failed, at most
  /// The lowest median; nothing before the first record.
  [[nodiscard]] std::optional<std::size_t> leader() const;
  /// Measured and not clearly slower than the leader; best first. They may be more than finalists.
  [[nodiscard]] std::vector<std::size_t> standing() const;
  /// Prediction in seconds, multiplied by what the measured members of its family took relative to theirs.
  [[nodiscard]] double corrected(std::size_t index) const;

 private:
  struct Runner {
    Prediction prediction;
    std::size_t rounds = 0;
    bool failed = false;
    double median = 0;
    Interval interval;
    [[nodiscard]] bool fresh() const { return rounds == 0 && !failed; }
    [[nodiscard]] double log_ratio() const;   ///< of measured to predicted
    [[nodiscard]] double half_width() const;  ///< of its interval, in the same logarithms
  };
  /// How wrong the model has been about a family, in logarithms.
  struct Family {
    std::size_t measured = 0;
    std::size_t failed = 0;
    double bias = 0;
    double weight = 0;   ///< of all that says so: what was disturbed while it was measured says little
    double squares = 0;  ///< sum of what is left of the ratios' logarithms without it and their noise
    double error = 0;    ///< of a prediction that is corrected by `bias`
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
