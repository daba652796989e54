// `xferbench check` as users and CI call it.

#include <array>
#include <utility>

#include "cli/support.hpp"
#include "support/schema.hpp"
#include "support/stored_results.hpp"

namespace xferbench::test {
namespace {

std::filesystem::path source_tree() { return XFERBENCH_SOURCE_DIR; }
std::string measured() { return stored_result("h200-memcpy.json"); }

std::string expecting(const std::string& expectations) {
  return R"({"schema": "xferbench-expect/1", "expect": [)" + expectations + "]}\n";
}

TEST(Check, OfGoodResultsAgainstExpectationsByNameIsZero) {
  const Outcome o = xferbench({"check", measured(), "--expect", "h200"});
  expect_success(o);
  EXPECT_TRUE(contains(o.out, "NVIDIA H200"));
  EXPECT_TRUE(contains(o.out, ", 0 fail")) << o.out;
}

TEST(Check, OfResultsThatAreTooSlowIsOneAndNamesTheCase) {
  const TemporaryFolder folder;
  write_file(
      folder / "e.json",
      expecting(R"({"name": "too much", "case": "memcpy/dir=h2d/*", "metric": "bandwidth", "at_least": "55 GB/s"})"));
  const Outcome o = xferbench({"check", measured(), "--expect", folder / "e.json"});
  EXPECT_EQ(o.exit_code, 1);
  EXPECT_TRUE(contains(o.out, "too much  ")) << o.out;
  EXPECT_TRUE(contains(o.out, "  memcpy/dir=h2d/host=managed-faults/")) << o.out;
  EXPECT_EQ(o.err, "");
}

std::string quick() { return source_tree() / "docs" / "results" / "h200-quick.json"; }

TEST(Check, TheSuiteQuickAndTheExpectationsOfAnH200FitEachOther) {
  const Outcome o = xferbench({"check", quick(), "--expect", "h200"});
  expect_success(o);
  EXPECT_TRUE(contains(o.out, "9 passed, 0 failed, 12 not measured\n")) << o.out;
  EXPECT_TRUE(contains(o.out, "\nNot measured. Run a command below with --json FILE")) << o.out;
  EXPECT_TRUE(contains(o.out, "  pinned copies by kernel ")) << o.out;
  EXPECT_TRUE(contains(o.out, "  xferbench memcpy --dir h2d,d2h --host pinned --engine sm --size 64MiB\n")) << o.out;
  EXPECT_TRUE(contains(o.out, "  +9.0 %  ")) << o.out;
  EXPECT_TRUE(contains(o.out, "  8.189 us  ")) << o.out;
}

TEST(Check, TakesSeveralFilesWithATableForEachAndOneExitCode) {
  const TemporaryFolder folder;
  Json slow = read_json(quick());
  for (Json& result : slow["results"]) {
    if (result["metrics"].contains("bandwidth")) result["metrics"]["bandwidth"]["value"] = 1;
  }
  write_file(folder / "slow.json", slow.dump());
  const Outcome good = xferbench({"check", quick(), measured(), "--expect", "h200", "--json", folder / "c.json"});
  expect_success(good);
  EXPECT_TRUE(contains(good.out, "h200-quick.json: NVIDIA H200")) << good.out;
  EXPECT_TRUE(contains(good.out, "h200-memcpy.json: NVIDIA H200")) << good.out;
  EXPECT_TRUE(contains(good.out, "2 files: 2 pass\n")) << good.out;
  EXPECT_TRUE(keeps_to("check-schema.json", folder / "c.json"));
  EXPECT_EQ(read_json(folder / "c.json")["files"].size(), 2U);
  const Outcome bad =
      xferbench({"check", quick(), folder / "slow.json", "--expect", "h200", "--markdown", folder / "c.md"});
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_TRUE(contains(bad.out, "2 files: 1 passes, 1 fails: ")) << bad.out;
  EXPECT_TRUE(contains(read_file(folder / "c.md"), "**2 files: 1 passes, 1 fails: ")) << bad.out;
  expect_refusal(xferbench({"check", quick(), quick(), "--expect", "h200"}), 2, "is given twice");
  xferbench({"check", quick(), "--expect", "h200", "--json", folder / "one.json"});
  EXPECT_TRUE(keeps_to("check-schema.json", folder / "one.json"));
}

TEST(Check, WritesEachOfItsFilesAloneOnStandardOutputOrAllOfThemBesideTheTable) {
  const TemporaryFolder folder;
  const std::array kinds{std::pair("--json", "{\n"), std::pair("--markdown", "# xferbench check\n"),
                         std::pair("--junit", "<?xml version=\"1.0\""),
                         std::pair("--openmetrics", "# TYPE xferbench_")};
  Arguments all{"check", measured(), "--expect", "h200"};
  for (const auto& [flag, beginning] : kinds) {
    const Outcome o = xferbench({"check", measured(), "--expect", "h200", flag, "-"});
    expect_success(o);
    EXPECT_TRUE(o.out.starts_with(beginning)) << flag << o.out;
    EXPECT_FALSE(contains(o.out, "\n  holds ")) << "a row of the table";
    all.insert(all.end(), {flag, folder / (flag + 2)});
  }
  const Outcome o = xferbench(all);
  expect_success(o);
  EXPECT_TRUE(contains(o.out, "deciding case"));
  for (const auto& [flag, beginning] : kinds) {
    EXPECT_TRUE(read_file(folder / (flag + 2)).starts_with(beginning)) << flag;
  }
}

TEST(Check, SaysWhatIsWrongInOneLine) {
  const TemporaryFolder folder;
  write_file(folder / "good.json", expecting(R"({"metric": "bandwidth", "at_least": "1 GB/s"})"));
  expect_refusal(xferbench({"check", measured(), "--expect", folder / "good.json", "--json", folder / "good.json"}), 2,
                 "which is an input; write to another file");
  write_file(folder / "e.json", "{\"schema\": \"xferbench-expect/1\",\n \"expct\": []}");
  expect_refusal(xferbench({"check", measured(), "--expect", folder / "e.json"}), 2,
                 "e.json:2: expct: unknown field 'expct'");
  expect_refusal(xferbench({"check", measured(), "--expect", "h20"}), 2, "did you mean 'h200'?");
  expect_refusal(xferbench({"check", folder / "none.json", "--expect", "h200"}), 2, "none.json");
  expect_refusal(xferbench({"check", folder / "e.json", "--expect", "h200"}), 2, "xferbench/1");
  expect_refusal(xferbench({"check", measured(), "--expect", folder.path().string()}), 2, "cannot read");
}

TEST(Expectations, ThatComeWithTheProgramKeepToTheirSchema) {
  EXPECT_TRUE(keeps_to("expect-schema.json", source_tree() / "scenarios" / "expectations" / "h200.json"));
}

TEST(Expect, MakesLimitsThatGoodRunsKeepAndASlowerOneDoesNot) {
  const TemporaryFolder folder;
  const Outcome made = xferbench({"expect", quick(), "-o", folder / "mine.json"});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(made.out, "");
  EXPECT_TRUE(contains(made.err, "11 limits, ")) << made.err;
  EXPECT_TRUE(contains(made.err, "xferbench check new.json --expect " + (folder / "mine.json").string())) << made.err;
  EXPECT_TRUE(keeps_to("expect-schema.json", folder / "mine.json"));
  expect_success(xferbench({"check", quick(), "--expect", folder / "mine.json"}));
  Json slow = read_json(quick());
  for (Json& result : slow["results"]) {
    for (Json& m : result["measurements"]) {
      for (const char* number : {"min", "median", "max", "p90", "p99"}) {
        if (m.contains(number)) m[number] = m[number].get<double>() * 1.2;
      }
    }
  }
  write_file(folder / "slow.json", slow.dump());
  const Outcome o = xferbench({"check", folder / "slow.json", "--expect", folder / "mine.json"});
  EXPECT_EQ(o.exit_code, 1);
  EXPECT_TRUE(contains(o.out, "0 passed, 11 failed")) << o.out;
}

TEST(Expect, OfSeveralRunsIsNarrowerAndGoesToStandardOutputUnlessAFileIsNamed) {
  const TemporaryFolder folder;
  const Arguments repeat{"memcpy",   "--simulate", "--size", "1M,4M",           "--dir",  "h2d",
                         "--repeat", "3",          "--json", folder / "r.json", "--quiet"};
  ASSERT_EQ(xferbench(repeat).exit_code, 0);
  const Arguments three{"expect", folder / "r-1.json", folder / "r-2.json", folder / "r-3.json"};
  expect_refusal(xferbench(three), 2, "--allow-simulated");
  Arguments allowed = three;
  allowed.insert(allowed.end(), {"--allow-simulated", "--quiet"});
  const Outcome made = xferbench(allowed);
  expect_success(made);
  write_file(folder / "mine.json", made.out);
  EXPECT_TRUE(keeps_to("expect-schema.json", folder / "mine.json"));
  EXPECT_TRUE(contains(made.out, "\"SIMULATED by profile h200; made by xferbench expect from 3 good runs")) << made.out;
  expect_success(xferbench({"check", folder / "r-1.json", folder / "r-2.json", folder / "r-3.json", "--expect",
                            folder / "mine.json", "--allow-simulated"}));
}

TEST(Expect, KeepsWhatWasThere) {
  const TemporaryFolder folder;
  write_file(folder / "good.json", read_file(quick()));
  write_file(folder / "mine.json", "edited by hand");
  EXPECT_EQ(xferbench({"expect", folder / "good.json", "-o", folder / "mine.json"}).exit_code, 0);
  EXPECT_EQ(read_file(folder / "mine.json~"), "edited by hand");
  write_file(folder / "mine.json", "precious");
  expect_refusal(xferbench({"expect", folder / "none.json", "-o", folder / "mine.json"}), 2, "none.json");
  EXPECT_EQ(read_file(folder / "mine.json"), "precious");
  expect_refusal(xferbench({"expect", folder / "good.json", folder / "good.json"}), 2, "is given twice");
}

}  // namespace
}  // namespace xferbench::test
