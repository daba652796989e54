// What `tune` says of several works: which configuration to choose for each, and from which size on.
#include <gtest/gtest.h>

#include <array>

#include "run/thresholds.hpp"

namespace xferbench::test {
namespace {

const Axis kDir = choice_axis("dir", {"h2d", "d2h"}, {});
const Axis kPiece = size_axis("piece", {});
const Axis kWay = choice_axis("way", {"calls", "staged", "batch"}, {});

ScenarioDescriptor scenario() {
  return {.name = "s", .summary = "", .axes = {kDir, kPiece, kWay}, .metrics = {}, .work_axes = {"dir", "piece"}};
}

Case config(const std::string& dir, std::uint64_t piece, const std::string& way) {
  Case c("s");
  c.set(kDir, dir);
  c.set(kPiece, piece);
  c.set(kWay, way);
  return c;
}

/// What tune() returns if `way` is the fastest.
Tuned tuned(const std::string& dir, std::uint64_t piece, const std::string& way, const char* about = "winner") {
  Result result;
  result.config = config(dir, piece, way);
  Finding finding{.kind = "tune", .labels = {{"about", about}}, .metrics = {{"makespan", 1e-3, "s"}}};
  for (const Case::Param& p : result.config.params()) finding.labels.emplace_back(p.name, to_text(p.value, p.kind));
  return {{result}, {finding}};
}

TEST(Thresholds, AWorkIsAllCasesWithTheSameSizesAndDirection) {
  const std::array cases{config("h2d", 4096, "calls"), config("d2h", 4096, "calls"), config("h2d", 4096, "batch")};
  const auto works = by_work(cases, scenario().work_axes);
  ASSERT_EQ(works.size(), 2U);
  EXPECT_EQ(works[0].size(), 2U);
  EXPECT_EQ(works[1].front().key(), cases[1].key());
}

TEST(Thresholds, SayUpToWhichSizeWhichWayIsToBeChosen) {
  const std::array works{tuned("h2d", 4096, "calls"), tuned("h2d", 8192, "staged"), tuned("h2d", 16384, "staged"),
                         tuned("h2d", 32768, "batch")};
  const auto findings = threshold_findings(scenario(), works);
  ASSERT_EQ(findings.size(), 5U);
  EXPECT_EQ(findings[0].kind, "threshold");
  EXPECT_EQ(findings[0].text, "way by piece: calls up to 4 KiB, staged from 8 KiB to 16 KiB, batch from 32 KiB on");
  EXPECT_EQ(findings[1].kind, "choice");
  EXPECT_EQ(findings[1].labels, (Labels{{"piece", "4KiB"}, {"way", "calls"}}));
}

TEST(Thresholds, AreSaidForEachDirection) {
  const std::array works{tuned("h2d", 4096, "calls"), tuned("d2h", 4096, "batch"), tuned("h2d", 8192, "calls"),
                         tuned("d2h", 8192, "staged")};
  const auto findings = threshold_findings(scenario(), works);
  EXPECT_EQ(findings[0].text, "h2d, way by piece: calls from 4 KiB to 8 KiB");
  EXPECT_EQ(findings[1].text, "d2h, way by piece: batch up to 4 KiB, staged from 8 KiB on");
}

TEST(Thresholds, TheSimplestOfThoseThatAreAsFastIsChosen) {
  Tuned with_both = tuned("h2d", 4096, "batch");
  const Tuned simple = tuned("h2d", 4096, "calls", "simplest");
  with_both.results.push_back(simple.results.front());
  with_both.findings.push_back(simple.findings.front());
  const std::array works{with_both, tuned("h2d", 8192, "calls")};
  EXPECT_EQ(threshold_findings(scenario(), works)[0].text, "way by piece: calls from 4 KiB to 8 KiB");
}

TEST(Thresholds, AChoiceThatWasNotConfirmedSaysSo) {
  Tuned cut_off = tuned("h2d", 8192, "staged");
  cut_off.results.front().labels.emplace_back("measured_in", "search");
  const std::array works{tuned("h2d", 4096, "calls"), cut_off};
  const auto findings = threshold_findings(scenario(), works);
  EXPECT_EQ(findings[1].labels.back(), std::pair(std::string("way"), std::string("calls")));
  EXPECT_EQ(findings[2].labels.back(), std::pair(std::string("measured_in"), std::string("search")));
}

TEST(Thresholds, AreNotSaidOfOneWork) {
  EXPECT_TRUE(threshold_findings(scenario(), std::array{tuned("h2d", 4096, "calls")}).empty());
}

}  // namespace
}  // namespace xferbench::test
