// --repeat: file names and command lines of its processes.
#include "app/repeat.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "paper/writers.hpp"
#include "words/repeat.hpp"

namespace xferbench::app {
namespace {

TEST(Repeat, NumbersFilesBeforeTheirExtension) {
  EXPECT_EQ(numbered("r.json", 1), "r-1.json");
  EXPECT_EQ(numbered("/a.b/r", 12), "/a.b/r-12");
  EXPECT_EQ(numbered("./x.y.json", 3), "./x.y-3.json");
}

TEST(Repeat, AProcessWritesAFileOfItsOwn) {
  cli::RunCommand command;
  command.measuring.files.json = "r.json";
  command.process = 2;
  EXPECT_EQ(one_process(command).measuring.files.json, "r.json.process-2") << "of a suite";
  command.repeat = 3;
  EXPECT_EQ(one_process(command).measuring.files.json, "r-2.json");
}

TEST(Repeat, ProcessesOfASuiteAreOneFileAndCanBeTakenApart) {
  const auto process = [](const char* started, Status of_second) {
    Report report;
    report.complete = true;
    report.started_at = started;
    report.command = {"xferbench", fmt::format("--process={}", started), "--suite", "ci"};
    for (const char* scenario : {"one", "two"}) report.results.emplace_back(Case(scenario));
    report.results[1].status = of_second;
    return report;
  };
  const Report whole =
      merge_processes({process("1", Status::ok), process("2", Status::failed), process("3", Status::ok)});
  EXPECT_EQ(whole.command, (std::vector<std::string>{"xferbench", "--suite", "ci"}));
  EXPECT_EQ(whole.results[1].status, Status::failed) << "seen by whoever looks at the first only";
  const std::vector<NamedReport> apart = by_process({{"r.json", whole}});
  ASSERT_EQ(apart.size(), 3U);
  std::size_t failed = 0;
  for (std::size_t i = 0; i < apart.size(); ++i) {
    EXPECT_EQ(apart[i].report.started_at, std::to_string(i + 1));
    EXPECT_TRUE(apart[i].report.further_processes.empty());
    ASSERT_EQ(apart[i].report.results.size(), 2U);
    failed += apart[i].report.results[1].status == Status::failed ? 1 : 0;
  }
  EXPECT_EQ(failed, 1U) << "once, wherever it stands";
}

TEST(RepeatTable, ShowsHowFarProcessesAreApartAndWhereOneIsMissing) {
  Report report;
  report.environment.backend = "cuda";
  report.environment.gpu.name = "NVIDIA H200";
  const std::vector<RepeatedCase> cases{
      {.key = "memcpy/size=1MiB", .unit = "s", .median = 1e-3, .low = 0.99e-3, .high = 1.01e-3, .processes = 3},
      {.key = "latency", .unit = "s", .median = 2e-6, .low = 2e-6, .high = 2e-6, .processes = 2}};
  EXPECT_EQ(
      to_terminal(document_of(report, cases, 3), Style{}),
      "spread between 3 processes: at most 0.0 % in half of 2 cases, 2.0 % in the worst case: memcpy/size=1MiB\nNVIDIA "
      "H200\n\nmedians of 3 processes\n    median   spread     lowest    highest   case\n  1.000 ms    2.0 %   990.0 "
      "us   1.010 ms   memcpy/size=1MiB\n  2.000 us    0.0 %   2.000 us   2.000 us   latency (in 2 of 3)\n");
  EXPECT_TRUE(to_terminal(document_of(report, std::span(cases).first(1), 3), Style{})
                  .starts_with("1.000 ms: median of 3 processes, spread between processes 2.0 %\n"));
}

}  // namespace
}  // namespace xferbench::app
