// Findings of scenario overlap, on made-up results.
#include "scenarios/overlap/case.hpp"

#include <algorithm>

#include "parsing.hpp"
#include "unit/report_fixture.hpp"
#include "unit/support.hpp"

namespace xferbench {
namespace {

using test::mentions;

/// Results for all cases of the flags: makespan 5 ms, of which 0.2 ms fill and drain and 0.1 ms are unexplained; serial
/// 8 ms. Intervals are +- `doubt`, relative.
std::vector<Result> overlaps(const std::string& flags, double doubt = 0.001) {
  std::vector<Result> all;
  for (const PlannedCase& planned : test::cases_of_line("overlap " + flags)) {
    Result& r = all.emplace_back(planned.config);
    const auto known = [doubt](const char* name, double seconds) {
      return test::measured(name, Clock::event, {seconds}, seconds, {(1 - doubt) * seconds, (1 + doubt) * seconds});
    };
    r.measurements = {known("pipeline", 5e-3), known("serial", 8e-3)};
    r.labels = {{"limited_by", "kernel"}};
    r.metrics = {{"makespan", 5e-3, "s"},         {"bound", 4.7e-3, "s"},   {"time_fill_drain", 0.2e-3, "s"},
                 {"time_overhead", 0, "s"},       {"time_slots", 0, "s"},   {"time_submission", 0, "s"},
                 {"time_unexplained", 1e-4, "s"}, {"modelled", 4.9e-3, "s"}};
  }
  return all;
}

void set_time(Result& r, const char* name, double seconds, double doubt = 0.001) {
  for (Measurement& m : r.measurements) {
    if (m.name == name)
      m = test::measured(name, Clock::event, {seconds}, seconds, {(1 - doubt) * seconds, (1 + doubt) * seconds});
  }
  for (Metric& metric : r.metrics) {
    if (metric.name == "makespan" && std::string(name) == "pipeline") metric.value = seconds;
  }
}

void suggest(Result& r, double gain) {
  r.labels.emplace_back("suggestion", "--chunks 8");
  r.add("suggestion_gain", gain, "1");
}

std::vector<Finding> said_of(const std::vector<Result>& all) {
  std::vector<const Result*> views;
  for (const Result& r : all) views.push_back(&r);
  return diagnose(views);
}

const Finding* of_kind(const std::vector<Finding>& all, const char* kind) {
  const auto found = std::ranges::find(all, kind, &Finding::kind);
  return found == all.end() ? nullptr : &*found;
}

TEST(OverlapDiagnosis, OfASingleCaseNamesNoFastestAndNothingThatTookNoTime) {
  const auto said = said_of(overlaps("--streams 4"));
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].text,
            "5.000 ms makespan = 4.700 ms limit (kernel) + 200.0 us fill and drain + 100.0 us unexplained");
}

TEST(OverlapDiagnosis, OfASingleCaseThatTheModelDoesNotCoverSaysThatAndNoMore) {
  std::vector<Result> one = overlaps("--streams 4");
  std::erase_if(one[0].metrics, [](const Metric& m) { return m.name == "time_unexplained"; });
  const auto said = said_of(one);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].text, "no breakdown of the makespan: the model does not cover this case");
}

/// The kernels differ by their flags alone, which the diagnosis must notice without compiling them.
TEST(OverlapDiagnosis, DoesNotRankDifferentKernelsOfTheUser) {
  const std::string examples = std::string(XFERBENCH_SOURCE_DIR) + "/examples/kernels/";
  const std::string one = "--streams 4 --kernel-name sobel --kernel-file " + examples + "sobel.cu ";
  const auto ranked = [&](const std::string& flags, const std::string& other_flags) {
    std::vector<Result> both = overlaps(one + flags);
    const std::vector<Result> second = overlaps(one + other_flags);
    both.insert(both.end(), second.begin(), second.end());
    set_time(both.back(), "pipeline", 6e-3);
    return of_kind(said_of(both), "fastest") != nullptr;
  };
  EXPECT_FALSE(ranked("", "--kernel-type double"));
  EXPECT_FALSE(ranked("--row-bytes 4096", "--row-bytes 8192"));
  EXPECT_FALSE(ranked("--row-bytes 4096", "--row-bytes 4096 --halo-rows 1"));
  EXPECT_FALSE(ranked("--kernel-time 0.001", "--kernel-time 0.002"));
  EXPECT_TRUE(ranked("--block-size 128", "--block-size 256")) << "which is another way to do the same";
  EXPECT_TRUE(ranked("--kernel-option -O1", "--kernel-option -O2"));
  std::vector<Result> files =
      overlaps("--streams 4 --kernel-name sobel --kernel-file " + examples + "sobel.cu," + examples + "saxpy.cu");
  set_time(files.back(), "pipeline", 6e-3);
  EXPECT_EQ(of_kind(said_of(files), "fastest"), nullptr);
}

TEST(OverlapDiagnosis, NamesTheFastestOnlyWhereItsIntervalSaysSo) {
  std::vector<Result> three = overlaps("--strategy streams --streams 2,3,4");
  EXPECT_EQ(of_kind(said_of(three), "fastest")->text,
            "streams 2, streams 3 and streams 4 are equally fast (within 1 %): 5.000 ms");
  set_time(three[1], "pipeline", 4.8e-3);
  EXPECT_EQ(of_kind(said_of(three), "fastest")->text, "streams 3 is the fastest: 4.800 ms");
  set_time(three[2], "pipeline", 4.85e-3, 0.02);
  EXPECT_EQ(of_kind(said_of(three), "fastest")->text, "streams 3 and streams 4 are tied (within error): 4.800 ms");
  for (Result& r : three) r.measurements[0].ci95.reset();
  EXPECT_TRUE(mentions(of_kind(said_of(three), "fastest")->text, "not decided (too few samples"));
}

TEST(OverlapDiagnosis, CallsCasesByWhatTellsThemApart) {
  EXPECT_EQ(of_kind(said_of(overlaps("--strategy serial,streams --streams 4")), "fastest")->text,
            "serial and streams are equally fast (within 1 %): 5.000 ms")
      << "not by the axes that only one of them has";
  std::vector<Result> presence = overlaps("--streams 4");
  presence.push_back(overlaps("--streams 4 --growth 1.03").front());
  EXPECT_TRUE(mentions(of_kind(said_of(presence), "fastest")->text, "growth 1.03"));
  const auto sizes = said_of(overlaps("--size 1M,4M --streams 2,4"));
  EXPECT_EQ(sizes[0].text, "size 1 MiB: streams 2 and streams 4 are equally fast (within 1 %): 5.000 ms");
}

TEST(OverlapDiagnosis, SaysHowManyTimesAsFastASuggestionShouldBe) {
  std::vector<Result> one = overlaps("--streams 4");
  suggest(one[0], 0.587);
  EXPECT_EQ(of_kind(said_of(one), "suggestion")->text, "try --chunks 8: the model predicts 2.4 times the speed");
}

TEST(OverlapDiagnosis, SaysOfWhichWorkASuggestionIs) {
  std::vector<Result> sizes = overlaps("--size 1M,4M --streams 2,4");
  for (Result& r : sizes) suggest(r, 0.5);
  EXPECT_TRUE(of_kind(said_of(sizes), "suggestion")->text.starts_with("size 1 MiB: try --strategy "));
  std::vector<Result> single = overlaps("--size 1M,4M --streams 4");
  for (Result& r : single) suggest(r, 0.5);
  EXPECT_TRUE(of_kind(said_of(single), "suggestion")->text.starts_with("size 1 MiB: try --strategy "));
  std::vector<Result> alike = overlaps("--streams 2,4");
  for (Result& r : alike) suggest(r, 0.5);
  EXPECT_TRUE(of_kind(said_of(alike), "suggestion")->text.starts_with("try --strategy "));
}

TEST(OverlapDiagnosis, SaysWhereItTookLessThanItsParts) {
  std::vector<Result> one = overlaps("--streams 4");
  one[0].metrics[6].value = -10.93e-6;
  EXPECT_TRUE(mentions(said_of(one)[0].text, "fill and drain - 10.93 us unexplained"));
}

TEST(OverlapDiagnosis, SuggestsNothingThatSavesLessThanIsUnexplained) {
  std::vector<Result> one = overlaps("--streams 4");
  suggest(one[0], 0.02);
  EXPECT_EQ(of_kind(said_of(one), "suggestion"), nullptr) << "98 us of 4.9 ms, and 100 us are unexplained";
  one[0].metrics.back().value = 0.021;
  EXPECT_NE(of_kind(said_of(one), "suggestion"), nullptr);
}

TEST(OverlapDiagnosis, SaysWherePlainSerialWins) {
  std::vector<Result> one = overlaps("--streams 4");
  EXPECT_EQ(of_kind(said_of(one), "serial"), nullptr) << "8 ms, not 5";
  set_time(one[0], "serial", 4e-3);
  EXPECT_EQ(of_kind(said_of(one), "serial")->text,
            "plain serial wins: without any overlap the same work is 1.2 times as fast (4.000 ms)");
  set_time(one[0], "serial", 5.005e-3);
  EXPECT_EQ(of_kind(said_of(one), "serial")->text, "overlap gains nothing: plain serial is equally fast (within 1 %)");
  set_time(one[0], "serial", 5.2e-3, 0.1);
  EXPECT_TRUE(
      mentions(of_kind(said_of(one), "serial")->text, "whether overlap gains anything over plain serial is not"));
}

/// Sets the time to result.
void set_to_result(Result& r, double seconds, double doubt = 0.001) {
  std::erase_if(r.measurements, [](const Measurement& m) { return m.name == "wall"; });
  std::erase_if(r.metrics, [](const Metric& m) { return m.name == "to_result"; });
  r.measurements.push_back(
      test::measured("wall", Clock::host, {seconds}, seconds, {(1 - doubt) * seconds, (1 + doubt) * seconds}));
  r.add("to_result", seconds, "s");
}

TEST(OverlapDiagnosis, SaysWhatAProgramWaitsForBesideTheGpu) {
  std::vector<Result> one = overlaps("--strategy graph");
  EXPECT_EQ(of_kind(said_of(one), "to-result"), nullptr) << "as of a file from before it was measured";
  set_to_result(one[0], 5.1e-3);
  EXPECT_EQ(of_kind(said_of(one), "to-result")->text, "time to result: 5.100 ms, 100.0 us more than the makespan");
  one[0].add("gpu_begins", 90e-6, "s");
  one[0].add("calls_return", 80e-6, "s");
  EXPECT_EQ(of_kind(said_of(one), "to-result")->text,
            "time to result: 5.100 ms, 100.0 us more than the makespan; the GPU begins 90.00 us after the first call, "
            "10.00 us after the call returns");
  one[0].add("clock_uncertainty", 20e-6, "s");
  EXPECT_TRUE(mentions(of_kind(said_of(one), "to-result")->text, "about when the call returns"));
  std::vector<Result> streams = overlaps("--strategy streams --streams 4");
  set_to_result(streams[0], 5.1e-3);
  streams[0].add("gpu_begins", 5e-6, "s");
  streams[0].add("calls_return", 80e-6, "s");
  EXPECT_TRUE(mentions(of_kind(said_of(streams), "to-result")->text, "75.00 us before the last call returns"));
}

TEST(OverlapDiagnosis, NamesWhoIsFastestToTheResultOnlyWhereThatIsAnother) {
  std::vector<Result> two = overlaps("--strategy engines,graph");
  set_time(two[1], "pipeline", 4.8e-3);
  set_to_result(two[0], 5.01e-3);
  EXPECT_EQ(of_kind(said_of(two), "fastest-to-result"), nullptr) << "not all have it";
  set_to_result(two[1], 4.9e-3);
  EXPECT_EQ(of_kind(said_of(two), "fastest-to-result"), nullptr) << "the same";
  set_to_result(two[1], 5.03e-3);
  EXPECT_EQ(of_kind(said_of(two), "fastest-to-result"), nullptr) << "alike";
  set_to_result(two[1], 5.261e-3);
  EXPECT_EQ(of_kind(said_of(two), "fastest-to-result")->text,
            "by time to result engines is the fastest: 5.010 ms; graph, the fastest by "
            "makespan, takes 5.261 ms, 5.0 % more");
}

TEST(OverlapDiagnosis, OfManySizesStandsInATable) {
  const auto said = said_of(overlaps("--size 1M,4M,16M --streams 4"));
  ASSERT_EQ(said.size(), 3U);
  for (const Finding& f : said) EXPECT_TRUE(f.kind == "diagnosis" && f.row) << f.text;
  EXPECT_TRUE(said[0].text.starts_with("size 1 MiB: 5.000 ms makespan"));
  const auto of_two = said_of(overlaps("--size 1M,4M --streams 2,4"));
  EXPECT_EQ(std::ranges::count(of_two, "diagnosis", &Finding::kind), 2) << "one for each amount of work";
}

}  // namespace
}  // namespace xferbench
