// Outliers in a group of values with intervals.
#include "model/group_outliers.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace xferbench::model {
namespace {

using Places = std::vector<std::size_t>;

/// Values with a relative interval of +- `share`.
std::vector<Estimate> sure(const std::vector<double>& values, double share = 0.01) {
  std::vector<Estimate> all;
  for (const double value : values) all.push_back({value, Interval{value * (1 - share), value * (1 + share)}});
  return all;
}

TEST(OddOnes, AreThoseFarFromTheMedianOfAll) {
  EXPECT_EQ(group_outliers(sure({390, 391, 389, 390, 200, 392})), (Places{4}));
  EXPECT_EQ(group_outliers(sure({390, 391, 420, 390, 200, 392})), (Places{2, 4}));
  EXPECT_EQ(group_outliers(sure({390, 391, 389})), Places{});
}

TEST(OddOnes, AreMoreThanTheMarginAway) {
  EXPECT_EQ(group_outliers(sure({100, 100, 100, 104.9})), Places{});
  EXPECT_EQ(group_outliers(sure({100, 100, 100, 105.1})), (Places{3}));
  EXPECT_EQ(group_outliers(sure({100, 100, 100, 95.1})), Places{});
  EXPECT_EQ(group_outliers(sure({100, 100, 100, 94.9})), (Places{3}));
}

TEST(OddOnes, AreBeyondDoubt) {
  EXPECT_EQ(group_outliers(sure({100, 100, 100, 80}, 0.2)), (Places{3})) << "up to 96";
  EXPECT_EQ(group_outliers(sure({100, 100, 100, 80}, 0.3)), Places{}) << "up to 104";
  EXPECT_EQ(group_outliers(sure({100, 100, 100, 130}, 0.25)), Places{}) << "down to 97.5";
  std::vector<Estimate> unsure = sure({100, 100, 100, 50});
  unsure.back().interval.reset();
  EXPECT_EQ(group_outliers(unsure), Places{});
}

TEST(OddOnes, AreNotToldOfTwo) {
  EXPECT_EQ(group_outliers(sure({100, 50})), Places{});
  EXPECT_EQ(group_outliers(sure({100, 100, 50})), (Places{2}));
  EXPECT_EQ(group_outliers({}), Places{});
}

/// Half of the values are as good as the other half: all four are reported, since none is the norm.
TEST(OddOnes, AreAllWhereThereAreTwoKinds) {
  EXPECT_EQ(group_outliers(sure({50, 50, 100, 100})), (Places{0, 1, 2, 3}));
}

}  // namespace
}  // namespace xferbench::model
