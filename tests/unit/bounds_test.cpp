// Bounds: against times and rates worked out by hand.
#include "model/bounds.hpp"

#include <gtest/gtest.h>

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
                         // At 0.8 of its rate the copy of 1 s takes 1.25 s, in which the copy of 2 s does 1 s of its
                         // work; the other second runs alone: 2.25 s.
                         {{.h2d = 2, .d2h = 1, .both = 2.25}, 0.8, "the longer runs alone at the end"},
                         {{.h2d = 1, .d2h = 2, .both = 2.25}, 0.8, "whichever is the longer"},
                         {{.h2d = 1, .d2h = 1, .both = 0.9}, 1, "both measured faster than one: noise"},
                         {{.h2d = 1, .d2h = 0, .both = 1.5}, 1, "nothing to share with"}}) {
    EXPECT_DOUBLE_EQ(duplex_ratio(t.times), t.ratio) << t.why;
  }
}

TEST(LinkBound, ReachesFromTheLongerCopyToTheirSum) {
  EXPECT_DOUBLE_EQ(link_bound(3, 2, 1), 3);
  EXPECT_DOUBLE_EQ(link_bound(3, 2, 0.8), 3.5);
  EXPECT_DOUBLE_EQ(link_bound(2, 3, 0.8), 3.5) << "whichever is the longer";
  EXPECT_DOUBLE_EQ(link_bound(3, 2, 0.5), 5);
  EXPECT_DOUBLE_EQ(link_bound(3, 2, 0.25), 5) << "never longer than taking turns";
}

TEST(LowerBound, ReproducesTheMeasuredTimeOfBothCopies) {
  for (const double both : {2.0, 2.1, 2.5, 3.0, 3.4}) {
    EXPECT_NEAR(lower_bound({.h2d = 2, .kernel = 0.1, .d2h = 1.4, .both = both}, 2), both, 1e-12) << both;
    EXPECT_NEAR(lower_bound({.h2d = 1.4, .kernel = 0.1, .d2h = 2, .both = both}, 2), both, 1e-12) << both;
  }
}

TEST(LowerBound, IsThatOfTheKernelOrOfTheLinkWhicheverTakesLonger) {
  struct Bound {
    double kernel;
    unsigned copy_engines;
    double bound;
    Limit limit;
  };
  for (const Bound& b : {Bound{2.6, 2, 2.6, Limit::kernel},
                         {2.4, 2, 2.5, Limit::link},
                         {2.6, 1, 3, Limit::link},  // one engine: the sum of the copies
                         {3.5, 1, 3.5, Limit::kernel}}) {
    const Stages stages{.h2d = 2, .kernel = b.kernel, .d2h = 1, .both = 2.5};
    EXPECT_DOUBLE_EQ(lower_bound(stages, b.copy_engines), b.bound) << b.kernel;
    EXPECT_EQ(limiting_stage(stages, b.copy_engines), b.limit) << b.kernel;
  }
  // 5 s for copies of 2 and 1 s: something else was in the way, and taking turns would do it in 3.
  EXPECT_DOUBLE_EQ(lower_bound({.h2d = 2, .kernel = 0, .d2h = 1, .both = 5}, 2), 3);
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
