// Findings of scenario smem, on made-up results.

#include <algorithm>
#include <functional>

#include "parsing.hpp"
#include "scenarios/smem/case.hpp"
#include "unit/support.hpp"

namespace xferbench {
namespace {

using test::mentions;

constexpr double kMultiprocessors = 132;
constexpr double kPayload = 2147483648.0;

/// Results for all cases of the flags, with times in seconds from a function of the case. Intervals are +- `doubt`,
/// relative.
std::vector<Result> results(const std::string& flags, const std::function<double(const SmemCase&)>& seconds,
                            double doubt = 0.001) {
  std::vector<Result> all;
  for (const PlannedCase& planned : test::cases_of_line("smem " + flags)) {
    const SmemCase c = smem_case(planned.config);
    Result& r = all.emplace_back(planned.config);
    Measurement m;
    m.name = "smem";
    m.median = seconds(c);
    m.samples = {m.median};
    m.ci95 = Interval{(1 - doubt) * m.median, (1 + doubt) * m.median};
    r.measurements.push_back(m);
    const double in_flight = static_cast<double>(in_flight_per_block(c.shape));
    r.add("bandwidth", kPayload / m.median / 1e9, "GB/s");
    r.add("memory_traffic", 2 * kPayload / m.median / 1e9, "GB/s");
    r.add("vs_d2d", 1e-3 / m.median, "1");
    r.add("bytes_in_flight", in_flight, "B");
    r.add("time_in_flight", in_flight * kMultiprocessors * m.median / kPayload, "s");
  }
  return all;
}

std::vector<Finding> findings(const std::vector<Result>& all) {
  std::vector<const Result*> views;
  for (const Result& r : all) views.push_back(&r);
  return diagnose_smem(views);
}

/// One block per multiprocessor on memory with a latency of 1 us, which needs at least 1 ms for the payload.
double by_little(const SmemCase& c) {
  const double in_flight = static_cast<double>(in_flight_per_block(c.shape)) * kMultiprocessors;
  return std::max(1e-3, kPayload * 1e-6 / in_flight);
}

TEST(SmemDiagnosis, OneResultSaysNothingBeyondItself) {
  EXPECT_TRUE(findings(results("--method direct --schedule dynamic --tile 4K", by_little)).empty());
  EXPECT_TRUE(findings({}).empty());
}

TEST(SmemDiagnosis, TellsHowManyStagesAreEnoughAndWhatLittlesLawAsksFor) {
  // By Little's law 132 x 4 KiB per 1 us are 540 GB/s. The payload in 1 ms is 2147 GB/s: four stages are enough.
  const auto said =
      findings(results("--method bulk --store registers --stages 1,2,3,4,6,8 --schedule dynamic --tile 4K", by_little));
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].kind, "stages");
  EXPECT_TRUE(mentions(said[0].text, "bulk: 4 stages are enough")) << said[0].text;
  EXPECT_TRUE(mentions(said[0].text, "15.9 KiB needed by Little's law at a latency of 1.000 us")) << said[0].text;
}

TEST(SmemDiagnosis, WithoutALoopThatStarvesLittlesLawIsSilent) {
  const auto said = findings(
      results("--method bulk --stages 1,2,4 --schedule dynamic --tile 4K", [](const SmemCase&) { return 1e-3; }));
  ASSERT_EQ(said.size(), 1U);
  EXPECT_TRUE(mentions(said[0].text, "1 stage is enough"));
  EXPECT_EQ(said[0].text.find("Little"), std::string::npos);
}

TEST(SmemDiagnosis, TwoNumbersOfStagesAreNoSweep) {
  EXPECT_TRUE(findings(results("--method bulk --stages 1,4 --schedule dynamic --tile 4K", by_little)).empty());
}

TEST(SmemDiagnosis, TellsTheBestOfEachMethodAndOfAll) {
  const auto said =
      findings(results("--stages 1 --schedule persistent,dynamic --method sync,tma --tile 4K", [](const SmemCase& c) {
        const bool tma = c.shape.method == kernels::SmemMethod::tma;
        const bool dynamic = c.shape.schedule == kernels::SmemSchedule::dynamic;
        return (tma ? 1e-3 : 2e-3) + (dynamic == tma ? 0 : 1e-4);
      }));
  ASSERT_EQ(said.size(), 3U);
  EXPECT_EQ(said[0].kind, "best");
  EXPECT_EQ(said[0].labels,
            (std::vector<std::pair<std::string, std::string>>{{"method", "sync"}, {"schedule", "persistent"}}));
  EXPECT_EQ(said[1].labels[1].second, "dynamic");
  EXPECT_EQ(said[2].kind, "winner");
  EXPECT_TRUE(mentions(said[2].text, "tma, dynamic is the fastest: 4295 GB/s of memory traffic, 1.00 times a copy"))
      << said[2].text;
}

TEST(SmemDiagnosis, NamesAWinnerOnlyWhereItsIntervalSaysSo) {
  const auto close = [](const SmemCase& c) { return c.shape.method == kernels::SmemMethod::tma ? 1e-3 : 1.02e-3; };
  const std::string flags = "--stages 1 --schedule dynamic --method sync,tma --tile 4K";
  EXPECT_TRUE(mentions(findings(results(flags, close)).back().text, "tma is the fastest: "));
  EXPECT_TRUE(mentions(findings(results(flags, close, 0.02)).back().text, "tma and sync are tied (within error): "));
}

TEST(SmemDiagnosis, TellsStagesThatAreEnoughFromThoseThatMayBe) {
  const auto flat = [](const SmemCase& c) { return c.shape.stages == 1 ? 1.02e-3 : 1e-3; };
  const std::string flags = "--method bulk --stages 1,2,4 --schedule dynamic --tile 4K";
  EXPECT_TRUE(mentions(findings(results(flags, flat)).back().text, "2 stages are enough, the best of 1 to 4 is less"));
  EXPECT_TRUE(mentions(findings(results(flags, flat, 0.02)).back().text,
                       "1 stage may be enough, no difference from the best of 1 to 4 was found"));
  std::vector<Result> few = results(flags, flat);
  for (Result& r : few) r.measurements[0].ci95.reset();
  EXPECT_TRUE(mentions(findings(few).back().text, "not decided how many stages of 1 to 4 are enough"));
}

TEST(SmemDiagnosis, ComparesOnlyWhatDoesTheSameWork) {
  const auto said = findings(results("--stages 1 --schedule dynamic --method sync,direct --intensity 0,64", by_little));
  EXPECT_EQ(std::ranges::count(said, "winner", &Finding::kind), 2);
}

}  // namespace
}  // namespace xferbench
