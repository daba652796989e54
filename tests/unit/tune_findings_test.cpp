#include "run/tune_findings.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace xferbench {
namespace {

const Axis kSize{.name = "size", .kind = AxisKind::size};
const Axis kChunks{.name = "chunks"};
const Axis kIssue{.name = "issue", .kind = AxisKind::choice};

Case configuration(std::uint64_t chunks, const std::string& issue = "depth") {
  Case c("pipe");
  c.set(kSize, std::uint64_t{64} << 20);
  c.set(kChunks, chunks);
  c.set(kIssue, issue);
  return c;
}

Contestant contestant(std::uint64_t chunks, double milliseconds, bool confirmed = true) {
  return {.config = configuration(chunks),
          .seconds = milliseconds * 1e-3,
          .interval = Interval{milliseconds * 0.999e-3, milliseconds * 1.001e-3},
          .predicted = milliseconds * 0.8e-3,
          .complexity = static_cast<double>(chunks),
          .confirmed = confirmed};
}

std::vector<Finding> findings(std::vector<Contestant> contestants, std::size_t failed = 0) {
  TuneSummary summary;
  for (std::uint64_t chunks = 1; chunks <= 64; ++chunks) summary.space.push_back(configuration(chunks));
  summary.measured = contestants.size();
  summary.failed = failed;
  summary.contestants = std::move(contestants);
  summary.command_of = [](const Case& c) { return "run " + c.key(); };
  return tune_findings(std::move(summary));
}

std::string text_about(const std::vector<Finding>& all, const std::string& what) {
  const auto found = std::ranges::find_if(all, [&](const Finding& f) { return f.labels.front().second == what; });
  return found == all.end() ? "" : found->text;
}

TEST(TuneFindings, NameTheFastestByTheAxesThatVary) {
  const auto all = findings({contestant(16, 5.2), contestant(32, 5)});
  EXPECT_EQ(text_about(all, "winner"), "fastest: chunks 32: 5.000 ms (95 % interval 4.995 ms to 5.005 ms)");
  EXPECT_EQ(text_about(all, "alike"), "no other configuration that was measured is within 1 % of it");
  EXPECT_EQ(text_about(all, "simplest"), "") << "there is nothing to choose from";
  EXPECT_EQ(text_about(all, "command"), "to run the fastest by itself: run pipe/size=64MiB/chunks=32/issue=depth");
  for (const Finding& f : all) {
    EXPECT_EQ(f.scenario, "pipe");
    EXPECT_EQ(f.kind, "tune");
  }
}

TEST(TuneFindings, NameWhatIsAsFastAndTheSimplestOfThat) {
  const auto all = findings({contestant(32, 5), contestant(16, 5.04), contestant(8, 5.06)});
  EXPECT_EQ(text_about(all, "alike"), "1 other configuration is within 1 % of it: chunks 16 (+0.8 %)");
  EXPECT_EQ(text_about(all, "simplest"), "the simplest of these: chunks 16: 5.040 ms (+0.8 %)");
}

TEST(TuneFindings, DoNotNameThemAll) {
  std::vector<Contestant> many;
  for (std::uint64_t chunks = 1; chunks <= 7; ++chunks) many.push_back(contestant(chunks, 5));
  EXPECT_TRUE(text_about(findings(many), "alike").ends_with("; chunks 5 (+0.0 %); and 2 more"));
}

TEST(TuneFindings, BelieveFreshSamplesFirst) {
  const auto all = findings({contestant(8, 4.9, false), contestant(16, 5), contestant(32, 4.99, false)});
  EXPECT_EQ(text_about(all, "winner").find("fastest: chunks 16: 5.000 ms"), 0U);
  EXPECT_EQ(text_about(all, "alike"), "no other configuration that was measured is within 1 % of it");
}

TEST(TuneFindings, SayThatNothingWasConfirmed) {
  EXPECT_TRUE(text_about(findings({contestant(8, 4.9, false)}), "winner").ends_with("take it with care"));
}

TEST(TuneFindings, SayHowMuchWasMeasuredAndHowWrongTheModelWas) {
  EXPECT_EQ(
      text_about(findings({contestant(8, 5)}, 2), "search"),
      "measured 1 of 64 configurations, 2 failed; the model was off by 25.0 % for half of them and by 25.0 % at most");
}

TEST(TuneFindings, OfNothingMeasuredAreOne) {
  const auto all = findings({}, 3);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all.front().text, "measured 0 of 64 configurations, 3 failed");
}

}  // namespace
}  // namespace xferbench
