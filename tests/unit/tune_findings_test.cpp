// Findings of tune: the winner, ties, failures, and times that are not confirmed.
#include "run/tune_findings.hpp"

#include <algorithm>
#include <utility>

#include "support/golden.hpp"
#include "unit/support.hpp"

namespace xferbench {
namespace {

using test::expect_golden;
using test::mentions;

const Axis kSizeAxis{.name = "size", .kind = AxisKind::size};
const Axis kChunks{.name = "chunks"};
const Axis kIssue{.name = "issue", .kind = AxisKind::choice};

Case configuration(std::uint64_t chunks, const std::string& issue = "depth") {
  Case c("pipe");
  c.set(kSizeAxis, std::uint64_t{64} << 20);
  c.set(kChunks, chunks);
  c.set(kIssue, issue);
  return c;
}

TuneCandidate contestant(std::uint64_t chunks, double milliseconds, bool confirmed = true) {
  return {.config = configuration(chunks),
          .seconds = milliseconds * 1e-3,
          .interval = Interval{milliseconds * 0.999e-3, milliseconds * 1.001e-3},
          .predicted = milliseconds * 0.8e-3,
          .complexity = static_cast<double>(chunks),
          .confirmed = confirmed};
}

std::vector<Finding> findings(std::vector<TuneCandidate> contestants, std::size_t failed = 0,
                              Objective objective = Objective::device) {
  TuneSummary summary;
  summary.objective = objective;
  for (std::uint64_t chunks = 1; chunks <= 64; ++chunks) summary.space.push_back(configuration(chunks));
  summary.failed = failed;
  summary.contestants = std::move(contestants);
  summary.command_of = [](const Case& c) { return "run " + c.key(); };
  return tune_findings(std::move(summary));
}

/// Subject and sentence of each finding, one per line.
std::string told(const std::vector<Finding>& all) {
  std::string text;
  for (const Finding& f : all) {
    EXPECT_EQ(f.scenario, "pipe");
    EXPECT_EQ(f.kind, "tune");
    text += f.labels.front().second + ": " + f.text + "\n";
  }
  return text;
}

TEST(TuneFindings, AreTheseSentences) {
  std::vector<TuneCandidate> seven;
  for (std::uint64_t chunks = 1; chunks <= 7; ++chunks) seven.push_back(contestant(chunks, 5));
  expect_golden("tune/a_clear_winner.txt", told(findings({contestant(16, 5.2), contestant(32, 5)})));
  expect_golden("tune/two_alike.txt", told(findings({contestant(32, 5), contestant(16, 5.04), contestant(8, 5.06)})));
  expect_golden("tune/seven_alike.txt", told(findings(seven)));
  expect_golden("tune/two_failed.txt", told(findings({contestant(8, 5)}, 2)));
  expect_golden("tune/nothing_confirmed.txt", told(findings({contestant(8, 4.9, false)})));
  expect_golden("tune/nothing_measured.txt", told(findings({}, 3)));
}

TEST(TuneFindings, BelieveFreshSamplesFirst) {
  const std::string text = told(findings({contestant(8, 4.9, false), contestant(16, 5), contestant(32, 5.2)}));
  EXPECT_TRUE(mentions(text, ": chunks 16: 5.000 ms"));
}

TEST(TuneFindings, AreTheFastestOnlyBeyondDoubt) {
  EXPECT_TRUE(
      mentions(told(findings({contestant(16, 5), contestant(32, 5.2)})), "winner: fastest by makespan: chunks 16"));
  EXPECT_TRUE(mentions(told(findings({contestant(16, 5), contestant(32, 5.02)})),
                       "winner: fastest by makespan, tied with others (within 1 % or within error): chunks 16"));
}

TEST(TuneFindings, TakeWhatDroppedOutOfTheSearchForSlower) {
  TuneCandidate few_samples = contestant(16, 5.2, false);
  few_samples.interval = std::nullopt;
  EXPECT_TRUE(mentions(told(findings({contestant(32, 5), few_samples})), "winner: fastest by makespan, tied"));
  few_samples.out = true;
  EXPECT_TRUE(mentions(told(findings({contestant(32, 5), few_samples})), "winner: fastest by makespan: chunks 32"));
}

/// The candidate left the search early, compared by extremes of few samples with a faster one.
TEST(TuneFindings, DoNotTakeForSlowerWhatTheSearchSawFaster) {
  TuneCandidate few_samples = contestant(16, 4.9, false);
  few_samples.interval = std::nullopt;
  few_samples.out = true;
  EXPECT_TRUE(mentions(told(findings({contestant(32, 5), few_samples})), "winner: fastest by makespan, tied"));
}

TEST(TuneFindings, SayWhichTimeWasSearchedFor) {
  const auto said = findings({contestant(16, 5), contestant(32, 5.2)}, 0, Objective::wall);
  EXPECT_TRUE(mentions(told(said), "winner: fastest by time to result: chunks 16"));
  const auto search = std::ranges::find(said, "search", [](const Finding& f) { return f.labels.front().second; });
  EXPECT_EQ(search->labels.back(), (std::pair<std::string, std::string>("objective", "wall")));
}

TEST(TuneFindings, SayWhereTheTimeWent) {
  TuneSummary summary;
  summary.space = {configuration(8)};
  summary.account = {.model = 0.91, .verification = 0.5, .search = 0.62, .confirmation = 0.37, .passes = 168};
  const std::vector<Finding> all = tune_findings(std::move(summary));
  EXPECT_EQ(all.front().text,
            "measured 0 of 1 configurations; 2.4 s: 0.9 s for the model, 0.5 s verification, 0.6 s search, 0.4 s "
            "confirmation");
  EXPECT_EQ(all.front().metrics.back().name, "passes");
  EXPECT_EQ(all.front().metrics.back().value, 168);
}

/// The sentence counts every tied candidate, also those that only the search has measured: readers of the file can
/// count them.
TEST(TuneFindings, CountAllThatAreAsFastWhereverTheyWereMeasured) {
  std::vector<TuneCandidate> all;
  for (std::uint64_t chunks = 1; chunks <= 16; ++chunks) all.push_back(contestant(chunks, 5));
  for (std::uint64_t chunks = 17; chunks <= 47; ++chunks) all.push_back(contestant(chunks, 5.01, false));
  const std::vector<Finding> found = findings(all);
  EXPECT_TRUE(mentions(told(found),
                       "alike: 46 other configurations are within 1 % of it (15 confirmed in the same round, 31 "
                       "measured only in the search): "));
  EXPECT_EQ(found[1].metrics.at(0).value, 46);
  EXPECT_EQ(found[1].metrics.at(1).name, "alike_confirmed");
  EXPECT_EQ(found[1].metrics.at(1).value, 15);
}

}  // namespace
}  // namespace xferbench
