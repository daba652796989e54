// HTML pages: their content, that they load nothing and run no foreign script, and that text is always escaped.
#include <gtest/gtest.h>

#include <cmath>
#include <regex>
#include <string>

#include "core/printable.hpp"
#include "paper/writers.hpp"
#include "support/golden.hpp"

namespace xferbench {
namespace {

using test::expect_golden;

/// A document with every kind of part; `text` is in every place that can hold a text from a file.
Document with_everywhere(const std::string& text) {
  Trust trust(text, false, text, false);
  trust.unverified = text;
  trust.besides = {text};
  Document document(text, trust);
  document.add(Sentence{.text = text, .label = text});
  document.add(Sentence{.text = text, .tone = Tone::bad, .strong = true, .goes_on = true});
  for (int i = 0; i < 2; ++i) document.add(Heading{.text = text, .common = {text}, .marks = {text}});
  Cell strong(text, Tone::good);
  strong.strong = true;
  document.add(
      Table{.header = {text, text, text},
            .left_columns = 1,
            .rows = {{.cells = {Cell::as_code(text), text, strong}, .below = {text}},
                     {.cells = {text, text},
                      .opens = Chart{.title = text, .series = {{text, {{1, 1}, {2, 3}}, Chart::Series::Role::dots}}}}},
            .title = text,
            .below = text});
  Matrix matrix({text}, {text});
  matrix.title = matrix.corner = matrix.note = text;
  matrix.cells[0] = 1;
  document.add(matrix);
  List list({text});
  list.title = text;
  list.items.push_back({.text = text, .strong = text, .code = text, .below = {{.text = text}}});
  document.add(Fold{text, {{list}}});
  document.add(Chart{.title = text, .x = {.label = text}, .y = {.label = text}, .series = {{text, {{1, 1}, {2, 3}}}}});
  document.add(Ratios{.title = text,
                      .along = text,
                      .rows = {{.name = text, .ratio = 1.1, .text = text, .verdict = text, .said = text}}});
  document.add(Bars{.title = text, .bars = {{text, 0, 1, text}}});
  document.add(Timeline{.title = text, .rows = {{text, 0, {{0, 1, text, text}}}}, .note = text});
  Matrix many(std::vector<std::string>(100, text), {text});
  many.title = text;
  many.cells[0] = 1;
  many.marked[0] = true;
  document.add(many);
  return document;
}

std::string body_of(const std::string& page) {
  const std::size_t begin = page.find("<body>");
  return page.substr(begin, page.find("<script>", begin) - begin);
}

/// All tags of the page, without attributes that depend on the text.
std::string tags_of(const std::string& page) {
  static const std::regex tag("<[^>]*>");
  // These are labels, colours derived from names, and coordinates of labels.
  static const std::regex label(" (aria-label|title)=\"[^\"]*\"| class=\"?c[0-9]\"?| (x|width|d)=\"[MVLHh0-9. ]*\"");
  std::string tags;
  for (std::sregex_iterator at(page.begin(), page.end(), tag), end; at != end; ++at) {
    if (at->str() != "<wbr>") tags += std::regex_replace(at->str(), label, "");
  }
  return tags;
}

Document small() {
  Document document("xferbench", Trust("h200", true, {}, false));
  document.add(Sentence{.text = "NVIDIA H200, PCIe 5 x16", .tone = Tone::bold});
  document.add(Sentence{.text = "two GPUs", .goes_on = true});
  document.add(Sentence{.text = "on a terminal only"}, false, Shown::terminal);
  document.add(Heading{.text = "memcpy", .common = {"size 256 MiB", "kind pinned"}, .marks = {"SIMULATED"}});
  Cell slower("slower", Tone::bad);
  slower.strong = true;
  document.add(Table{
      .header = {"dir", "GB/s", "verdict", "case"},
      .left_columns = 1,
      .last_left = true,
      .rows = {{.cells = {"h2d", "55.5  ", slower, Cell::as_code("memcpy/dir=h2d/size=256MiB")}, .below = {"why so"}},
               {.cells = {"d2h", "1 of 2", "", ""}},
               {.cells = {"both", Cell("skipped: the device cannot say", Tone::dim)}}},
      .below = "why"});
  document.add(Heading{.text = "p2p"});
  Matrix matrix({"0", "1"}, {"0", "1"});
  matrix.title = "Rate, GB/s";
  matrix.corner = "from / to";
  matrix.cells = {{}, 196, 386, {}};
  matrix.marked[1] = true;
  matrix.note = "* less than its like";
  document.add(matrix);
  List list({"a warning"}, Tone::notice);
  list.numbered = true;
  list.items.push_back({.text = "pins it", .strong = "do", .code = "cudaMallocHost", .below = {{.text = "or not"}}});
  document.add(Fold{"More", {{list}}});
  return document;
}

TEST(Page, ShowsEveryKindOfPart) {
  const std::string page = to_html(small());
  expect_golden("page/small.html", body_of(page));
  EXPECT_EQ(page, to_html(small())) << "the same document, the same page";
}

TEST(Page, FetchesNothingAndRunsOnlyWhatItsPolicyNames) {
  const std::string page = to_html(small());
  static const std::regex policy(
      "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; "
      "script-src 'sha256-[A-Za-z0-9+/]{43}='; style-src 'sha256-[A-Za-z0-9+/]{43}='\"");
  EXPECT_TRUE(std::regex_search(page, policy));
  for (const char* fetching : {"http:", "https:", "src=", "url(", "@import", " style=", " onclick"}) {
    EXPECT_EQ(page.find(fetching), std::string::npos) << fetching;
  }
}

TEST(Page, LetsNoTextOutOfItsPlace) {
  const std::string tags = tags_of(to_html(with_everywhere("harmless")));
  for (const char* hostile :
       {"<script>alert(1)</script>", "</script></style>", "\"'><img src=x onerror=alert(2)>", "a&lt;b", "<!--",
        "<a href=\"javascript:alert(3)\">b</a>", "]]>", "\x1b[2J\r\n\t\x07", "\xe2\x80\xae turned", "\xff\xfe"}) {
    const std::string page = to_html(with_everywhere(hostile));
    EXPECT_EQ(tags_of(page), tags) << hostile;
    for (std::size_t from = 0; from < page.size();) {
      const auto [begin, bytes] = find_control(page, from);
      EXPECT_TRUE(bytes == 0 || page[begin] == '\n') << hostile;
      from = bytes == 0 ? page.size() : begin + bytes;
    }
  }
  EXPECT_NE(to_html(with_everywhere("a&lt;b")).find("a&amp;lt;b"), std::string::npos);
}

TEST(Page, SaysAboveAllHowFarItMayBeTrusted) {
  const auto banner_of = [](const Trust& trust) {
    const std::string body = body_of(to_html(Document("t", trust)));
    const std::size_t end = body.find("</div>");
    for (const std::string& alarm : trust.alarms()) EXPECT_NE(body.find("<p class=mark>" + alarm), std::string::npos);
    return body.substr(0, end).substr(body.substr(0, end).rfind('>') + 1);
  };
  EXPECT_EQ(banner_of(Trust("h200", true, "", true)), "SIMULATED");
  EXPECT_EQ(banner_of(Trust("", false, "", true)), "NOT VERIFIED");
  EXPECT_EQ(banner_of(Trust("", true, "slow", true)), "FAULT INJECTED");
  EXPECT_EQ(banner_of(Trust("", true, "", false)), "INCOMPLETE");
  EXPECT_EQ(banner_of(Trust("h200", false, "slow", false)), "SIMULATED, NOT VERIFIED, FAULT INJECTED, INCOMPLETE");
  EXPECT_EQ(to_html(Document("t", Trust("", true, "", true))).find("class=banner"), std::string::npos);
  Trust with_more("", true, "", true);
  with_more.besides = {"one rank is gone"};
  EXPECT_NE(to_html(Document("t", with_more)).find("<p class=mark>one rank is gone</p>"), std::string::npos);
}

TEST(Page, LetsLongTablesBeSortedAndFiltered) {
  for (const std::size_t rows : {20U, 21U}) {
    Document document("t", Trust::of_facts());
    document.add(Table{.header = {"a"}, .rows = std::vector<Table::Row>(rows, {.cells = {"1"}})});
    EXPECT_EQ(to_html(document).find("class=\"scroll long\"") != std::string::npos, rows > 20) << rows;
  }
}

Chart rates() {
  return {.title = "Rate over size",
          .x = {.label = "size", .log = true, .sizes = true},
          .y = {.label = "GB/s", .from_zero = true},
          .series = {{"pinned", {{1 << 20, 40, 39.5, 40.5}, {1 << 12, 2.5}, {1 << 28, 55.4, 55.3, 55.5}}},
                     {"pageable, by threads", {{1 << 12, 1.5}, {1 << 20, 12}, {1 << 28, 54}, {0, 7}, {8, NAN}}},
                     {"nothing", {{0, 1}}},
                     {"limit of the link", {{0.5, 57.6}}, Chart::Series::Role::limit}}};
}

TEST(Chart, IsDrawnOnPagesAlone) {
  Document with = small();
  with.add(rates(), true);
  expect_golden("page/chart.svg", to_svg(rates()));
  EXPECT_NE(to_html(with).find("<figcaption>Rate over size</figcaption>"), std::string::npos);
  EXPECT_EQ(to_terminal(with, Style{}), to_terminal(small(), Style{}));
  EXPECT_EQ(to_markdown(with), to_markdown(small()));
}

TEST(Chart, OfNothingOrOfOneNumberOrOfExtremesIsNoTrouble) {
  EXPECT_EQ(to_svg({.title = "t", .series = {{"a", {{NAN, 1}, {1, INFINITY}}}}}), "");
  for (const bool log : {false, true}) {
    for (const double value : {0., 1., -1., 1e-99, 1e99, 123456789.}) {
      const Chart chart{.x = {.log = log}, .y = {.log = log}, .series = {{"a", {{value, value}, {2 * value, value}}}}};
      const std::string svg = to_svg(chart);
      EXPECT_EQ(svg.empty(), log && value <= 0) << value;
      EXPECT_EQ(svg.find("nan"), std::string::npos) << value << svg;
      EXPECT_EQ(svg.find("inf"), std::string::npos) << value << svg;
      EXPECT_LT(svg.size(), 6000U) << value;
    }
  }
}

TEST(Chart, GivesANameTheSameColourWhereverItIsFree) {
  const auto colour_of = [](const std::string& name, const std::string& svg) {
    const std::size_t title = svg.find("<title>" + name + ":");
    return svg.substr(svg.rfind("<g class=", title), 13);
  };
  const Chart alone{.series = {{"pinned", {{1, 1}}}}};
  EXPECT_EQ(colour_of("pinned", to_svg(rates())), colour_of("pinned", to_svg(alone)));
  EXPECT_NE(colour_of("pinned", to_svg(rates())), colour_of("pageable, by threads", to_svg(rates())));
}

TEST(Chart, DoesNotJoinPointsThatDoNotFollowEachOther) {
  Chart chart{
      .series = {{"copies", {{.x = 1, .y = 1, .more = "12 copies"}, {.x = 2, .y = 3}}, Chart::Series::Role::points},
                 {"can", {{1, 4}, {2, 4}}, Chart::Series::Role::limit, "copies"}}};
  const std::string svg = to_svg(chart);
  EXPECT_EQ(svg.find("class=\"line\""), std::string::npos);
  EXPECT_NE(svg.find("<title>copies: 1 at 1, 12 copies</title>"), std::string::npos) << svg;
  const std::string colour = svg.substr(svg.find("<g class=\"") + 10, 2);
  EXPECT_NE(svg.find("<g class=\"" + colour + "\">"), std::string::npos) << "what it can has its colour" << svg;
}

// --- Bars, timelines and large maps ---------------------------------------------------------------------------------

TEST(Bars, StandOnOneScaleOrBehindEachOther) {
  const Bars bars{
      .title = "Where the time went",
      .bars = {{"copies alone", 0, 3, "75.0 %, 3.00 ms", 1}, {"kernels alone", 3, 4, "25.0 %, 1.00 ms", 2}}};
  expect_golden("page/bars.svg", to_svg(bars));
  EXPECT_EQ(to_svg(Bars{.bars = {{"nothing", 0, 0, "0 s"}}}), "");
  EXPECT_EQ(to_svg(Bars{.bars = {{"forever", 0, INFINITY, "?"}}}), "");
}

Timeline two_chunks() {
  return {.title = "Timeline",
          .rows = {{"H2D", 0, {{10e-6, 30e-6, "1", "copy"}, {30e-6, 50e-6, "2", "copy"}}},
                   {"kernel", 2, {{30e-6, 45e-6, "1", "fma"}, {40e-6, 60e-6, "2", "fma"}}}},
          .note = "the first part"};
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(Timeline, HasARowForEachEngineAndALaneMoreForWhatOverlaps) {
  expect_golden("page/timeline.svg", to_svg(two_chunks()));
  Document document("t", Trust::of_facts());
  document.add(two_chunks());
  EXPECT_NE(to_html(document).find("<p class=dim>the first part</p>"), std::string::npos);
  EXPECT_EQ(to_terminal(document, Style{}), "");
  EXPECT_EQ(to_markdown(document), "# t\n");
}

TEST(Timeline, DrawsAsOneWhatIsTooShortToBeSeen) {
  Timeline timeline{.rows = {{"kernel", 0, {{0, 1, "", "long"}}}}};
  for (int i = 0; i < 100'000; ++i) timeline.rows[0].spans.push_back({2 + i * 1e-4, 2 + (i + 0.9) * 1e-4, "", "short"});
  const std::string svg = to_svg(timeline);
  EXPECT_EQ(count_of(svg, "<rect"), 2U) << svg.substr(0, 2000);
  EXPECT_NE(svg.find("short, and 99999 more"), std::string::npos);
}

TEST(Timeline, SaysWhatHasNoRoom) {
  Timeline timeline{.rows = {{"calls", 0, std::vector<Timeline::Span>(60, {0, 1, "", "at once"})}}};
  EXPECT_NE(to_svg(timeline).find("12 more not shown"), std::string::npos);
}

TEST(Timeline, OfNothingOrOfExtremesIsNoTrouble) {
  EXPECT_EQ(to_svg(Timeline{}), "");
  for (const auto& [begin, end] :
       {std::pair(0., 0.), {1., 1.}, {1e9, 1e9 + 1e-7}, {NAN, NAN}, {0., INFINITY}, {2., 1.}}) {
    EXPECT_EQ(to_svg(Timeline{.rows = {{"row", 0, {{begin, end}}}}}), "") << begin;
  }
  for (const double length : {1e-12, 1e-6, 1e-3, 1., 1e9}) {
    const std::string svg = to_svg(Timeline{.rows = {{"row", 0, {{0, length}, {length / 2, 2 * length}}}}});
    EXPECT_TRUE(svg.size() > 500 && svg.size() < 4000) << length << svg;
    EXPECT_EQ(svg.find("nan"), std::string::npos) << svg;
    EXPECT_EQ(svg.find(">-0"), std::string::npos) << svg;
  }
}

TEST(LargeMap, HasSmallCellsInStripsAndNamesThoseThatAreMarked) {
  std::vector<std::string> nodes;
  for (int i = 0; i < 230; ++i) nodes.push_back("node" + std::to_string(i));
  Matrix matrix(nodes, {"0", "1"});
  matrix.form = Matrix::Form::percent;
  matrix.cells.assign(matrix.cells.size(), 1);
  matrix.cells[0].reset();
  matrix.cells[301] = 0.9;
  matrix.marked[301] = true;
  expect_golden("page/large-map.svg", to_svg(matrix));
  Document document("t", Trust::of_facts());
  document.add(matrix);
  EXPECT_EQ(to_html(document).find("<table"), std::string::npos) << "nobody reads so many numbers";
}

TEST(Page, GivesEveryBoxALabelOfItsOwn) {
  Document document("t", Trust::of_facts());
  for (int i = 0; i < 3; ++i) document.add(Table{.header = {"a"}, .rows = {{.cells = {"1"}}}});
  const std::string page = to_html(document);
  for (const char* label : {"aria-label=\"t\"", "aria-label=\"t (2)\"", "aria-label=\"t (3)\""}) {
    EXPECT_NE(page.find(label), std::string::npos) << label;
  }
}

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Ratios, ShowWhatIsBeyondTwiceOrHalfAtTheEdgeAndMarkItSo) {
  Ratios ratios{.title = "New over base", .threshold = 0.03};
  for (const double ratio : {5., 0.1, 1.04, 1., -1., HUGE_VAL}) {
    ratios.rows.push_back({.name = "a", .ratio = ratio, .low = ratio * 0.9, .high = ratio * 1.1, .verdict = "same"});
  }
  const std::string svg = to_svg(ratios);
  EXPECT_EQ(count(svg, "class=\"arrow\" d=\"M620.0"), 1U) << svg;
  EXPECT_EQ(count(svg, "class=\"arrow\" d=\"M356.0"), 1U) << svg;
  EXPECT_EQ(count(svg, "<circle"), 2U) << "what is no ratio is left out";
  EXPECT_EQ(count(svg, "class=\"interval\""), 2U) << "at the edge there is no room for one";
  EXPECT_EQ(count(svg, "class=\"equal\""), 1U);
  ratios.rows.resize(0);
  EXPECT_EQ(to_svg(ratios), "");
}

Chart low_chart(std::size_t points) {
  Chart chart{.title = "h2d",
              .x = {.label = "time", .ticks = {{0, "0:00"}, {10, "0:10"}}, .ends = {0, 10}},
              .y = {.label = "GB/s", .from_zero = true},
              .marks = {{2, 3, "down to 1", Tone::bad}, {5, 5, "new"}, {5.1, 5.1, "has no room"}},
              .shape = Chart::Shape::low};
  chart.series.push_back({.name = "GPU 0"});
  for (std::size_t i = 0; i < points; ++i) {
    chart.series[0].points.push_back({.x = static_cast<double>(i) / 10, .y = 5, .low = 4, .high = 6, .more = "then"});
  }
  return chart;
}

TEST(Chart, MarksPartsAndPlacesOfItsAxisWhichHasTheEndsAndTicksThatWereAskedFor) {
  const std::string svg = to_svg(low_chart(10));
  EXPECT_EQ(count(svg, "class=\"band\" x=\"163.2\""), 1U) << svg;
  EXPECT_EQ(count(svg, "class=\"dashed edge \" d=\"M312.0"), 1U);
  EXPECT_EQ(count(svg, "<text class=\"bad\""), 1U);
  EXPECT_EQ(count(svg, "has no room"), 0U);
  EXPECT_EQ(count(svg, ">0:10</text>"), 1U);
  EXPECT_EQ(count(svg, "<title>GPU 0: 5, then, 4 to 6</title>"), 10U);
  EXPECT_LT(svg.find("height=\"1"), svg.find("viewBox")) << "low";
}

TEST(Chart, GivesALineTheColourOfItsKindAndNamesAllForNarrowWindowsUnlessItIsSmall) {
  Chart chart{.title = "rates", .series = {{"a", {{1, 1}, {2, 3}}}, {"b", {{1, 2}, {2, 3}}}, {"c", {{1, 2}, {2, 2}}}}};
  chart.series[1].kind = chart.series[2].kind = 3;
  const auto names = names_of(chart);
  EXPECT_EQ(names[1].name, "b");
  EXPECT_EQ(names[1].colour, 3U);
  EXPECT_NE(names[2].colour, 3U) << "of one kind the first has it";
  EXPECT_NE(names[0].colour, names[2].colour);
  EXPECT_EQ(count(to_svg(chart), "<g class=\"c3\">"), 1U);
  Document document("about", Trust::of_facts());
  document.add(chart);
  EXPECT_EQ(count(to_html(document), "<ul class=names><li class=c"), 1U);
  chart.shape = Chart::Shape::small;
  std::get<Chart>(document.parts[0].content) = chart;
  EXPECT_EQ(count(to_html(document), "<figure class=small>"), 1U);
  EXPECT_EQ(count(to_html(document), "class=names"), 0U);
  EXPECT_EQ(count(to_svg(chart), "viewBox=\"0 0 388 "), 1U);
}

TEST(Chart, ShowsALineThatAnotherLiesOn) {
  Chart chart{.title = "t", .series = {{"a", {{1, 1}, {2, 3}}}, {"b", {{1, 1}, {2, 3}}}, {"c", {{1, 2}, {2, 2}}}}};
  EXPECT_EQ(count(to_svg(chart), "class=\"line below\""), 1U);
}

TEST(Page, SaysInItsTabWhatItIsAboutAndBreaksNoFlagNoQuantityAndKeysAtTheirParts) {
  Document document("t", Trust::of_facts());
  document.about = "memcpy on a GPU";
  EXPECT_NE(to_html(document).find("<title>t: memcpy on a GPU</title>"), std::string::npos);
  document.add(Sentence{.text = "memcpy/dir=h2d/size=4KiB: +-3.3 %, wider than 2 GB/s: raise --budget (--ci)"});
  EXPECT_NE(
      to_html(document).find("<code>memcpy/<wbr>dir=h2d/<wbr>size=4KiB</code>: +-3.3&nbsp;%, wider than 2&nbsp;GB/s: "
                             "raise <span class=flag>--budget</span> (<span class=flag>--ci</span>)"),
      std::string::npos)
      << to_html(document);
}

TEST(Chart, OfVeryManyPointsIsALineAndWhatItsPointsLieBetween) {
  const std::string svg = to_svg(low_chart(100));
  EXPECT_EQ(count(svg, "class=\"area\""), 1U);
  EXPECT_EQ(count(svg, "<circle"), 0U);
}

TEST(Table, OpensWhatARowHasByItsFirstCellAndWithoutAScript) {
  const Chart chart{.title = "samples", .series = {{"all", {{1, 1}, {2, 3}}, Chart::Series::Role::dots}}};
  Document document("about", Trust::of_facts());
  document.add(Table{.header = {"size", "time"}, .left_columns = 1, .rows = {{.cells = {"1 MiB", "1 ms"}}}});
  document.add(Table{.header = {"size", "time"}, .rows = {{.cells = {"2 MiB", "2 ms"}, .opens = chart}}});
  const std::string page = to_html(document);
  EXPECT_NE(page.find("<button type=button popovertarget=\"opened-1\" title=\"samples\">2 MiB</button>"),
            std::string::npos);
  EXPECT_NE(page.find("<div popover id=\"opened-1\""), std::string::npos);
  EXPECT_EQ(page.find("opened-2"), std::string::npos);
  for (const std::string& other : {to_terminal(document, Style{}), to_markdown(document)}) {
    EXPECT_EQ(other.find("samples"), std::string::npos);
  }
}

}  // namespace
}  // namespace xferbench
