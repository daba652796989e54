// The manual page: roff escapes, every flag of the help, no warnings from groff.

#include <regex>
#include <set>

#include "cli/pages.hpp"
#include "cli/support.hpp"

namespace xferbench::test {
namespace {

TEST(ManPage, EscapesWhatRoffWouldTakeForSomethingElse) {
  EXPECT_EQ(cli::roff_escaped(".TH --x"), "\\&.TH \\-\\-x");
  EXPECT_EQ(cli::roff_escaped("'quoted'"), "\\&\\(aqquoted\\(aq");
  EXPECT_EQ(cli::roff_escaped("a\\b ^~`\""), "a\\eb \\(ha\\(ti\\(ga\\(dq");
}

TEST(ManPage, HasEveryFlagOfTheHelp) {
  const Outcome man = xferbench({"man"});
  expect_success(man);
  const std::string page = std::regex_replace(man.out, std::regex(R"(\\-)"), "-");
  std::string help;
  for (const char* topic : {"run", "tune", "compare", "check", "expect", "explain", "memcpy", "overlap", "smem"}) {
    help += xferbench({"help", topic}).out;
  }
  const std::regex flag("\n +(--[a-z0-9-]+)");
  std::set<std::string> flags;
  for (std::sregex_iterator i(help.begin(), help.end(), flag), end; i != end; ++i) flags.insert((*i)[1]);
  EXPECT_GT(flags.size(), 40U);
  for (const std::string& name : flags) EXPECT_TRUE(contains(page, "\\fB" + name)) << name;
  for (const char* part : {"NO_COLOR", "CUDA_VISIBLE_DEVICES", "XFERBENCH_DATA", "share/xferbench/expectations/",
                           "share/xferbench/suites/", "expectations and suites", ".SH EXIT STATUS", ".SS memcpy",
                           "4K:1G:x4", "--threshold PERCENT", "--expect FILE|NAME"}) {
    EXPECT_TRUE(contains(page, part)) << part;
  }
}

TEST(ManPage, GivesGroffNothingToWarnOf) {
  if (!std::filesystem::exists("/usr/bin/groff")) GTEST_SKIP() << "groff is not installed";
  const TemporaryFolder folder;
  write_file(folder / "xferbench.1", xferbench({"man"}).out);
  const Outcome o = run("/usr/bin/groff", {"-man", "-ww", "-Tutf8", folder / "xferbench.1"});
  if (contains(o.err, "can't find macro file")) GTEST_SKIP() << "groff has no macros for manual pages";
  EXPECT_EQ(o.exit_code, 0);
  EXPECT_EQ(o.err, "");
}

}  // namespace
}  // namespace xferbench::test
