#include "model/candidate_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "core/lists.hpp"

namespace xferbench::model {

namespace {

/// Prior weights, as equivalent numbers of measurements. kWeightOfGuess is the weight of the initial model error;
/// kWeightOfAll is the weight of the error over all families when the error of one family is estimated.
constexpr double kWeightOfGuess = 2;
constexpr double kWeightOfAll = 2;

bool usable(double seconds) { return std::isfinite(seconds) && seconds > 0; }

}  // namespace

double CandidateSearch::Runner::log_ratio() const { return std::log(median / prediction.seconds); }

double CandidateSearch::Runner::half_width() const { return std::log(interval.high / interval.low) / 2; }

CandidateSearch::CandidateSearch(std::vector<Prediction> predictions, const CandidateSearchPolicy& policy)
    : policy_(policy) {
  const double slowest = most_of(predictions, [](const Prediction& p) { return usable(p.seconds) ? p.seconds : 0; });
  for (Prediction& p : predictions) {
    if (!usable(p.seconds)) p.seconds = slowest > 0 ? slowest : 1;
    families_[p.family];
    runners_.push_back({.prediction = std::move(p), .interval = {}});
  }
  learn();
}

std::size_t CandidateSearch::measured() const {
  return static_cast<std::size_t>(std::ranges::count_if(runners_, [](const Runner& r) { return r.rounds > 0; }));
}

std::size_t CandidateSearch::most() const {
  const auto share = static_cast<std::size_t>(policy_.share * static_cast<double>(runners_.size()));
  return std::min(runners_.size(), std::clamp(share, policy_.least, std::max(policy_.least, policy_.most)));
}

/// Returns the number of new configurations that may still be tried.
std::size_t CandidateSearch::left() const {
  const auto tried =
      static_cast<std::size_t>(std::ranges::count_if(runners_, [](const Runner& r) { return !r.fresh(); }));
  return most() - std::min(most(), tried);
}

void CandidateSearch::record(std::size_t index, double median, const std::optional<Interval>& interval) {
  Runner& runner = runners_.at(index);
  ++runner.rounds;
  runner.median = median;
  // Without enough samples for an interval, the model error around the median serves as the interval.
  runner.interval = interval.value_or(Interval{median * (1 - policy_.model_error), median * (1 + policy_.model_error)});
  runner.interval.low = std::max(runner.interval.low, std::numeric_limits<double>::min());
  learn();
}

void CandidateSearch::fail(std::size_t index) {
  Runner& runner = runners_.at(index);
  runner.failed = true;
  runner.rounds = 0;
  learn();
}

/// Estimates bias and error of each family, because a model may be good for one family and bad for another. The bias of
/// a family is fitted to the same ratios from which its error is estimated, so the fit costs a degree of freedom.
void CandidateSearch::learn() {
  for (auto& [name, family] : families_) family = {};
  for (const Runner& r : runners_) {
    Family& family = families_[r.prediction.family];
    family.failed += r.failed ? 1 : 0;
    if (r.rounds == 0) continue;
    ++family.measured;
    const double weight = 1 / (policy_.model_error * policy_.model_error + r.half_width() * r.half_width());
    family.weight += weight;
    family.bias += weight * r.log_ratio();
  }
  double common = 0;
  double known = 0;
  for (auto& [name, family] : families_) {
    if (family.measured == 0) continue;
    family.bias /= family.weight;
    common += family.bias;
    ++known;
  }
  double of_all = kWeightOfGuess * policy_.model_error * policy_.model_error;
  double weight = kWeightOfGuess - known;
  for (const Runner& r : runners_) {
    if (r.rounds == 0) continue;
    Family& family = families_[r.prediction.family];
    const double residual = r.log_ratio() - family.bias;
    const double of_model = std::max(0.0, residual * residual - r.half_width() * r.half_width());  // minus sample noise
    family.squares += of_model;
    of_all += of_model;
    ++weight;
  }
  of_all /= weight;
  for (auto& [name, family] : families_) {
    if (family.measured == 0) {
      family.bias = known > 0 ? common / known : 0;
      family.error = std::hypot(std::sqrt(of_all), policy_.family_error);
    } else {
      const auto n = static_cast<double>(family.measured);
      const double squares = kWeightOfAll * of_all + family.squares;
      family.error = std::sqrt(squares / (kWeightOfAll + n - 1) * (1 + 1 / n));
    }
  }
}

double CandidateSearch::corrected(std::size_t index) const {
  const Prediction& prediction = runners_.at(index).prediction;
  return prediction.seconds * std::exp(families_.at(prediction.family).bias);
}

bool CandidateSearch::hopeless(const Runner& runner) const {
  const Family& family = families_.at(runner.prediction.family);
  return family.measured == 0 && family.failed >= 2;
}

/// Returns the shortest plausible time in seconds: policy_.reach model errors below the corrected prediction.
double CandidateSearch::optimistic(std::size_t index) const {
  const double error = families_.at(runners_[index].prediction.family).error;
  return corrected(index) * std::exp(-policy_.reach * error);
}

/// Returns the indices of the configurations that satisfy `wanted`, sorted by ascending rank(index).
std::vector<std::size_t> CandidateSearch::ranked(const std::function<bool(const Runner&)>& wanted,
                                                 const std::function<double(std::size_t)>& rank) const {
  std::vector<std::size_t> found = places_where(runners_, wanted);
  std::ranges::stable_sort(found, {}, rank);
  return found;
}

std::optional<std::size_t> CandidateSearch::leader() const {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < runners_.size(); ++i) {
    if (runners_[i].rounds > 0 && (!best || runners_[i].median < runners_[*best].median)) best = i;
  }
  return best;
}

std::vector<std::size_t> CandidateSearch::standing() const {
  const auto best = leader();
  if (!best) return {};
  const double limit = runners_[*best].interval.high * (1 + policy_.clearly);
  return ranked([limit](const Runner& r) { return r.rounds > 0 && r.interval.low <= limit; },
                [this](std::size_t i) { return runners_[i].median; });
}

std::vector<std::size_t> CandidateSearch::next() const {
  const auto best = leader();
  std::vector<std::size_t> batch = best ? promising() : first_batch();
  if (batch.empty() && best) batch = undecided();
  if (batch.empty() || !best) return batch;
  if (std::ranges::find(batch, *best) == batch.end()) batch.insert(batch.begin(), *best);
  return batch;
}

/// Returns the configuration with the best prediction of every family, in case the model is wrong about one family.
/// Fills the batch with the best predictions of all families.
std::vector<std::size_t> CandidateSearch::first_batch() const {
  const auto order = ranked([this](const Runner& r) { return r.fresh() && !hopeless(r); },
                            [this](std::size_t i) { return runners_[i].prediction.seconds; });
  std::vector<std::size_t> chosen;
  std::set<std::string> seen;
  for (const std::size_t i : order) {
    if (seen.insert(runners_[i].prediction.family).second) chosen.push_back(i);
  }
  for (const std::size_t i : order) {
    if (chosen.size() >= policy_.batch) break;
    if (std::ranges::find(chosen, i) == chosen.end()) chosen.push_back(i);
  }
  chosen.resize(std::min(chosen.size(), left()));
  return chosen;
}

/// Returns the unmeasured configurations that could still beat the best measured one, most promising first.
std::vector<std::size_t> CandidateSearch::promising() const {
  const double best = runners_[*leader()].median * (1 - policy_.worthwhile);
  const auto rank = [this](std::size_t i) { return optimistic(i); };
  auto found = ranked([this](const Runner& r) { return r.fresh() && !hopeless(r); }, rank);
  std::erase_if(found, [&](std::size_t i) { return rank(i) >= best; });
  found.resize(std::min({found.size(), policy_.batch, left()}));
  return found;
}

/// Returns the configurations whose intervals overlap that of the best, because more samples may separate them. Returns
/// none if at most `finalists` are tied or the interval of the best is narrow.
std::vector<std::size_t> CandidateSearch::undecided() const {
  const std::size_t best = *leader();
  const std::vector<std::size_t> close = standing();
  std::vector<std::size_t> found;
  const Interval& interval = runners_[best].interval;
  const bool known = interval.high - interval.low <= policy_.clearly * runners_[best].median;
  if (close.size() <= policy_.finalists || known) return found;
  for (const std::size_t i : close) {
    const bool overlaps = runners_[i].interval.low <= runners_[best].interval.high;
    if (i != best && overlaps && runners_[i].rounds < policy_.rounds) found.push_back(i);
  }
  found.resize(std::min(found.size(), policy_.batch));
  return found;
}

}  // namespace xferbench::model
