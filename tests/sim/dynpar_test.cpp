// Scenario dynpar without a GPU: its cases, and why each is skipped.

#include "sim/sim_fixture.hpp"

namespace xferbench::test {

namespace {

std::vector<Result> run_dynpar(const std::string& flags) {
  sim::SimMachine machine(profile("h200"));
  return run_all(cases_of_line("dynpar " + flags), quick_bench(machine.device()));
}

TEST(DynparOnSim, IsSkippedBecauseNobodyKnowsWhatLaunchesFromTheDeviceCost) {
  const auto results = run_dynpar("");
  EXPECT_EQ(results.size(), 22U);
  for (const Result& r : results) {
    EXPECT_EQ(r.status, Status::skipped) << r.config.key();
    EXPECT_EQ(r.reason, "the simulator does not model launches from the device");
    EXPECT_TRUE(r.measurements.empty());
  }
}

TEST(DynparOnSim, ATreeNeedsAChildForEachLevel) {
  const auto reason = [](const std::string& sizes) {
    const auto results = run_dynpar("--task children --launch host --shape tree " + sizes);
    return results.size() == 1 ? results.front().reason : "not one result";
  };
  EXPECT_EQ(reason("--depth 8 --children 7"), "7 children cannot make a tree of 8 levels; choose a smaller --depth");
  EXPECT_EQ(reason("--depth 2 --children 1"), "1 child cannot make a tree of 2 levels; choose a smaller --depth");
}

TEST(DynparOnSim, ATreeLeavesOutNumbersThatNobodyAskedForAndThatAreTooSmall) {
  const auto results = run_dynpar("--task children --launch host --shape tree");
  EXPECT_EQ(results.size(), 3U);
  for (const Result& r : results) EXPECT_GE(r.config.count("children"), 16U);
}

TEST(DynparOnSim, KeysAreWhole) { EXPECT_THROW(run_dynpar("--task sort --size 4097"), UsageError); }

// --- Findings from made-up results ---------------------------------------------------------------------------------

Measurement sampled(std::string name, double seconds) {
  Measurement m;
  m.name = std::move(name);
  m.samples = {seconds};
  m.min = m.median = m.max = seconds;
  m.ci95 = Interval{0.999 * seconds, 1.001 * seconds};
  return m;
}

/// Makespans in seconds from `cost`, and the expected findings.
struct Concluded {
  const char* name;
  const char* flags;
  std::function<double(const Case&)> cost;
  std::vector<std::string> texts;
};

class DynparFindings : public testing::TestWithParam<Concluded> {};

TEST_P(DynparFindings, SayWhatTheResultsSayTogether) {
  const auto cases = cases_of_line(std::string("dynpar ") + GetParam().flags);
  std::vector<Result> results;
  for (const PlannedCase& planned : cases) {
    const double makespan = GetParam().cost(planned.config);
    Result& r = results.emplace_back(planned.config);
    r.measurements = {sampled("makespan", makespan), sampled("by-host", 4e-3)};
    r.add("speedup_over_host", 4e-3 / makespan, "1");
    if (planned.config.is("task", "sort")) r.add("round_trips", 9, "round trips");
  }
  std::vector<const Result*> pointers;
  for (const Result& r : results) pointers.push_back(&r);
  std::vector<std::string> texts;
  for (const Finding& f : cases.front().scenario->conclude(pointers)) texts.push_back(f.text);
  EXPECT_EQ(texts, GetParam().texts);
}

double slow_start_or_slow_children(const Case& c) {
  const auto children = static_cast<double>(c.count("children"));
  return c.is("launch", "host") ? 1e-6 + 2e-6 * children : 9e-6 + 1e-6 * children;
}

double by_streams_or_launchers(const Case& c) {
  if (c.has("streams")) return c.count("streams") == 4 ? 6e-6 : 9e-6;
  return c.count("launchers") == 32 ? 3e-6 : 90e-6;
}

INSTANTIATE_TEST_SUITE_P(
    Of, DynparFindings,
    testing::Values(
        Concluded{"WaysOfLaunching",
                  "--task children --launch host,tail --children 1,16,256",
                  slow_start_or_slow_children,
                  {"host: 1.000 us fixed and 2.000 us per child, for 1 to 256 children",
                   "tail: 9.000 us fixed and 1.000 us per child, for 1 to 256 children",
                   "1 child: host is the fastest, in 3.000 us; tail takes 10.00 us",
                   "16 children: tail is the fastest, in 25.00 us; host takes 33.00 us",
                   "256 children: tail is the fastest, in 265.0 us; host takes 513.0 us"}},
        Concluded{"AWayWithoutARival",
                  "--task children --launch graph --children 1,16,256",
                  slow_start_or_slow_children,
                  {"graph: 9.000 us fixed and 1.000 us per child, for 1 to 256 children"}},
        Concluded{"TheBestOfEachWay",
                  "--task children --launch host,fire-and-forget --children 16 --launchers 1,32 --streams 1,4 "
                  "--shape tree --work 100",
                  by_streams_or_launchers,
                  {"16 children in a tree of 4 levels with 100 steps each: fire-and-forget (32 launchers) is the "
                   "fastest, in 3.000 us; host (4 streams) takes 6.000 us"}},
        Concluded{"CasesOfOneWay",
                  "--task children --launch fire-and-forget --children 16",
                  [](const Case& c) { return 1e-6 * static_cast<double>(c.count("launchers")); },
                  {}},
        Concluded{"WaysThatDifferByLessThanTheNoise",
                  "--task children --launch host,graph,tail --children 1",
                  [](const Case& c) {
                    if (c.is("launch", "tail")) return 3e-6;
                    return c.is("launch", "host") ? 2.01e-6 : 2e-6;
                  },
                  {"1 child: graph and host are equally fast (within 1 %): graph takes 2.000 us, host takes 2.010 us, "
                   "tail takes 3.000 us"}},
        Concluded{"MoreRoom",
                  "--task children --launch host,tail --children 16 --pending 4096",
                  slow_start_or_slow_children,
                  {"16 children: tail (at most 4096 pending) is the fastest, in 25.00 us; host takes 33.00 us"}},
        Concluded{"ALineThatIsFarOff",
                  "--task children --launch graph --children 1,16,256",
                  [](const Case& c) {
                    return 1e-6 * static_cast<double>(c.count("children") == 16 ? 9 : c.count("children"));
                  },
                  {"graph: 321.4 ns fixed and 657.2 ns per child, for 1 to 256 children (a linear fit is off by up to "
                   "34.2 %)"}},
        Concluded{"ASortWithoutRoundTrips",
                  "--task sort --size 4M",
                  [](const Case&) { return 2e-3; },
                  {"sorting 4 MiB of random keys takes 2.000 ms with launches from the device, 4.000 ms "
                   "with 9 round trips to the host: 2.0 times as fast"}}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST(DynparOfFewSamples, HasNoWinnerHoweverFarApartWaysAre) {
  std::vector<Result> results;
  for (const PlannedCase& planned : cases_of_line("dynpar --task children --launch host,graph --children 16")) {
    Result& r = results.emplace_back(planned.config);
    r.measurements = {sampled("makespan", planned.config.is("launch", "host") ? 6e-6 : 1e-6)};
    r.measurements.front().ci95.reset();
  }
  const std::vector<Finding> found = conclude(scenarios(), results);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().kind, "undecided");
  EXPECT_EQ(found.front().text,
            "16 children: graph and host: not decided (too few samples (at least 6 are needed): raise --max-samples or "
            "--budget): graph takes 1.000 us, host takes 6.000 us");
}

TEST(DynparOnSim, ADeviceWhoseKernelsCannotLaunchSaysSo) {
  sim::SimMachine machine(profile("h200"));
  Device& device = machine.device();
  EXPECT_THROW(device.reserve_device_launches(1), DeviceError);
  EXPECT_THROW(static_cast<void>(device.reserved_device_launches()), DeviceError);
}

}  // namespace

}  // namespace xferbench::test
