// Lower bounds on the makespan, against times and rates worked out by hand.
#include "model/bounds.hpp"

#include <gtest/gtest.h>

#include "core/enum_text.hpp"

namespace xferbench::model {
namespace {

TEST(DuplexRatio, IsTheRateOfEachWhileBothRunOverItsRateAlone) {
  struct Timed {
    Stages times;
    double ratio;
    const char* why;
  };
  for (const Timed& t : {Timed{{.h2d = 1, .d2h = 1, .both = 1}, 1, "one hides behind the other"},
                         {{.h2d = 3, .d2h = 1, .both = 3}, 1, "the shorter hides behind the longer"},
                         {{.h2d = 1, .d2h = 1, .both = 2}, 0.5, "they take turns"},
                         {{.h2d = 3, .d2h = 1, .both = 4}, 0.5, "they take turns"},
                         {{.h2d = 1, .d2h = 1, .both = 1.25}, 0.8, "each ran at 0.8 of its rate"},
                         // At 0.8 of its rate the copy of 1 s takes 1.25 s, during which the copy of 2 s makes 1 s of
                         // progress. Its other second runs alone: 2.25 s.
                         {{.h2d = 2, .d2h = 1, .both = 2.25}, 0.8, "the longer runs alone at the end"},
                         {{.h2d = 1, .d2h = 2, .both = 2.25}, 0.8, "whichever is the longer"},
                         {{.h2d = 1, .d2h = 1, .both = 0.9}, 1, "both measured faster than one: noise"},
                         {{.h2d = 1, .d2h = 0, .both = 1.5}, 1, "nothing to share with"}}) {
    EXPECT_DOUBLE_EQ(duplex_ratio(t.times), t.ratio) << t.why;
  }
}

TEST(TimeAtBothRates, IsThatOfBothPayloadsAtTheRatesThatTheyHaveTogether) {
  EXPECT_DOUBLE_EQ(time_at_both_rates(1, 1, 1.25, 1.25), 1.25) << "both end together";
  // Numbers of an H100. D2H ends after 5.2 ms; by then H2D, 4.9 ms alone, has 0.98 ms to go, a fifth of it. The two
  // moved 1.8 payloads in 5.2 ms; the remaining 0.2 take another 0.578 ms.
  EXPECT_NEAR(time_at_both_rates(4.9, 4.8, 6.18, 5.2), 5.2 * 2 / 1.8, 1e-12);
  EXPECT_NEAR(time_at_both_rates(4.8, 4.9, 5.2, 6.18), 5.2 * 2 / 1.8, 1e-12) << "whichever is the later";
  EXPECT_DOUBLE_EQ(time_at_both_rates(1, 1, 1, 2), 2) << "they take turns";
  EXPECT_DOUBLE_EQ(time_at_both_rates(1, 1, 1, 5), 2) << "more cannot be left than all of it";
  EXPECT_DOUBLE_EQ(time_at_both_rates(0, 1, 2, 1), 0) << "nothing to tell it by";
}

/// Checks the bound in seconds, and the resource that causes it.
void expect_limit(const Stages& stages, unsigned copy_engines, double seconds, LimitSource by) {
  const Bound bound = lower_bound(stages, copy_engines);
  EXPECT_DOUBLE_EQ(bound.seconds, seconds) << to_text(by);
  EXPECT_EQ(to_text(bound.by), to_text(by));
}

TEST(LowerBound, IsTheFastestArrangementOfBothCopies) {
  const Stages all{.h2d = 2, .kernel = 0.1, .d2h = 1.4, .both = 3, .chunked = 2.8, .at_both_rates = 2.5};
  const auto with = [&all](double Stages::*time, double seconds) {
    Stages s = all;
    s.*time = seconds;
    return s;
  };
  expect_limit(all, 2, 2.5, LimitSource::rates);
  expect_limit(with(&Stages::at_both_rates, 0), 2, 2.8, LimitSource::chunked);
  expect_limit(with(&Stages::both, 2.4), 2, 2.4, LimitSource::whole);
  expect_limit({.h2d = 2, .d2h = 1.4, .both = 3}, 2, 3, LimitSource::whole);
  expect_limit(with(&Stages::both, 1.9), 2, 2, LimitSource::whole);  // at least one copy alone
  expect_limit({.h2d = 2, .d2h = 1, .both = 5, .chunked = 4}, 2, 3, LimitSource::in_turn);
  expect_limit(all, 1, 3.4, LimitSource::in_turn);  // one copy engine
  expect_limit(with(&Stages::kernel, 2.6), 2, 2.6, LimitSource::kernel);
  expect_limit(with(&Stages::kernel, 2.4), 2, 2.5, LimitSource::rates);
  expect_limit(with(&Stages::kernel, 3.5), 1, 3.5, LimitSource::kernel);
}

TEST(LowerBound, IsThePipelineWhereThatIsFaster) {
  const Stages stages{.h2d = 2, .kernel = 0.1, .d2h = 1.4, .both = 3};
  EXPECT_DOUBLE_EQ(lower_bound(stages, 2, 2.9).seconds, 2.9);
  EXPECT_EQ(lower_bound(stages, 2, 2.9).by, LimitSource::fastest);
  EXPECT_DOUBLE_EQ(lower_bound(stages, 2, 3.1).seconds, 3);
  EXPECT_EQ(lower_bound({.h2d = 2, .kernel = 4, .d2h = 1.4, .both = 3}, 2, 3.9).by, LimitSource::fastest);
}

TEST(ShareOfLimit, IsAllOfItAtMost) {
  EXPECT_DOUBLE_EQ(share_of_limit(3, 4), 0.75);
  EXPECT_DOUBLE_EQ(share_of_limit(4, 4), 1);
  EXPECT_DOUBLE_EQ(share_of_limit(4.1, 4), 1) << "what was faster is the limit";
}

TEST(HiddenFraction, ReachesFromNothingToAll) {
  EXPECT_DOUBLE_EQ(hidden_fraction(10, 10, 4), 0);
  EXPECT_DOUBLE_EQ(hidden_fraction(10, 7, 4), 0.5);
  EXPECT_DOUBLE_EQ(hidden_fraction(10, 4, 4), 1);
  EXPECT_DOUBLE_EQ(hidden_fraction(10, 13, 4), -0.5) << "slower than serial";
  EXPECT_DOUBLE_EQ(hidden_fraction(4, 4, 4), 0) << "nothing to hide";
  EXPECT_DOUBLE_EQ(hidden_fraction(3, 4, 4), 0) << "nothing to hide";
}

}  // namespace
}  // namespace xferbench::model
