// Colours, the progress line and table widths, which depend on the terminal.

#include <algorithm>

#include "cli/support.hpp"
#include "support/stored_results.hpp"

namespace xferbench::test {
namespace {

constexpr const char* kEscape = "\x1b[";

Arguments run_of_two_cases(Arguments more = {}) {
  more.insert(more.begin(), {"--streams", "1,2"});
  return small_run(std::move(more));
}

/// Whether standard output contains colour escapes, with these flags.
bool colours(const Sink& out, Arguments more = {}, const Variables& environment = {}) {
  Options options;
  options.out = out;
  options.environment = environment;
  const Outcome o = xferbench(run_of_two_cases(std::move(more)), options);
  expect_success(o);
  EXPECT_TRUE(contains(o.out, "SIMULATED")) << o.out;
  return contains(o.out, kEscape);
}

TEST(Color, IsForTerminals) {
  EXPECT_TRUE(colours(Sink::terminal()));
  EXPECT_FALSE(colours({}));
  EXPECT_TRUE(colours(Sink::terminal(), {"--color", "auto"}));
  EXPECT_FALSE(colours({}, {"--color", "auto"}));
}

TEST(Color, FlagDecides) {
  EXPECT_TRUE(colours({}, {"--color", "always"}));
  EXPECT_FALSE(colours(Sink::terminal(), {"--color", "never"}));
}

TEST(Color, NoColorIsRespectedUnlessItIsEmpty) {
  EXPECT_FALSE(colours(Sink::terminal(), {}, {{"NO_COLOR", "1"}}));
  EXPECT_TRUE(colours(Sink::terminal(), {}, {{"NO_COLOR", ""}}));
}

TEST(Color, IsNotForATerminalThatIsDumbOrOfWhichNothingIsKnown) {
  EXPECT_FALSE(colours(Sink::terminal(), {}, {{"TERM", "dumb"}}));
  EXPECT_FALSE(colours(Sink::terminal(), {}, {{"TERM", std::nullopt}}));
  EXPECT_TRUE(colours(Sink::terminal(), {"--color", "always"}, {{"TERM", "dumb"}}));
}

TEST(Progress, MovesNoCursorOfATerminalThatIsDumb) {
  Options options;
  options.err = Sink::terminal();
  options.environment = {{"TERM", "dumb"}};
  EXPECT_EQ(xferbench(run_of_two_cases(), options).err, "");
}

TEST(Color, FlagWinsOverNoColor) { EXPECT_TRUE(colours({}, {"--color", "always"}, {{"NO_COLOR", "1"}})); }

TEST(Color, NeverReachesTheResultsFile) {
  Options options;
  options.out = Sink::terminal();
  const Outcome o = xferbench(run_of_two_cases({"--color", "always", "--json", "-"}), options);
  EXPECT_EQ(parse_json(o.out)["complete"], true);
}

Outcome with_terminal_for_errors(const Arguments& arguments) {
  Options options;
  options.err = Sink::terminal();
  return xferbench(arguments, options);
}

TEST(Progress, NamesEachCaseAndWipesItselfAway) {
  const Outcome o = with_terminal_for_errors(run_of_two_cases());
  EXPECT_EQ(o.exit_code, 0);
  EXPECT_TRUE(contains(o.err, "[1/2] overlap/size=4MiB/strategy=streams/streams=1/")) << o.err;
  EXPECT_TRUE(contains(o.err, "[2/2] ") && contains(o.err, "overlap/size=4MiB/strategy=streams/streams=2/")) << o.err;
  EXPECT_TRUE(contains(o.err, "[1/2] warming up: overlap/")) << "it moves within a case, too: " << o.err;
  EXPECT_TRUE(o.err.ends_with("\r\x1b[K")) << o.err;
  EXPECT_EQ(o.err.find('\n'), std::string::npos) << "progress is one line that is written over: " << o.err;
}

TEST(Progress, LeavesStandardOutputAlone) {
  EXPECT_EQ(with_terminal_for_errors(run_of_two_cases()).out, xferbench(run_of_two_cases()).out);
}

TEST(Progress, IsNotShownWhereItIsNotWanted) {
  EXPECT_EQ(with_terminal_for_errors(run_of_two_cases({"--quiet"})).err, "");
  EXPECT_EQ(with_terminal_for_errors(run_of_two_cases({"--progress", "never"})).err, "");
}

TEST(Progress, IsNotShownInAPipe) { EXPECT_EQ(xferbench(run_of_two_cases()).err, ""); }

/// Common commands, whose tables must fit the width of the terminal.
class Width : public testing::TestWithParam<Arguments> {};

TEST_P(Width, IsThatOfTheTerminal) {
  Arguments arguments = GetParam();
  arguments.insert(arguments.end(), {"--color", "never"});
  for (const unsigned short columns : std::to_array<unsigned short>({80, 100, 120})) {
    Options options;
    options.out = Sink::terminal(columns);
    const Outcome o = xferbench(arguments, options);
    EXPECT_FALSE(o.out.empty()) << o.err;
    for (const std::string& line : lines(o.out)) {
      const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
      const auto width = line.size() - static_cast<std::size_t>(std::ranges::count_if(line, continues));
      EXPECT_LE(width, columns) << line << "\nin\n" << o.out;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Commands, Width,
    testing::Values(small_run({"--streams", "8"}), small_run({"--strategy", "all", "--max-samples", "6"}),
                    Arguments{"memcpy", "--simulate", "--size", "1M,64M", "--host", "pinned,pageable", "--max-samples",
                              "6"},
                    Arguments{"staging", "--simulate", "--size", "16M", "--max-samples", "6"},
                    small_run({"--streams", "1,8", "--chunks", "1:32", "--max-samples", "6"}),
                    small_run({"--timeline", "/dev/null"}),
                    Arguments{"tune", "--simulate", "--size", "4M", "--budget", "0.5"},
                    Arguments{"compare", stored_result("h200-ci.json"), stored_result("h200-quick.json")},
                    Arguments{"compare", "--across", stored_result("h200-ci.json"), stored_result("h200-quick.json")},
                    Arguments{"check", stored_result("h200-ci.json"), "--expect", "h200"}));

TEST(Widths, IsNoLimitWhereNobodyLooksOrAllIsWanted) {
  Options narrow;
  narrow.out = Sink::terminal(60);
  const Arguments run = small_run({"--streams", "8"});
  const std::string piped = xferbench(run).out;
  EXPECT_TRUE(contains(piped, "submit time"));
  const std::string cut = xferbench(run, narrow).out;
  EXPECT_FALSE(contains(cut, "  submit time"));
  EXPECT_TRUE(contains(cut, "--wide shows all"));
  Arguments wide = run;
  wide.insert(wide.end(), {"--wide", "--color", "never"});
  EXPECT_TRUE(contains(xferbench(wide, narrow).out, "submit time"));
}

}  // namespace
}  // namespace xferbench::test
