#include "fleet/judgement.hpp"

#include <algorithm>

#include "fleet/suspicion.hpp"
#include "fleet/verdicts.hpp"
#include "measure/statistics.hpp"

namespace xferbench::fleet {

namespace {

/// Checks whether the second measurement of a test reproduces the suspicions that its first measurement raised.
class RetestEvaluation {
 public:
  /// `again` is the test with the values of its second measurement; null if the test was not measured again.
  RetestEvaluation(const FirstRound& first, const FirstRound::Judged& judged, const Test* again, const Options& options)
      : first_(first), again_(again), threshold_(options.threshold) {
    if (again == nullptr || again->values.empty()) return;
    unsure_ = std::ranges::max(again->values, {}, &Test::Value::clock_share).clock_share > options.clock_share;
    for (const auto& [pool, values] : first.good_of(judged, *again)) {
      const std::vector<double> speeds = speeds_of(*again, values);
      good_[pool] = {statistics::median(speeds), *std::ranges::min_element(speeds)};
    }
  }

  [[nodiscard]] RetestOutcome look(const Suspicion& suspicion) const {
    if (again_ == nullptr) return {};
    RetestOutcome found{.seen = unsure_ ? RetestOutcome::Reproduced::clocks : RetestOutcome::Reproduced::nobody};
    if (unsure_) return found;
    for (const Test::Value* v : first_.values_of(suspicion.subject, *again_)) {
      const auto good = good_.find(first_.pool_of(suspicion.subject, *again_, *v));
      if (good == good_.end()) continue;
      const double speed = speed_of(*again_, v->value);
      const double its = shortfall(speed, good->second.median);
      if (!(its > threshold_ && speed < good->second.lowest)) return {.seen = RetestOutcome::Reproduced::no};
      found.shortfalls.push_back(its);
    }
    if (!found.shortfalls.empty()) found.seen = RetestOutcome::Reproduced::yes;
    return found;
  }

 private:
  struct Good {
    double median = 0;
    double lowest = 0;
  };

  const FirstRound& first_;
  const Test* again_;
  double threshold_;
  bool unsure_ = false;
  std::map<Pool, Good> good_;
};

}  // namespace

void judge(Report& report, const Options& options) {
  if (!report.fleet) return;
  const FirstRound first(report, options);
  const std::vector<Test> second = judged_tests_of(report, 2);
  const auto what = [](const Test& t) { return std::tie(t.key, t.pace, t.metric); };
  std::map<std::tuple<std::string, RankConcurrency, std::string>, const Test*> measured_again;
  for (const Test& test : second) measured_again.emplace(what(test), &test);

  Verdicts verdicts(*report.fleet, first, options);
  for (const FirstRound::Judged& judged : first.tests()) {
    if (judged.suspicions.empty()) continue;
    const auto again = measured_again.find(what(judged.test));
    const RetestEvaluation look(first, judged, again == measured_again.end() ? nullptr : again->second, options);
    for (const Suspicion& suspicion : judged.suspicions) verdicts.add(judged.test, suspicion, look.look(suspicion));
  }
  auto flagged = verdicts.flagged();
  auto notes = first.notes();
  std::ranges::move(verdicts.notes(), std::back_inserter(notes));
  FleetJudgement judgement = first.judgement();
  judgement.unresolved = verdicts.unresolved();
  report.fleet->judgement = judgement;
  report.fleet->flagged = std::move(flagged);
  report.fleet->notes = std::move(notes);
}

}  // namespace xferbench::fleet
