// Whether GPUs that did the same work one after the other are alike, and which one differs.
#include "scenarios/common/alike_gpus.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace xferbench {
namespace {

/// GPUs 0, 1, ... that copied 50 GB at these rates, in GB/s, each time known to within 0.1 %.
SameWork work(const std::vector<double>& rates, std::string words = "h2d, pinned") {
  SameWork made{.words = std::move(words), .labels = {{"dir", "h2d"}}, .bytes = 50e9, .rivals = {}};
  for (const double rate : rates) {
    const double time = 50 / rate;
    made.rivals.push_back({static_cast<int>(made.rivals.size()), {time, Interval{0.999 * time, 1.001 * time}}});
  }
  return made;
}

std::vector<std::string> said(const std::vector<SameWork>& works) {
  std::vector<std::string> texts;
  for (const Finding& f : compare_gpus(works)) {
    if (!f.detail) texts.push_back(f.label("outcome") + ": " + f.text);
  }
  return texts;
}

using Texts = std::vector<std::string>;

TEST(AlikeGpus, AreSaidToBeSoInOneSentence) {
  EXPECT_EQ(
      said({work({50, 50.1, 50.2}), work({40, 40, 40}, "d2h, pinned")}),
      Texts{"alike: all 3 GPUs are equally fast (within 1 %): h2d, pinned (50.10 GB/s); and d2h, pinned (40.00 GB/s)"});
  EXPECT_EQ(said({work({50, 50})}), Texts{"alike: both GPUs are equally fast (within 1 %): h2d, pinned (50.00 GB/s)"});
}

TEST(AlikeGpus, EachHaveTheirRatesInTheFinding) {
  const std::vector<Finding> findings = compare_gpus(std::vector{work({50, 50.1, 50.2})});
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[1].label("dir"), "h2d");
  EXPECT_DOUBLE_EQ(findings[1].metrics.at(0).value, 50);
  EXPECT_DOUBLE_EQ(findings[1].metrics.at(2).value, 50.2);
}

TEST(OddGpu, IsNamedBesideTheMedian) {
  EXPECT_EQ(said({work({50, 50, 44, 50, 55})}), Texts{"different: h2d, pinned: GPU 2 is 12.0 % slower (44.00 GB/s) and "
                                                      "GPU 4 is 10.0 % faster (55.00 GB/s) than the "
                                                      "median of 5 GPUs, 50.00 GB/s"});
}

TEST(OddGpu, OfTwoIsTheSlowerOne) {
  EXPECT_EQ(said({work({44, 50})}),
            Texts{"different: h2d, pinned: GPU 0 is 12.0 % slower than GPU 1: 44.00 GB/s against 50.00 GB/s"});
}

TEST(Gpus, ThatDifferALittleAreNeitherAlikeNorOdd) {
  EXPECT_EQ(said({work({50, 51, 52})}), Texts{"undecided: h2d, pinned: no GPU stands out: 50.00 to 52.00 GB/s"});
}

TEST(Gpus, WithTooFewSamplesAreUndecided) {
  SameWork few = work({40, 50, 50});
  for (Rival& of : few.rivals) of.time.interval.reset();
  ASSERT_EQ(said({few}).size(), 1U);
  EXPECT_TRUE(
      said({few}).front().starts_with("undecided: h2d, pinned: no GPU stands out: 40.00 to 50.00 GB/s (too few"));
}

std::string said_of_nodes(const std::vector<SameWork>& works) { return compare_nodes(works).front().text; }

TEST(NumaNodes, OfWhichOneIsSlowerAreToldWithTheLargestCost) {
  EXPECT_EQ(said_of_nodes({work({50, 40}, "h2d, pinned, GPU 0"), work({37, 50}, "h2d, pinned, GPU 1")}),
            "memory of the wrong NUMA node costs up to 26.0 %: h2d, pinned, GPU 1: 37.00 GB/s from node 0, 50.00 GB/s "
            "from node "
            "1");
  EXPECT_EQ(compare_nodes(std::vector{work({50, 40})}).size(), 2U) << "the second is its detail";
}

TEST(NumaNodes, ThatAreAlikeAreSaidToBeSo) {
  EXPECT_EQ(said_of_nodes({work({50, 50})}), "the memory of all NUMA nodes is equally fast (within 1 %)");
  EXPECT_EQ(said_of_nodes({work({50, 50.45})}), "no difference found between the memories of NUMA nodes");
  EXPECT_TRUE(compare_nodes({}).empty());
}

}  // namespace
}  // namespace xferbench
