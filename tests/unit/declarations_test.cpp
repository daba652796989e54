// src/ must not name metrics of scenarios: only their declarations may, and those of tune and of timelines.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "measure/region.hpp"
#include "run/tuner.hpp"
#include "scenarios/scenarios.hpp"

namespace xferbench {
namespace {

namespace fs = std::filesystem;

std::set<std::string> names_of(std::span<const MetricDeclaration> metrics) {
  std::set<std::string> names;
  for (const MetricDeclaration& m : metrics) names.insert(m.name);
  return names;
}

/// Names of metrics that scenarios declare, without those of tune, timelines and regions, which src/ may use.
std::set<std::string> names_of_scenarios() {
  std::set<std::string> names;
  for (const Scenario* scenario : scenarios()) names.merge(names_of(scenario->descriptor().metrics));
  for (const std::string& name : names_of(timeline_metrics())) names.erase(name);
  for (const std::string& name : names_of(tuned_descriptor({}).metrics)) names.erase(name);
  for (const char* name : {kGpuTime, kGpuEnd, kSinceOpening, kWall, kWallCalls}) names.erase(name);
  return names;
}

/// Metric names that src/ also uses with another meaning.
const std::set<std::string>& other_words() {
  static const std::set<std::string> words{
      "allocate",    // a kind of CUDA call
      "both",        // sides of a comparison
      "call",        // a measurement that two scenarios name by a shared constant
      "completion",  // a command
      "copy",        // a call of a device
      "d2d",         // a direction of copies
      "d2h",         // a direction of copies
      "h2d",         // a direction of copies
      "cpu",         // a clock, and a field of files
      "expected",    // a column of check
      "free",        // a call of a device
      "from",        // a label of results between two ranks
      "kernels",     // a field of explanations
      "kernel",      // a row of timelines; the host's kernel
      "latency",     // of the line fitted to copy times
      "memory",      // a limit of check may be a share of its rate
      "mpi",         // a field of files
      "pinned",      // a kind of host memory
      "register",    // registering host memory
      "scatter",     // a scenario
      "cycle",       // a measurement that has a shared constant
      "start",       // also a metric of explanations: results/metric_names.hpp
      "submit",      // a measurement that has a shared constant
      "to",          // a label of results between two ranks
      "together",    // a field of explanations
      "unit",        // a field of files
      "wait",        // a kind of CUDA call
  };
  return words;
}

/// Removes // comments.
std::string without_comments(const std::string& text) {
  static const std::regex comment("//[^\n]*");
  return std::regex_replace(text, comment, "");
}

/// Metric names in string literals. Names with another meaning count only in a look-up, such as metric("kernel").
std::vector<std::string> named_in(const std::string& code, const std::set<std::string>& names) {
  static const std::regex literal(R"re(((?:metric|measurement|label)\(\s*)?"([a-z0-9_-]+)")re");
  std::vector<std::string> found;
  for (std::sregex_iterator match(code.begin(), code.end(), literal), end; match != end; ++match) {
    const std::string name = (*match)[2];
    if (names.contains(name) && ((*match)[1].matched || !other_words().contains(name))) found.push_back(match->str());
  }
  return found;
}

TEST(NamesOfMetrics, AreFoundWhereTheyStand) {
  const std::set<std::string> names{"of_limit", "kernel"};
  EXPECT_EQ(named_in("x = r.metric(\"kernel\") + f(\"of_limit\")", names),
            (std::vector<std::string>{"metric(\"kernel\"", "\"of_limit\""}));
  EXPECT_EQ(named_in(without_comments("row(\"kernel\"), \"of_limits\";  // \"of_limit\""), names),
            std::vector<std::string>());
}

TEST(NamesOfMetrics, StandInScenariosOnly) {
  const std::set<std::string> names = names_of_scenarios();
  EXPECT_TRUE(names.contains("speedup_over_sync"));
  EXPECT_FALSE(names.contains("behind_best"));
  const fs::path root = XFERBENCH_SOURCE_DIR;
  for (const auto& entry : fs::recursive_directory_iterator(root / "src")) {
    // Profiles have numbers of their own, some with the same names as metrics.
    const bool of_profiles = entry.path().filename().string().starts_with("profile_f");
    // nvbandwidth.cpp translates names of cases and metrics to those of another program.
    const bool translates = entry.path().filename() == "nvbandwidth.cpp";
    if (!entry.is_regular_file() || of_profiles || translates) continue;
    std::ifstream file(entry.path());
    const std::string code = without_comments({std::istreambuf_iterator<char>(file), {}});
    for (const std::string& where : named_in(code, names)) {
      ADD_FAILURE() << fs::relative(entry.path(), root).string() << " names a metric of a scenario: " << where;
    }
  }
}

}  // namespace
}  // namespace xferbench
