// Commands that print information: version, help, list, info.

#include <algorithm>
#include <regex>
#include <vector>

#include "cli/support.hpp"

namespace xferbench::test {
namespace {

TEST(Version, BeginsWithALineForProgramsOfNumberAndBuild) {
  const Outcome o = xferbench({"--version"});
  expect_success(o);
  EXPECT_TRUE(std::regex_match(lines(o.out).front(),
                               std::regex("xferbench [0-9]+\\.[0-9]+\\.[0-9]+( \\(\\S+\\))?, .*CUDA.*, .+")))
      << o.out;
  EXPECT_EQ(xferbench({"version"}).out, o.out);
}

TEST(Version, SaysOfEachFeatureWhetherItIsHere) {
  const std::vector<std::string> said = lines(xferbench({"--version"}).out);
  for (const std::string name : {"commit", "CUDA", "CUPTI", "NVRTC", "MPI", "NUMA"}) {
    const auto found = std::ranges::find_if(said, [&](const auto& line) { return line.starts_with(name + " "); });
    ASSERT_NE(found, said.end()) << name;
    EXPECT_TRUE(std::regex_match(*found, std::regex("\\w+ +\\S.*"))) << *found;
  }
}

TEST(Version, DoesNotMindWhatIsNotThereOrIsNoLibrary) {
  const TemporaryFolder folder;
  for (const char* name : {"libcupti.so", "libnvrtc.so"}) write_file(folder / name, "no library");
  Options options = without_gpu();
  options.environment["LD_LIBRARY_PATH"] = folder.path().string();
  options.environment["XFERBENCH_MPI"] = (folder / "no-plug-in.so").string();
  const Outcome o = xferbench({"--version"}, options);
  expect_success(o);
  EXPECT_TRUE(contains(o.out, "MPI           there is no file '")) << o.out;
  write_file(folder / "no-plug-in.so", "no library");
  const Outcome again = xferbench({"--version"}, options);
  expect_success(again);
  EXPECT_TRUE(contains(again.out, "MPI           the plug-in for MPI cannot be loaded: ")) << again.out;
}

TEST(Version, SaysInWordsWhatABuildLacks) {
  const std::string version = xferbench({"--version"}).out;
  EXPECT_FALSE(contains(version, "None")) << version;
  EXPECT_FALSE(contains(version, ", without CUDA,")) << version;
  const bool with_cuda = std::regex_search(version, std::regex(", CUDA [0-9]"));
  EXPECT_TRUE(with_cuda || contains(version, ", built without CUDA (simulated GPUs only), ")) << version;
}

/// Help pages that are compared with golden files. Those of scenarios are generated from their declarations.
class HelpPage : public testing::TestWithParam<const char*> {};

TEST_P(HelpPage, IsAsAgreed) {
  const Outcome o = xferbench({"help", GetParam()});
  expect_success(o);
  EXPECT_EQ(xferbench({GetParam(), "--help"}).out, o.out);
  expect_golden(std::string("help-") + GetParam() + ".txt", o.out);
}

INSTANTIATE_TEST_SUITE_P(Commands, HelpPage,
                         testing::Values("run", "tune", "compare", "check", "expect", "explain", "list", "memcpy"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST(Help, OfTheProgramFitsOneScreenAndPointsOn) {
  const Outcome o = xferbench({"--help"});
  expect_success(o);
  EXPECT_LE(lines(o.out).size(), 49U) << "of a terminal of 50 rows";
  expect_golden("help.txt", o.out);
}

TEST(Help, FitsATerminal) {
  std::vector<Arguments> commands{
      {"--help"}, {"list"}, {"help", "run"}, {"help", "compare"}, {"help", "explain"}, {"tune", "overlap", "-h"}};
  for (const std::string& line : lines(xferbench({"list"}).out)) {
    if (line.starts_with("For flags and") || line.empty()) break;
    commands.push_back({"list", line.substr(0, line.find(' '))});
  }
  EXPECT_GT(commands.size(), 8U);
  for (const Arguments& arguments : commands) {
    for (const std::string& line : lines(xferbench(arguments).out)) EXPECT_LE(line.size(), 130U) << line;
  }
}

TEST(List, NamesEveryScenarioAndTheDefault) {
  const Outcome o = xferbench({"list"});
  expect_success(o);
  const std::vector<std::string> all = lines(o.out);
  ASSERT_GE(all.size(), 2U);
  EXPECT_TRUE(all[0].starts_with("overlap ")) << all[0];
  EXPECT_TRUE(all[0].ends_with("(the default)")) << all[0];
  EXPECT_TRUE(contains(o.out, "\nmemcpy "));
}

TEST(List, SaysWhatSuitesAreFor) {
  const Outcome o = xferbench({"list"});
  EXPECT_TRUE(contains(o.out, "\nSuites for --suite:\n  calibrate ")) << o.out;
  EXPECT_TRUE(contains(o.out, "\n  quick       Is this machine healthy?")) << o.out;
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "suites");
  write_file(folder / "suites" / "broken.json", "{");
  Options options;
  options.environment["XFERBENCH_DATA"] = folder.path().string();
  EXPECT_TRUE(contains(xferbench({"list"}, options).out, "\n  broken      cannot be used: "));
  EXPECT_TRUE(contains(xferbench({"list", "suites"}, options).out, "\n  broken      cannot be used: "));
}

TEST(List, ShowsExpectationsAndProfiles) {
  const Outcome expectations = xferbench({"list", "expectations"});
  expect_success(expectations);
  EXPECT_TRUE(contains(expectations.out, "\n  h200        one H200 on PCIe Gen5 x16")) << expectations.out;
  const Outcome profiles = xferbench({"list", "profiles"});
  expect_success(profiles);
  EXPECT_TRUE(contains(profiles.out, "\n  h200-one-engine ")) << profiles.out;
}

TEST(List, OfAScenarioShowsAxesWithDefaultsAndLimits) {
  const Outcome o = xferbench({"list", "overlap"});
  expect_success(o);
  EXPECT_TRUE(std::regex_search(o.out, std::regex("--size SIZES +[^\n]*\\[256M\\]\n +4B or more"))) << o.out;
  EXPECT_TRUE(std::regex_search(o.out, std::regex("--streams COUNTS [^\n]*\n +tune tries [^\n]*\n +1 to 1024")))
      << o.out;
  EXPECT_FALSE(contains(o.out, "--dir"));
}

TEST(Info, TakesAProfile) {
  const Outcome o = xferbench({"info", "--simulate", "h200-one-engine"});
  expect_success(o);
  EXPECT_TRUE(contains(o.out, "SIMULATED by profile h200-one-engine")) << o.out;
  EXPECT_TRUE(contains(o.out, "\n  engines    1 for copies\n")) << o.out;
}

TEST(Info, IsJsonWhereThatIsAskedFor) {
  const Outcome simulated = xferbench({"info", "--simulate", "h200", "--json"});
  expect_success(simulated);
  const Json json = parse_json(simulated.out);
  EXPECT_EQ(json["schema"], "xferbench-info/1");
  EXPECT_EQ(json["environment"]["backend"], "simulated");
  EXPECT_EQ(json["environment"]["gpu"]["pcie"]["generation"], 5);
  EXPECT_NEAR(json["limits"]["link"]["value"].get<double>(), 58.449, 0.001);
  EXPECT_NEAR(json["limits"]["link_d2h"]["value"].get<double>(), 57.614, 0.001);
  EXPECT_NEAR(json["limits"]["link_both"]["value"].get<double>(), 106.132, 0.001);
  EXPECT_EQ(json["limits"]["memory"]["unit"], "GB/s");
  EXPECT_TRUE(json["tool"].contains("version"));
  EXPECT_TRUE(json["profiles"].contains("h200-one-engine"));
  const TemporaryFolder folder;
  const Outcome to_file = xferbench({"info", "--json", folder / "facts.json", "--simulate", "h200"});
  expect_success(to_file);
  EXPECT_TRUE(contains(to_file.out, "SIMULATED by profile h200")) << "in words as well";
  EXPECT_EQ(read_json(folder / "facts.json")["environment"]["gpu"]["name"], "NVIDIA H200");
}

TEST(Info, AndListsArePagesWhereThatIsAskedFor) {
  const TemporaryFolder folder;
  const std::string page = folder / "page.html";
  expect_success(xferbench({"info", "--simulate", "h200", "--html", page}));
  EXPECT_TRUE(contains(read_file(page), "<td>NVIDIA H200 (SIMULATED by profile h200)</td>")) << read_file(page);
  const Outcome markdown = xferbench({"list", "suites", "--markdown", "-"});
  expect_success(markdown);
  EXPECT_TRUE(contains(markdown.out, "\n| quick | Is this machine healthy?")) << markdown.out;
  expect_refusal(xferbench({"list", "memcpy", "--html", page}), 2, "goes to standard output only");
  expect_refusal(xferbench({"list", "suites", "--simulate"}), 2, "it belongs to list gpus");
}

TEST(Info, AsJsonHasAllGpusAndTheWaysBetweenThem) {
  const Json environment = parse_json(xferbench({"info", "--json", "--simulate", "h200-x2"}).out)["environment"];
  ASSERT_EQ(environment["gpus"].size(), 2U);
  EXPECT_EQ(environment["gpu"], environment["gpus"][0]);
  EXPECT_EQ(environment["gpus"][1]["index"], 1);
  EXPECT_EQ(environment["gpus"][1]["nvlinks"], 18);
  ASSERT_EQ(environment["links"].size(), 2U);
  EXPECT_EQ(environment["links"][1]["from"], 1);
  EXPECT_EQ(environment["links"][1]["to"], 0);
  EXPECT_EQ(environment["links"][1]["access"], true);
  EXPECT_NEAR(environment["links"][1]["nvlink_bandwidth"].get<double>(), 478.125e9, 1);
  const Json of_one = parse_json(xferbench({"info", "--json", "--simulate", "h200"}).out)["environment"];
  EXPECT_FALSE(of_one.contains("gpus") || of_one.contains("links"));
}

TEST(Info, AsJsonHasTheHostAndTheReasonWhereThereIsNoGpu) {
  if (finds_gpu(without_gpu())) GTEST_SKIP() << "the GPUs of this machine cannot be hidden";
  const Outcome o = xferbench({"info", "--json"}, without_gpu());
  expect_success(o);
  const Json json = parse_json(o.out);
  EXPECT_TRUE(contains(json["no_gpu"], "no usable GPU")) << o.out;
  EXPECT_GT(json["host"]["logical_cpus"], 0);
  EXPECT_FALSE(json.contains("environment"));
}

TEST(Info, TellsOfTheHostAndTheProfiles) {
  const Outcome o = xferbench({"info"});
  expect_success(o);
  EXPECT_TRUE(std::regex_search(o.out, std::regex("\nhost +[^\n]+ logical CPUs, [^\n]+ of memory\n"))) << o.out;
  EXPECT_TRUE(contains(o.out, "\nsimulate:\n  h200 ")) << o.out;
}

}  // namespace
}  // namespace xferbench::test
