// `xferbench check` as users and CI call it.
#include <gtest/gtest.h>

#include "cli/support.hpp"

namespace xferbench::test {
namespace {

std::filesystem::path source_tree() { return XFERBENCH_SOURCE_DIR; }
std::string measured() { return source_tree() / "docs" / "results" / "h200-memcpy.json"; }

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
  EXPECT_TRUE(contains(o.out, "fails     memcpy/dir=h2d/host=managed-faults/")) << o.out;
  EXPECT_EQ(o.err, "");
}

TEST(Check, WritesMarkdownAndJsonBesideTheTableOrInItsPlace) {
  const TemporaryFolder folder;
  const Outcome o =
      xferbench({"check", measured(), "--expect", "h200", "--json", folder / "c.json", "--markdown", folder / "c.md"});
  expect_success(o);
  EXPECT_TRUE(contains(o.out, "case that decides"));
  EXPECT_EQ(read_json(folder / "c.json")["all_hold"], true);
  EXPECT_TRUE(read_file(folder / "c.md").starts_with("# xferbench check\n"));
  const Outcome json = xferbench({"check", measured(), "--expect", "h200", "--json", "-"});
  EXPECT_EQ(parse_json(json.out)["schema"], "xferbench-check/1");
  expect_refusal(xferbench({"check", measured(), "--expect", "h200", "--json", "-", "--markdown", "-"}), 2,
                 "cannot both be standard output");
}

TEST(Check, OfSimulatedResultsMustBeAskedFor) {
  const TemporaryFolder folder;
  expect_success(xferbench(
      {"memcpy", "--simulate", "--size", "64M", "--dir", "h2d", "--host", "pinned", "--json", folder / "r.json"}));
  expect_refusal(xferbench({"check", folder / "r.json", "--expect", "h200"}), 2, "--allow-simulated");
  const Outcome o = xferbench({"check", folder / "r.json", "--expect", "h200", "--allow-simulated"});
  EXPECT_TRUE(o.out.starts_with("SIMULATED by profile h200")) << o.out;
}

TEST(Check, OfARunThatWasCutOffIsOne) {
  const TemporaryFolder folder;
  Json cut = read_json(measured());
  cut["complete"] = false;
  write_file(folder / "r.json", cut.dump());
  const Outcome o = xferbench({"check", folder / "r.json", "--expect", "h200"});
  EXPECT_EQ(o.exit_code, 1);
  EXPECT_TRUE(contains(o.out, "INCOMPLETE")) << o.out;
}

TEST(Check, DoesNotWriteOverWhatItReads) {
  const TemporaryFolder folder;
  const std::string results = read_file(measured());
  write_file(folder / "r.json", results);
  std::filesystem::create_symlink("r.json", folder / "link.json");
  const std::string expectations = expecting(R"({"metric": "bandwidth", "at_least": "1 GB/s"})");
  write_file(folder / "e.json", expectations);
  const auto refuses = [&](const char* flag, const char* file) {
    expect_refusal(xferbench({"check", folder / "r.json", "--expect", folder / "e.json", flag, folder / file}), 2,
                   "which is read; write to another file");
  };
  refuses("--json", "r.json");
  refuses("--markdown", "r.json");
  refuses("--json", "link.json");
  refuses("--json", "e.json");
  EXPECT_EQ(read_file(folder / "r.json"), results);
  EXPECT_EQ(read_file(folder / "e.json"), expectations);
}

TEST(Check, SaysWhatIsWrongInOneLine) {
  const TemporaryFolder folder;
  write_file(folder / "e.json", "{\"schema\": \"xferbench-expect/1\",\n \"expct\": []}");
  write_file(folder / "other.json",
             "{\"schema\": \"xferbench-expect/1\", \"gpu\": \"*A100*\", \"expect\": ["
             "{\"metric\": \"bandwidth\", \"at_least\": \"1 GB/s\"}]}");
  expect_refusal(xferbench({"check", measured(), "--expect", folder / "e.json"}), 2,
                 "e.json:2: expct: unknown field 'expct'");
  expect_refusal(xferbench({"check", measured(), "--expect", folder / "other.json"}), 2, "is for '*A100*'");
  expect_refusal(xferbench({"check", measured(), "--expect", "h20"}), 2, "did you mean 'h200'?");
  expect_refusal(xferbench({"check", folder / "none.json", "--expect", "h200"}), 2, "none.json");
  expect_refusal(xferbench({"check", folder / "e.json", "--expect", "h200"}), 2, "xferbench/1");
  expect_refusal(xferbench({"check", measured(), "--expect", folder.path().string()}), 2, "cannot read");
}

TEST(Expectations, ThatComeWithTheProgramKeepToTheirSchema) {
  const char* validate =
      "import json, sys, jsonschema\n"
      "jsonschema.Draft202012Validator(json.load(open(sys.argv[1]))).validate(json.load(open(sys.argv[2])))\n";
  const Outcome o = run("/usr/bin/python3", {"-c", validate, source_tree() / "docs" / "expect-schema.json",
                                             source_tree() / "scenarios" / "expectations" / "h200.json"});
  EXPECT_EQ(o.exit_code, 0) << o.err;
}

}  // namespace
}  // namespace xferbench::test
