// Comparisons as text: what people, pull requests and programs get to see.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "report/compare/cells.hpp"
#include "report/compare/json.hpp"
#include "report/compare/markdown.hpp"
#include "report/compare/table.hpp"

namespace xferbench {
namespace {

using compare::Comparison;
using compare::Verdict;

compare::Row row(const std::string& key, Verdict verdict, double ratio) {
  compare::Row r;
  r.key = key;
  r.measured = "copy";
  r.unit = "s";
  r.better = Better::lower;
  r.verdict = verdict;
  r.base = compare::Side{10, 1e-3};
  r.next = compare::Side{12, 1e-3 * ratio};
  r.ratio = ratio;
  r.interval = Interval{ratio - 0.01, ratio + 0.01};
  r.p = 1e-6;
  r.p_holm = 2e-6;
  return r;
}

Comparison comparison() {
  Comparison c;
  c.base = {{"base.json", "2026-11-21T10:00:00Z", "NVIDIA H200", "0.1.0 abc"}};
  c.next = {{"new.json", "2026-11-21T11:00:00Z", "NVIDIA H200", "0.1.0 def"}};
  c.differences = {{"driver", "580.1", "590.2"}};
  c.warnings = {"new.json is incomplete"};
  compare::Row missing = row("copy/size=3B", Verdict::missing, 1);
  missing.next.reset();
  missing.ratio.reset();
  missing.interval.reset();
  missing.p_holm.reset();
  missing.failed = true;
  missing.notes = {"in new failed: wrong byte"};
  c.rows = {row("copy/size=1B", Verdict::same, 1.001), row("copy/size=2B", Verdict::regressed, 1.05), missing};
  return c;
}

constexpr const char* kMethod =
    "threshold 3 %; samples of one process a side; ratio new/base of Hodges and Lehmann with its 95 % interval; "
    "Mann-Whitney test, 5 % over all cases (Holm)";

TEST(CompareTable, ShowsWhatIsWorseFirst) {
  EXPECT_EQ(to_table(comparison(), false, {}),
            std::string(R"(base  base.json: NVIDIA H200, 2026-11-21T10:00:00Z, xferbench 0.1.0 abc
new   new.json: NVIDIA H200, 2026-11-21T11:00:00Z, xferbench 0.1.0 def

             case          measured      base       new  change     95 % interval         p       n
  regressed  copy/size=2B  copy      1.000 ms  1.050 ms  +5.0 %  +4.0 % to +6.0 %  < 0.0001  10, 12
  missing    copy/size=3B  copy      1.000 ms         -                                       10, -  in new failed: wrong byte
  same       copy/size=1B  copy      1.000 ms  1.001 ms  +0.1 %  -0.9 % to +1.1 %  < 0.0001  10, 12

1 regressed, 1 missing, 1 same
)") + kMethod + "\n");
}

TEST(CompareTable, OnlyCountsWhatIsQuietWhereThereIsMuch) {
  Comparison c = comparison();
  for (int i = 0; i < 100; ++i) c.rows.push_back(row("copy/size=" + std::to_string(i + 10) + "B", Verdict::same, 1));
  const std::string folded = to_table(c, false, {});
  EXPECT_EQ(folded.find("size=10B"), std::string::npos);
  EXPECT_NE(folded.find("regressed  copy/size=2B"), std::string::npos);
  EXPECT_NE(folded.find("101 of 103 cases are not listed; --all lists them"), std::string::npos);
  EXPECT_NE(to_table(c, true, {}).find("size=10B"), std::string::npos);
}

TEST(CompareTable, ColoursVerdictsAndKeepsControlCharactersFromTheTerminal) {
  Comparison c = comparison();
  c.rows[1].key = "copy/\x1b[31mred\n";
  const std::string text = to_table(c, false, {true});
  EXPECT_NE(text.find("\x1b[1;31mregressed\x1b[0m"), std::string::npos);
  EXPECT_NE(text.find("copy/?[31mred?"), std::string::npos);
}

TEST(CompareTable, SaysSimulated) {
  Comparison c = comparison();
  c.simulated = "h200";
  EXPECT_EQ(to_table(c, false, {}).find("SIMULATED by profile h200"), 0U);
  EXPECT_NE(to_markdown(c).find("**SIMULATED** by profile <code>h200</code>"), std::string::npos);
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

TEST(CompareMarkdown, PutsWhatChangedFirstAndFoldsTheRest) {
  EXPECT_EQ(to_markdown(comparison()), std::string(R"(### xferbench: 1 regressed, 1 missing, 1 same

| verdict | case | measured | base | new | change | 95 % interval | p | n | notes |
|---|---|---|--:|--:|--:|--:|--:|--:|---|
| **regressed** | <code>copy/size=2B</code> | <code>copy</code> | 1.000 ms | 1.050 ms | +5.0 % | +4.0 % to +6.0 % | &#60; 0.0001 | 10, 12 |  |
| **missing** | <code>copy/size=3B</code> | <code>copy</code> | 1.000 ms |  |  |  |  | 10, - | <code>in new failed: wrong byte</code> |

What else could explain a change:

- <code>new.json is incomplete</code>
- <code>driver: 580.1 in base, 590.2 in new</code>

<details><summary>Cases without a change that is sure</summary>

| verdict | case | measured | base | new | change | 95 % interval | p | n | notes |
|---|---|---|--:|--:|--:|--:|--:|--:|---|
| same | <code>copy/size=1B</code> | <code>copy</code> | 1.000 ms | 1.001 ms | +0.1 % | -0.9 % to +1.1 % | &#60; 0.0001 | 10, 12 |  |

</details>

Base <code>base.json</code>: <code>NVIDIA H200</code>, xferbench <code>0.1.0 abc</code>; new <code>new.json</code>: <code>NVIDIA H200</code>, xferbench <code>0.1.0 def</code>; )") +
                                           kMethod + ".\n");
}

TEST(CompareMarkdown, LetsNoTextLeaveItsCell) {
  EXPECT_EQ(markdown_text("a|b<c>&@d\n`*_"), "a&#124;b&#60;c&#62;&#38;&#64;d &#96;&#42;&#95;");
}

TEST(CompareMarkdown, LeavesACellEmptyWhereACaseThatFailsNowHadNoNumber) {
  Comparison c = comparison();
  c.rows = {row("copy/size=2B", Verdict::missing, 1)};
  c.rows[0].measured = "";
  c.rows[0].failed = true;
  EXPECT_NE(to_markdown(c).find("| <code>copy/size=2B</code> |  | "), std::string::npos) << to_markdown(c);
}

TEST(CompareMarkdown, CutsNoCharacterInTwo) {
  Comparison c = comparison();
  c.warnings = {std::string(149, 'x') + "\xC3\xA9 and more"};
  EXPECT_NE(to_markdown(c).find(std::string(149, 'x') + "</code>"), std::string::npos);
}

TEST(CompareMarkdown, FitsIntoAComment) {
  Comparison c = comparison();
  for (int i = 0; i < 5000; ++i) {
    c.rows.push_back(
        row("copy/size=" + std::to_string(i + 10) + "B", i % 2 == 0 ? Verdict::same : Verdict::regressed, 1));
  }
  const std::string text = to_markdown(c);
  EXPECT_LT(text.size(), 65'536U);
  EXPECT_NE(text.find("more cases do not fit here"), std::string::npos);
}

TEST(CompareJson, IsReadable) {
  const auto json = nlohmann::json::parse(to_json(comparison()));
  EXPECT_EQ(json["schema"], "xferbench-compare/1");
  EXPECT_EQ(json["mode"], "compare");
  EXPECT_EQ(json["summary"]["regressed"], 1);
  EXPECT_EQ(json["summary"]["same"], 1);
  ASSERT_EQ(json["cases"].size(), 3U);
  EXPECT_EQ(json["cases"][1]["verdict"], "regressed");
  EXPECT_EQ(json["cases"][1]["ratio"], 1.05);
  EXPECT_EQ(json["cases"][1]["ratio_ci95"].size(), 2U);
  EXPECT_FALSE(json["cases"][2].contains("new"));
  EXPECT_TRUE(json["cases"][2]["failed"].get<bool>());
  EXPECT_EQ(json["differences"][0]["what"], "driver");
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
  EXPECT_EQ(to_table(side_by_side(), Style{}), R"(  case          measured  NVIDIA A100  NVIDIA H200
  copy/size=1B  copy       2.000 ms     1.000 ms *
  copy/size=2B  copy              -     1.000 ms

* the best, or not to be told from it by the 95 % intervals
)");
  EXPECT_NE(to_markdown(side_by_side()).find("| 2.000 ms | **1.000 ms** |"), std::string::npos);
  const auto json = nlohmann::json::parse(to_json(side_by_side()));
  EXPECT_EQ(json["mode"], "across");
  EXPECT_TRUE(json["cases"][1]["cells"][0].is_null());
  EXPECT_TRUE(json["cases"][0]["cells"][1]["best"].get<bool>());
}

}  // namespace
}  // namespace xferbench
