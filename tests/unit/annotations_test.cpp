// GitHub annotations of check and compare.
#include "report/annotations.hpp"

#include <gtest/gtest.h>

#include "report/check/check_report.hpp"
#include "report/compare/compare_report.hpp"
#include "unit/compare_fixture.hpp"

namespace xferbench::annotations {
namespace {

using Weight = Annotation::Weight;
using Lines = std::vector<std::string>;

TEST(GithubAnnotations, EscapeWhatItsRunnerReadsOtherwise) {
  EXPECT_EQ(github_lines({{.weight = Weight::error, .title = "a: b, c", .message = "100 %: one,\ntwo"}}),
            Lines{"::error title=a%3A b%2C c::100 %25: one,%0Atwo"});
}

TEST(GithubAnnotations, CannotBecomeAnotherCommandOrMoveTheCursor) {
  const Lines lines = github_lines({{.title = "a\n::error::b", .message = "c\r\n::set-env name=x::y\x1b[2J"}});
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0], "::notice title=a?%3A%3Aerror%3A%3Ab::c?%0A::set-env name=x::y?[2J");
}

TEST(GithubAnnotations, AreTenOfAWeightAtMostAndTheLastCountsTheRest) {
  std::vector<Annotation> notes(10, {.weight = Weight::error, .title = "t", .message = "m"});
  EXPECT_EQ(github_lines(notes), Lines(10, "::error title=t::m"));
  notes.insert(notes.end(), 5, {.weight = Weight::error, .title = "t", .message = "m"});
  notes.push_back({.weight = Weight::warning, .title = "w", .message = "m"});
  const Lines lines = github_lines(notes);
  ASSERT_EQ(lines.size(), 11U);
  EXPECT_EQ(lines[8], "::error title=t::m");
  EXPECT_EQ(lines[9], "::error title=xferbench%3A and more::6 more, see the table");
  EXPECT_EQ(lines[10], "::warning title=w::m");
}

TEST(GithubAnnotations, AreNotLongerThanPeopleRead) {
  const Lines lines = github_lines({{.title = std::string(5000, 't'), .message = std::string(5000, 'm')}});
  EXPECT_LT(lines[0].size(), 1300U);
}

// --- Annotations of check -------------------------------------------------------------------------------------------

check::Checked checked() {
  check::Checked checked;
  checked.results = "r.json";
  check::Row row;
  row.name = "h2d";
  row.expected = "at least 52 GB/s";
  row.key = "memcpy/dir=h2d";
  row.shown = "55.03 GB/s";
  checked.rows = {row};
  return checked;
}

std::vector<Annotation> notes_of(const check::Checked& one) { return annotations_of(AllChecked(&one, 1)); }

TEST(CheckAnnotations, AreNoneWhereAllIsWell) { EXPECT_TRUE(notes_of(checked()).empty()); }

TEST(CheckAnnotations, SayWhatDoesNotHoldAndWhy) {
  check::Checked one = checked();
  one.rows[0].verdict = check::Verdict::fails;
  const auto notes = notes_of(one);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].weight, Weight::error);
  EXPECT_EQ(notes[0].title, "xferbench check: h2d");
  EXPECT_EQ(notes[0].message, "r.json: 55.03 GB/s, expected at least 52 GB/s: memcpy/dir=h2d");
}

TEST(CheckAnnotations, SayWhatElseKeepsAFileFromPassing) {
  check::Checked one = checked();
  one.complete = false;
  ASSERT_EQ(notes_of(one).size(), 1U);
  EXPECT_EQ(notes_of(one)[0].title, "xferbench check: incomplete");
  one = checked();
  one.rows[0].verdict = check::Verdict::not_measured;
  ASSERT_EQ(notes_of(one).size(), 1U);
  EXPECT_EQ(notes_of(one)[0].title, "xferbench check: nothing was checked");
  one = checked();
  one.verified = false;
  ASSERT_EQ(notes_of(one).size(), 1U);
  EXPECT_EQ(notes_of(one)[0].weight, Weight::warning);
}

// --- Annotations of compare -----------------------------------------------------------------------------------------

compare::Comparison compared() {
  compare::Comparison c;
  c.base.resize(1);
  c.new_side.resize(1);
  compare::Row row;
  row.key = "memcpy/dir=h2d";
  row.measured = "copy";
  row.unit = "s";
  row.base = compare::Side{10, 1e-3};
  row.new_side = compare::Side{10, 1.1e-3};
  row.ratio = 1.1;
  row.interval = Interval{1.08, 1.12};
  c.rows = {row};
  return c;
}

TEST(CompareAnnotations, SayWhatBecameSlowerByHowMuch) {
  compare::Comparison c = compared();
  c.rows[0].verdict = compare::Verdict::regressed;
  const auto notes = annotations_of(c);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].weight, Weight::error);
  EXPECT_EQ(notes[0].title, "xferbench compare: regressed: memcpy/dir=h2d");
  EXPECT_EQ(notes[0].message, "copy: 1.000 ms in base, 1.100 ms in new, +10.0 % (95 % interval +8.0 % to +12.0 %)");
}

TEST(CompareAnnotations, WeighWhatHappened) {
  using enum compare::Verdict;
  compare::Comparison c = compared();
  for (const auto& [verdict, weight] : {std::pair{missing, Weight::warning}, std::pair{improved, Weight::notice}}) {
    c.rows[0].verdict = verdict;
    ASSERT_EQ(annotations_of(c).size(), 1U);
    EXPECT_EQ(annotations_of(c)[0].weight, weight);
  }
  for (const compare::Verdict verdict : {same, inconclusive, added}) {
    c.rows[0].verdict = verdict;
    EXPECT_TRUE(annotations_of(c).empty());
  }
  c.rows[0].verdict = missing;
  c.rows[0].failed = true;
  EXPECT_EQ(annotations_of(c)[0].weight, Weight::error);
}

TEST(CompareAnnotations, SayThatNothingCouldHaveBeenFound) {
  compare::Comparison c = compared();
  c.outcome = {.code = ExitCode::undecided, .because = "too few processes"};
  ASSERT_EQ(annotations_of(c).size(), 1U);
  EXPECT_EQ(annotations_of(c)[0].message, "exit 4 because too few processes");
}

}  // namespace
}  // namespace xferbench::annotations
