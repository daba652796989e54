// Comparisons as text: terminal tables, Markdown for pull requests, JSON.

#include "report/compare/compare_report.hpp"
#include "paper/writers.hpp"
#include "support/golden.hpp"
#include "unit/support.hpp"
#include "words/compare.hpp"
#include "words/compare_text.hpp"

namespace xferbench {
namespace {

using compare::Comparison;
using compare::Verdict;
using test::contains;
using test::expect_golden;
using test::mentions;

compare::Row row(const std::string& key, Verdict verdict, double ratio) {
  compare::Row r;
  r.key = key;
  r.measured = "copy";
  r.unit = "s";
  r.better = Better::lower;
  r.verdict = verdict;
  r.base = compare::Side{10, 1e-3};
  r.new_side = compare::Side{12, 1e-3 * ratio};
  r.ratio = ratio;
  r.interval = Interval{ratio - 0.01, ratio + 0.01};
  r.p = 1e-6;
  r.p_holm = 2e-6;
  r.test = compare::TestUsed::welch;
  r.spread = 0.02;
  r.within = Interval{ratio - 0.001, ratio + 0.001};
  r.detectable_ratios = Interval{0.9, 1.1};
  return r;
}

Comparison comparison() {
  Comparison c;
  c.base = {{"base.json", "2026-11-21T10:00:00Z", "NVIDIA H200", "0.1.0 abc"}};
  c.new_side = {{"new.json", "2026-11-21T11:00:00Z", "NVIDIA H200", "0.1.0 def"}};
  c.differences = {{"driver", "580.1", "590.2"}};
  c.warnings = {"new.json is incomplete"};
  compare::Row missing = row("copy/size=3B", Verdict::missing, 1);
  missing.new_side.reset();
  missing.ratio.reset();
  missing.interval.reset();
  missing.p_holm.reset();
  missing.failed = true;
  missing.test = compare::TestUsed::none;
  missing.spread.reset();
  missing.within.reset();
  missing.detectable_ratios.reset();
  missing.reason = "in new failed: wrong byte";
  c.rows = {row("copy/size=1B", Verdict::same, 1.001), row("copy/size=2B", Verdict::regressed, 1.05), missing};
  c.rows[1].reason = "worse by at least 4 %";
  c.rows[1].notes = {"drift in new"};
  c.outcome = {ExitCode::failed, "1 case regressed, 1 case failed: wrong byte", 0.1, {"least slow-down: 10 %"}};
  return c;
}

/// Markdown with the same options as in the command compare.
template <class Record>
std::string comment(const Record& record) {
  return to_markdown(document_of(record), {.most = 65'000, .title_level = 3});
}

TEST(CompareReport, IsTheseTexts) {
  expect_golden("compare/table.txt", to_terminal(document_of(comparison(), false), Style{}));
  expect_golden("compare/markdown.md", comment(comparison()));
  expect_golden("compare/json.json", to_json(comparison()));
  Comparison simulated = comparison();
  simulated.simulated = "h200";
  EXPECT_EQ(to_terminal(document_of(simulated, false), Style{}).find("SIMULATED by profile h200"), 0U);
  EXPECT_TRUE(mentions(comment(simulated), "**SIMULATED by profile h200: modelled"));
}

TEST(CompareReport, SaysWhichFilesWereNotVerified) {
  Comparison c = comparison();
  c.new_side.front().verified = false;
  const std::string table = to_terminal(document_of(c, false), Style{});
  EXPECT_TRUE(table.starts_with("NOT VERIFIED: new " + c.new_side.front().name + ": measured")) << table;
  EXPECT_TRUE(mentions(table, ", NOT VERIFIED\n")) << "beside the file";
  compare::Across across;
  across.sources = {{.name = "a.json", .started_at = {}, .gpu = {}, .version = {}, .verified = false}};
  EXPECT_TRUE(to_terminal(document_of(across), Style{}).starts_with("NOT VERIFIED: a.json: measured"));
}

TEST(CompareReport, SaysFirstThatTheGpusDiffer) {
  Comparison c = comparison();
  c.differences = {{"GPU", "NVIDIA H200", "NVIDIA H100"}};
  EXPECT_TRUE(
      to_terminal(document_of(c), Style{}).starts_with("DIFFERENT GPUS: NVIDIA H200 in base, NVIDIA H100 in new"));
}

const Ratios* chart_of(const Document& document) {
  for (const Part& part : document.parts) {
    if (const auto* ratios = std::get_if<Ratios>(&part.content)) return ratios;
  }
  return nullptr;
}

TEST(CompareChart, HasWhatIsWorseFirstAndOfManyOnlyWhatMayHaveChanged) {
  Comparison c = comparison();
  EXPECT_EQ(chart_of(document_of(c)), nullptr) << "a table says two numbers better";
  c.rows.push_back(row("copy/size=4B", Verdict::regressed, 1.2));
  c.rows.push_back(row("copy/size=5B", Verdict::improved, 0.7));
  const Document few = document_of(c);
  ASSERT_NE(chart_of(few), nullptr);
  std::vector<std::string> names;
  for (const Ratios::Row& shown : chart_of(few)->rows)
    names.push_back(shown.name + " " + shown.text + " " + shown.verdict);
  EXPECT_EQ(names, (std::vector<std::string>{"4B +20.0 % regressed", "2B +5.0 % regressed", "5B -30.0 % improved",
                                             "1B +0.1 % same"}));
  for (int i = 0; i < 100; ++i) c.rows.push_back(row("copy/size=" + std::to_string(i + 10) + "B", Verdict::same, 1));
  EXPECT_EQ(chart_of(document_of(c))->rows.size(), 3U);
}

TEST(ShortNames, HaveWhatTellsCasesOfAScenarioApart) {
  EXPECT_EQ(short_names({"memcpy/dir=h2d/size=1MiB/threads=8", "memcpy/dir=h2d/size=1MiB/threads=4",
                         "memcpy/dir=d2h/size=1MiB/threads=4/api=sync", "alloc/kind=async"}),
            (std::vector<std::string>{"memcpy: h2d, threads 8", "memcpy: h2d, threads 4", "memcpy: d2h, threads 4",
                                      "alloc"}));
  EXPECT_EQ(short_names({"memcpy/dir=h2d", "memcpy/dir=d2h"}), (std::vector<std::string>{"h2d", "d2h"}));
  EXPECT_EQ(short_names({"d/task=a/n=1", "d/task=a/n=2", "d/task=b"}),
            (std::vector<std::string>{"a, n 1", "a, n 2", "b"}))
      << "no case is without a name";
}

TEST(CompareTable, OnlyCountsWhatIsQuietWhereThereIsMuch) {
  Comparison c = comparison();
  for (int i = 0; i < 100; ++i) c.rows.push_back(row("copy/size=" + std::to_string(i + 10) + "B", Verdict::same, 1));
  const std::string folded = to_terminal(document_of(c, false), Style{});
  EXPECT_FALSE(contains(folded, "size=10B"));
  EXPECT_TRUE(mentions(folded, "regressed  +5.0 %"));
  EXPECT_TRUE(mentions(folded, "101 of 103 cases are not listed; --all lists them"));
  EXPECT_TRUE(mentions(to_terminal(document_of(c, true), Style{}), "size=10B"));
}

TEST(CompareTable, SaysOnceWhatHoldsOfManyRows) {
  Comparison c = comparison();
  for (int i = 0; i < 6; ++i) {
    c.rows.push_back(row("copy/size=" + std::to_string(i + 10) + "B", Verdict::inconclusive, 1));
    c.rows.back().reason = i == 0 ? "of its own" : "too uncertain";
  }
  const std::string text = to_terminal(document_of(c, true), Style{});
  EXPECT_TRUE(mentions(text, "inconclusive rows without a remark: too uncertain\n"));
  EXPECT_EQ(text.find("too uncertain"), text.rfind("too uncertain"));
  EXPECT_TRUE(mentions(text, "      of its own\n"));
}

TEST(CompareTable, OnPagesHasNoColumnsOfWhatAllRowsSayAlike) {
  Comparison c = comparison();
  EXPECT_TRUE(contains(to_html(document_of(c)), ">n</th>")) << "of one there is none in new";
  c.rows.pop_back();
  const std::string page = to_html(document_of(c));
  EXPECT_TRUE(contains(page, "all cases: measured copy; n 10, 12")) << page;
  EXPECT_FALSE(contains(page, ">measured</th>"));
  EXPECT_FALSE(contains(page, ">n</th>"));
  EXPECT_TRUE(contains(page, ">case</th>"));
  c.rows.front().measured = "other";
  EXPECT_TRUE(contains(to_html(document_of(c)), "all cases: n 10, 12; p"));
  EXPECT_TRUE(contains(to_html(document_of(c)), ">measured</th>"));
}

TEST(CompareTable, ColoursVerdictsAndKeepsControlCharactersFromTheTerminal) {
  Comparison c = comparison();
  c.rows[1].key = "copy/\x1b[31mred\n";
  const std::string text = to_terminal(document_of(c, false), Style{true});
  EXPECT_TRUE(mentions(text, "\x1b[1;31mregressed\x1b[0m"));
  EXPECT_TRUE(mentions(text, "?[31mred?"));
}

TEST(CompareTable, FitsTheTerminalAndKeepsEveryKeyWhole) {
  Comparison c = comparison();
  for (compare::Row& r : c.rows) r.key += "/kernel=fma/work=64/issue=depth/stream-kind=nonblocking";
  c.rows[0].key += "/strategy=graph-streams/streams=16/chunks=128";
  for (const std::size_t columns : {80U, 100U, 120U, 200U}) {
    const std::string text = to_terminal(document_of(c, false), Style{.color = false, .columns = columns});
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), columns) << text;
    EXPECT_TRUE(mentions(text, "kernel=fma, work=64, issue=depth, stream-kind=nonblocking")) << "what all have, once";
    EXPECT_TRUE(mentions(text, "size=1B/strategy=graph-streams/streams=16/chunks=128"));
    EXPECT_TRUE(mentions(text, "+4.0 % to +6.0 %"));
  }
  EXPECT_TRUE(mentions(to_terminal(document_of(c, false), Style{.color = false, .columns = 60}),
                       "not in 60 columns: n, p, measured"));
  EXPECT_FALSE(contains(to_terminal(document_of(c, false), Style{}), "--wide"));
}

TEST(CompareCells, WriteChanges) {
  EXPECT_EQ(change_text(std::optional(1.051)), "+5.1 %");
  EXPECT_EQ(change_text(std::optional(0.5)), "-50.0 %");
  EXPECT_EQ(change_text(std::optional(250.0)), "x 250.0");
  EXPECT_EQ(change_text(std::optional<double>()), "");
  EXPECT_EQ(p_text(0.03), "0.0300");
  EXPECT_EQ(compared_value(5e-3, "s"), "5.000 ms");
  EXPECT_EQ(compared_value(52.1, "GB/s"), "52.10 GB/s");
  EXPECT_EQ(compared_value(0.94, "1"), "0.9400");
}

TEST(CompareMarkdown, LetsNoTextLeaveItsCell) {
  Comparison c = comparison();
  c.rows[1].key = "a|b<c>&@d\n`*_";
  EXPECT_TRUE(mentions(comment(c), "<code>a&#124;b&#60;c&#62;&#38;&#64;d &#96;&#42;&#95;</code>"));
  c.outcome.because = "a|b<c>&@d\n`*_";
  EXPECT_TRUE(mentions(comment(c), "a\\|b&lt;c>&amp;&#64;d \\`\\*\\_**"));
}

TEST(CompareMarkdown, LeavesACellEmptyWhereACaseThatFailsNowHadNoNumber) {
  Comparison c = comparison();
  c.rows = {row("copy/size=2B", Verdict::missing, 1)};
  c.rows[0].measured = "";
  c.rows[0].failed = true;
  EXPECT_TRUE(mentions(comment(c), "| 10, 12 | | <code>copy/size=2B</code> |"));
}

TEST(CompareMarkdown, CutsNoCharacterInTwo) {
  Comparison c = comparison();
  c.warnings = {std::string(149, 'x') + "\xC3\xA9 and more"};
  EXPECT_TRUE(mentions(comment(c), std::string(149, 'x') + "\n"));
}

TEST(CompareMarkdown, FitsIntoAComment) {
  Comparison c = comparison();
  for (int i = 0; i < 5000; ++i) {
    c.rows.push_back(
        row("copy/size=" + std::to_string(i + 10) + "B", i % 2 == 0 ? Verdict::same : Verdict::regressed, 1));
  }
  const std::string text = comment(c);
  EXPECT_LT(text.size(), 65'536U);
  EXPECT_TRUE(mentions(text, "more cases do not fit here"));
}

TEST(CompareMarkdown, FitsIntoACommentWhateverIsInTheFiles) {
  Comparison c = comparison();
  const std::string longest(5000, '<');  // each becomes five characters in Markdown
  for (int i = 0; i < 500; ++i) {
    c.warnings.push_back(longest + std::to_string(i));
    c.rows.push_back(row("copy/size=" + std::to_string(i + 10) + "B", Verdict::inconclusive, 1));
    c.rows.back().reason = longest.substr(0, 500);
  }
  c.simulated = longest;
  for (auto* side : {&c.base, &c.new_side}) {
    for (compare::Source& source : *side)
      source = {.name = longest, .started_at = "", .gpu = longest, .version = longest};
  }
  const std::string text = comment(c);
  EXPECT_LT(text.size(), 65'536U);
  EXPECT_TRUE(mentions(text, "Other possible causes of a change: 502</summary>"));
}

TEST(CompareMarkdown, BeginsWithTheVerdict) {
  const std::string text = comment(comparison());
  EXPECT_LT(text.find("**exit 1 because"), text.find("| verdict |"));
}

compare::Across side_by_side() {
  compare::Across across;
  across.columns = {"NVIDIA A100", "NVIDIA H200"};
  across.rows = {
      {"copy/size=1B",
       "copy",
       "s",
       Better::lower,
       {compare::Across::Cell{2e-3, Interval{1.9e-3, 2.1e-3}, false}, compare::Across::Cell{1e-3, {}, true}}},
      {"copy/size=2B", "copy", "s", Better::lower, {std::nullopt, compare::Across::Cell{1e-3, {}, false}}}};
  return across;
}

TEST(Across, IsATableWithTheBestMarked) {
  expect_golden("compare/across.txt", to_terminal(document_of(side_by_side()), Style{}));
  expect_golden("compare/across.md", comment(side_by_side()));
  expect_golden("compare/across.json", to_json(side_by_side()));
}

TEST(CompareDocument, NamesEveryFileWhoseDeviceWasAtFault) {
  Comparison c = comparison();
  c.base.push_back(c.base.front());
  c.base[1].name = "base-2.json";
  c.base[1].fault = "slow:copy";
  c.new_side[0].fault = "lose:copy:3";
  EXPECT_EQ(trust_of(c).fault, "base base-2.json: slow:copy, new new.json: lose:copy:3");
}

}  // namespace
}  // namespace xferbench
