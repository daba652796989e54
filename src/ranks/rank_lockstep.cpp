#include "ranks/rank_lockstep.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

namespace xferbench {

namespace {

constexpr double kShortestSlack = 20e-6;  // seconds; shortest time that a rank adds to the start time it proposes
constexpr double kLongestSlack = 50e-3;
constexpr double kSlackShrinks = 0.99;  // slack is multiplied by this after each pass in which no rank was late
constexpr double kTolerance = 5e-6;     // seconds; a rank that starts a pass later by less than this is not late
constexpr double kToleratedShare = 0.002;
constexpr int kMostVoidInARow = 8;
constexpr int kTrials = 5;
// During a case, clocks are synchronised again after kUnsynchronised seconds, if their uncertainty is more than the
// fraction kHarmlessShare of a pass's duration.
constexpr double kUnsynchronised = 25e-3;
constexpr double kHarmlessShare = 0.0025;
// Wanted ratio of a pass's duration to the clock uncertainty. A result with less than half of this ratio is not judged.
constexpr double kPassOverUncertainty = 200;
constexpr double kLongestWanted = 10e-3;  // upper limit of shortest_pass(), seconds

/// Index of each value in `values_`. The all-reduce returns the maximum of each value over all ranks.
enum Slot : std::size_t { kStep, kMinusStep, kMeasures, kInterrupted, kSynchronise, kUncertainty, kFirst, kSecond };

constexpr double kUnset = -std::numeric_limits<double>::infinity();

}  // namespace

RankLockstep::Tally& RankLockstep::Tally::operator+=(const Tally& other) {
  passes += other.passes;
  void_passes += other.void_passes;
  late_passes += other.late_passes;
  question_mismatch += other.question_mismatch;
  return *this;
}

RankLockstep::RankLockstep(Communicator& ranks, HostRuntime& host, CommonClock& clock, Timeout timeout,
                           std::function<int()> interrupted)
    : ranks_(ranks),
      host_(host),
      clock_(clock),
      timeout_(std::move(timeout)),
      interrupted_here_(std::move(interrupted)) {}

void RankLockstep::set_neutral() {
  values_.fill(kUnset);
  values_[kMeasures] = 0;
  values_[kInterrupted] = interrupted_here_();
  values_[kSynchronise] = 0;
}

bool RankLockstep::synchronising_is_due() const {
  return company_ == Company::together && host_.now() - synchronised_ > kUnsynchronised &&
         uncertainty_ > kHarmlessShare * length_;
}

/// Synchronises the clocks if any rank requested it in the last all-reduce. All ranks take part in every all-reduce, so
/// all of them synchronise together.
void RankLockstep::synchronise_if_due() {
  just_synchronised_ = values_[kSynchronise] > 0;
  if (!just_synchronised_) return;
  clock_.synchronise(timeout_);
  synchronised_ = host_.now();
}

double RankLockstep::exchange(const std::string& what) {
  if (silence_) return 0;
  const double begun = host_.now();
  try {
    all_reduce(ranks_, values_, Reduction::max, timeout_, case_ + ": " + what);
    synchronise_if_due();
  } catch (const RankTimeoutError& error) {
    silence_ = error.what();
    return 0;
  } catch (const CommunicationError& error) {  // thrown if MPI reports an error, for example because a rank has died
    silence_ = case_ + ": " + what + ": " + error.what();
    return 0;
  }
  signal_ = std::max(signal_, static_cast<int>(values_[kInterrupted]));
  clock_uncertainty_ = std::max(clock_uncertainty_, values_[kUncertainty]);
  if (values_[kUncertainty] > kUnset) uncertainty_ = values_[kUncertainty];
  return host_.now() - begun;
}

void RankLockstep::begin_case(std::string name, Company company) {
  case_ = std::move(name);
  company_ = company;
  step_ = 0;
  apart_ = false;
  void_in_a_row_ = 0;
  last_ = {};
  tally_ = {};
  clock_uncertainty_ = 0;
  set_neutral();
  exchange("beginning it");
  if (!exchange_seconds_) measure_exchange();
}

/// Measures several all-reduces and keeps the shortest duration, because a rank that enters an all-reduce early waits
/// for the others.
void RankLockstep::measure_exchange() {
  exchange_seconds_ = std::numeric_limits<double>::infinity();
  for (int trial = 0; trial < kTrials; ++trial) {
    set_neutral();
    exchange_seconds_ = std::min(*exchange_seconds_, exchange("timing an agreement"));
  }
  slack_ = std::clamp(2 * *exchange_seconds_, kShortestSlack, kLongestSlack);
}

void RankLockstep::answer_questions() {
  do {
    set_neutral();
    exchange("waiting until all ranks have finished");
  } while (values_[kMeasures] > 0 && !silence_);
}

RankLockstep::Answer RankLockstep::ask(Question question, double first, double second) {
  static constexpr auto kTexts = std::to_array<std::string_view>(
      {"", "agreeing on a decision", "agreeing on a number", "agreeing on a start", "agreeing on a pass"});
  constexpr double kQuestions = kTexts.size();
  ++step_;
  const double step = step_ * kQuestions + static_cast<double>(question);
  set_neutral();
  values_[kStep] = step;
  values_[kMinusStep] = -step;
  values_[kMeasures] = 1;
  values_[kUncertainty] = clock_.uncertainty();
  values_[kFirst] = first;
  values_[kSecond] = second;
  // Request synchronisation only between passes: during a pass, the clock is still needed to time its end.
  values_[kSynchronise] = question == Question::start && synchronising_is_due() ? 1 : 0;
  exchange(std::string(kTexts.at(static_cast<std::size_t>(question))));
  if (values_[kStep] == -values_[kMinusStep] && !silence_) return {true, values_[kFirst], values_[kSecond]};
  apart_ = true;
  return {false, first, second};
}

bool RankLockstep::any(bool mine) { return ask(Question::any, mine ? 1 : 0).first > 0; }

double RankLockstep::largest(double mine) { return ask(Question::largest, mine).first; }

double RankLockstep::shortest_pass() const {
  return std::min(kLongestWanted, kPassOverUncertainty * std::max(uncertainty_, clock_.uncertainty()));
}

void RankLockstep::agree_on_start(double preparation, double length) {
  late_ = false;
  length_ = length;
  do {
    start_ = ask(Question::start, clock_.now() + preparation + slack_).first;
  } while (just_synchronised_ && !silence_);  // ask again: synchronising took time and may have changed the clock
}

double RankLockstep::tolerance() const {
  return std::max({clock_.uncertainty(), kTolerance, kToleratedShare * length_});
}

void RankLockstep::wait_for_start() {
  const double allowed = tolerance();
  host_.wait_until(clock_.line().own(start_));
  last_.begin = clock_.now() - start_;
  late_ = last_.begin > allowed;
}

bool RankLockstep::agree_on_pass(bool mine) {
  last_.end = clock_.now() - start_;
  const Answer answer = ask(Question::pass, late_ ? 1 : 0, mine ? 0 : 1);
  const bool late = answer.first > 0;
  const bool good = answer.second == 0;
  slack_ = std::clamp(slack_ * (late ? 2 : kSlackShrinks), kShortestSlack, kLongestSlack);
  if (!late) void_in_a_row_ = 0;
  ++tally_.passes;
  if (!good) return false;
  if (late && !apart_ && void_in_a_row_ < kMostVoidInARow) {
    ++void_in_a_row_;
    ++tally_.void_passes;
    if (late_) ++tally_.late_passes;
    return false;
  }
  // After kMostVoidInARow repetitions in a row, late passes count until all ranks begin a pass in time again.
  if (late || std::exchange(apart_, false)) ++tally_.question_mismatch;
  return true;
}

}  // namespace xferbench
