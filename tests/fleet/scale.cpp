// Time and memory of judging and writing a large fleet. The results of so many ranks, eight per node, with a slow link,
// a slow GPU and a slow host, are grouped, summarised, judged and written. Prints seconds of each step and peak memory.
//
//   fleet_scale --ranks 10000 --samples 30 --output /tmp/fleet.json
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/judgement.hpp"
#include "results/json.hpp"
#include "support/synthetic_fleet.hpp"

namespace xferbench::fleet {
namespace {

double peak_mebibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

/// Runs a step and prints its time and the peak memory. Returns the seconds.
template <class Step>
double timed(std::string_view name, const Step& step) {
  const auto begin = std::chrono::steady_clock::now();
  step();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  fmt::print("{:<34}{:8.3f} s{:10.0f} MiB at most\n", name, seconds, peak_mebibytes());
  return seconds;
}

test::FleetPlan plan_of(int ranks, std::size_t samples) {
  test::FleetPlan plan{.nodes = (ranks + 7) / 8, .ranks_per_node = 8, .samples = samples};
  plan.faults = {{.of = test::Fault::Of::link, .where = 3},
                 {.of = test::Fault::Of::gpu, .where = ranks / 2},
                 {.of = test::Fault::Of::host, .where = plan.nodes - 1}};
  return plan;
}

int run(int ranks, std::size_t samples, const std::string& output) {
  std::optional<test::SyntheticFleet> made;
  timed("making results (not counted)", [&] { made.emplace(plan_of(ranks, samples)); });
  const Options options;
  std::vector<Test> tests;
  std::vector<Retest> retests;
  double all = timed("grouping", [&] { tests = tests_of(made->report, 1); });
  all += timed("summing up", [&] { (void)summarise(tests); });
  all += timed("choosing the second round", [&] { retests = retests_of(made->report, options); });
  timed("measuring it (not counted)", [&] { made->measure_again(retests); });
  all += timed("judging", [&] { judge(made->report, options); });
  all += timed("writing", [&] {
    std::ofstream file(output, std::ios::binary);
    write_json(made->report, [&](std::string_view text) { file << text; });
    if (!file.flush()) fmt::print(stderr, "fleet_scale: cannot write {}\n", output);
  });
  fmt::print("{:<34}{:8.3f} s\n\n", "all that is counted", all);
  for (const Flagged& flagged : made->report.fleet->flagged) fmt::print("{}\n", flagged.text);
  return made->report.fleet->flagged.size() >= 3 ? 0 : 1;
}

}  // namespace
}  // namespace xferbench::fleet

int main(int argc, char** argv) {
  int ranks = 10000;
  std::size_t samples = 30;
  std::string output = "/dev/null";
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view flag = argv[i];
    if (flag == "--ranks") ranks = std::max(16, std::atoi(argv[i + 1]));
    if (flag == "--samples") samples = std::strtoull(argv[i + 1], nullptr, 10);
    if (flag == "--output") output = argv[i + 1];
  }
  return xferbench::fleet::run(ranks, samples, output);
}
