// Scenario together on simulated machines with two and eight GPUs.
#include <set>

#include "scenarios/together/case.hpp"
#include "sim/faulty_device.hpp"
#include "sim/sim_fixture.hpp"

namespace xferbench::test {

namespace {

std::vector<PlannedCase> group_cases(const Machine& machine, Words flags) {
  flags.insert(flags.begin(), "together");
  return cases_on(machine, flags);
}

std::vector<Result> run_group(Machine& machine, const Words& flags, bool verify = true) {
  return run_all(group_cases(machine, flags), quick_bench(machine.device(), verify));
}
std::vector<Result> time_group(Machine& machine, const Words& flags) { return run_group(machine, flags, false); }

double of_gpu(const Result& r, std::string_view name, int gpu) {
  const Metric* found = r.metric(name, gpu);
  if (found == nullptr) throw std::runtime_error(fmt::format("{} has no {} of GPU {}", r.config.key(), name, gpu));
  return found->value;
}

std::vector<Finding> found(std::span<const Result> results, std::string_view kind) {
  std::vector<Finding> all;
  for (Finding& f : conclude(scenarios(), results)) {
    if (f.kind == kind) all.push_back(std::move(f));
  }
  return all;
}

const std::vector<int> kTwo{0, 1};
const std::vector<int> kEight{0, 1, 2, 3, 4, 5, 6, 7};

// --- Patterns and groups ---------------------------------------------------------------------------------------------

TEST(GroupPatterns, SayWhoCopiesToWhom) {
  using enum GroupPattern;
  const auto ways = [](GroupPattern pattern) {
    std::vector<std::string> all;
    for (const GroupCopy& c : copies_of(pattern, 3)) {
      const bool p2p = c.direction == Direction::p2p;
      all.push_back(p2p ? fmt::format("{}: {}>{}", c.owner, c.from, c.to)
                        : fmt::format("{}: {}", c.owner, c.direction == Direction::h2d ? "in" : "out"));
    }
    return all;
  };
  EXPECT_EQ(ways(h2d), (Words{"0: in", "1: in", "2: in"}));
  EXPECT_EQ(ways(d2h), (Words{"0: out", "1: out", "2: out"}));
  EXPECT_EQ(ways(both), (Words{"0: in", "0: out", "1: in", "1: out", "2: in", "2: out"}));
  EXPECT_EQ(ways(ring), (Words{"0: 0>1", "1: 1>2", "2: 2>0"}));
  EXPECT_EQ(ways(all_to_all), (Words{"0: 0>1", "0: 0>2", "1: 1>2", "1: 1>0", "2: 2>0", "2: 2>1"}));
  EXPECT_EQ(ways(one_to_all), (Words{"1: 0>1", "2: 0>2"}));
  EXPECT_EQ(ways(all_to_one), (Words{"1: 1>0", "2: 2>0"}));
}

TEST(TogetherCases, AreThoseOfTheMachine) {
  sim::SimMachine two(profile("h200-x2"), kTwo);
  EXPECT_EQ(keys_of(group_cases(two, {"--pattern", "h2d"})),
            (Words{"together/pattern=h2d/group=0/memory=own/size=256MiB",
                   "together/pattern=h2d/group=1/memory=own/size=256MiB",
                   "together/pattern=h2d/group=0+1/memory=own/size=256MiB"}))
      << "a pair that is also the first two is there once";
  EXPECT_EQ(group_cases(two, {}).size(), 9U);
  EXPECT_EQ(keys_of(group_cases(two, {"--pattern", "ring"})), Words{"together/pattern=ring/group=0+1/size=256MiB"})
      << "nobody copies to himself";
  EXPECT_EQ(keys_of(group_cases(two, {"--pattern", "d2h", "--memory", "shared"})),
            Words{"together/pattern=d2h/group=0+1/memory=shared/size=256MiB"});
  sim::SimMachine eight(profile("h200-x8"), kEight);
  EXPECT_EQ(group_cases(eight, {"--pattern", "h2d"}).size(), 8U + 28U + 6U);
  EXPECT_EQ(keys_of(group_cases(eight, {"--pattern", "h2d", "--group", "2+5+7"})),
            Words{"together/pattern=h2d/group=2+5+7/memory=own/size=256MiB"});
}

TEST(TogetherCases, AreInTheOrderInWhichGpusWereAskedFor) {
  sim::SimMachine machine(profile("h200-x2"), {1, 0});
  EXPECT_EQ(keys_of(group_cases(machine, {"--pattern", "one-to-all", "--group", "pairs"})),
            Words{"together/pattern=one-to-all/group=1+0/size=256MiB"});
  const Result r = run_group(machine, {"--pattern", "h2d", "--size", "16M", "--group", "pairs"}).front();
  EXPECT_EQ(r.status, Status::ok) << r.reason;
  EXPECT_EQ(r.gpus, (std::vector{1, 0}));
  EXPECT_NEAR(of_gpu(r, "gpu_bandwidth", 1), of_gpu(r, "gpu_bandwidth", 0), 1);
}

TEST(TogetherCases, OfOneGpuAreLeftAndSaySo) {
  sim::SimMachine machine(profile("h200"));
  const auto cases = group_cases(machine, {"--group", "alone,pairs", "--pattern", "both"});
  EXPECT_EQ(keys_of(cases), (Words{"together/pattern=both/group=alone/memory=own/size=256MiB",
                                   "together/pattern=both/group=pairs/memory=own/size=256MiB"}));
  expect_all(run_all(cases, quick_bench(machine.device())), Status::skipped, "this run has one", 2);
}

TEST(TogetherCases, ThatMakeNoSenseAreNone) {
  const auto reason = [](const Words& flags) {
    Words command{"together", "--group"};
    command.insert(command.end(), flags.begin(), flags.end());
    const PlannedCase c = cases_of(command).front();
    return c.scenario->skip_reason(c.config, nullptr).value_or(SkipReason::unavailable("")).text;
  };
  EXPECT_NE(reason({"alone", "--pattern", "ring"}).find("--pattern ring"), std::string::npos);
  EXPECT_NE(reason({"0", "--pattern", "h2d", "--memory", "shared"}).find("--memory shared"), std::string::npos);
  EXPECT_EQ(reason({"0", "--pattern", "h2d"}), "");
  EXPECT_EQ(reason({"0+1", "--pattern", "all-to-one"}), "");
}

TEST(TogetherCases, OfAGpuThatIsNotThereAreSkipped) {
  sim::SimMachine machine(profile("h200-x2"), kTwo);
  expect_all(run_group(machine, {"--pattern", "h2d", "--group", "0+5"}), Status::skipped, "GPUs 0, 1 only", 1);
}

TEST(TogetherCases, BetweenGpusThatCannotReachEachOtherAreSkipped) {
  sim::SimMachine machine = strangers();
  expect_all(run_group(machine, {"--pattern", "ring,all-to-all", "--size", "1M"}), Status::skipped, "cannot access", 2);
  expect_all(run_group(machine, {"--pattern", "h2d", "--size", "1M"}), Status::ok, "", 3);
}

// --- Times -----------------------------------------------------------------------------------------------------------

TEST(TogetherOnTwo, CountsAllBytesOverTheMakespan) {
  sim::SimMachine machine(profile("h200-x2"), kTwo);
  const std::vector<Result> results = time_group(machine, {"--pattern", "h2d,d2h,both", "--size", "64M"});
  expect_all(results, Status::ok, "", 9);
  for (const Result& r : results) {
    const TogetherCase c = together_case(r.config);
    const double megabytes = 67.108864 * (c.pattern == GroupPattern::both ? 2 : 1) * (r.gpus.size() == 2 ? 2 : 1);
    EXPECT_NEAR(metric(r, "bandwidth"), megabytes / 1e3 / median(r, "together"), 1e-6) << r.config.key();
    EXPECT_EQ(r.gpus, c.gpus);
    EXPECT_EQ(r.metric("of_alone") != nullptr, c.gpus.size() == 2) << r.config.key();
    EXPECT_EQ(r.metric("h2d_bandwidth") != nullptr, c.pattern == GroupPattern::both) << r.config.key();
    EXPECT_TRUE(r.warnings.empty()) << r.warnings.front();
  }
}

TEST(TogetherOnTwo, SetsEachGpuBesideItselfAlone) {
  sim::SimMachine machine(profile("h200-x2"), kTwo);
  const Result r = time_group(machine, {"--pattern", "both", "--size", "64M", "--group", "0+1"}).front();
  ASSERT_EQ(r.status, Status::ok) << r.reason;
  double alone = 0;
  for (const int gpu : kTwo) {
    alone += of_gpu(r, "gpu_alone_bandwidth", gpu);
    EXPECT_NEAR(of_gpu(r, "gpu_of_alone", gpu), of_gpu(r, "gpu_bandwidth", gpu) / of_gpu(r, "gpu_alone_bandwidth", gpu),
                1e-9);
    EXPECT_LT(of_gpu(r, "gpu_of_alone", gpu), 0.95) << "the host's memory is not enough for both";
    EXPECT_NE(r.measurement("alone", gpu), nullptr);
    EXPECT_NE(r.measurement(kGpuEnd, gpu), nullptr);
  }
  EXPECT_NEAR(metric(r, "of_alone"), metric(r, "bandwidth") / alone, 1e-9);
  EXPECT_NE(r.measurement(kSinceOpening), nullptr);
  // H2D ends last; its end is the end of the whole group.
  EXPECT_LT(metric(r, "h2d_bandwidth"), metric(r, "d2h_bandwidth"));
  EXPECT_NEAR(median(r, "h2d"), median(r, "together"), 10e-6);
  EXPECT_GE(metric(r, "skew"), 0);
  EXPECT_LT(metric(r, "skew"), 10e-6) << "both GPUs have the same to do";
}

TEST(TogetherOnTwo, AloneIsWhatMemcpySays) {
  sim::SimMachine machine(profile("h200-x2"), kTwo);
  const Result group = time_group(machine, {"--pattern", "h2d", "--size", "64M", "--group", "0+1"}).front();
  const Result one = run_on(machine.device(), {"memcpy", "--dir", "h2d", "--host", "pinned", "--size", "64M"}).front();
  for (const int gpu : kTwo) EXPECT_NEAR(of_gpu(group, "gpu_alone_bandwidth", gpu), metric(one, "bandwidth"), 0.5);
}

TEST(TogetherOnTwo, SaysWhereCopiesAreTooShort) {
  sim::SimMachine machine(profile("h200-x2"), kTwo);
  const std::vector<Result> results = time_group(machine, {"--pattern", "ring", "--size", "1M"});
  ASSERT_EQ(results.front().status, Status::ok) << results.front().reason;
  EXPECT_NE(results.front().warnings.at(0).find("starting and joining 2 GPUs"), std::string::npos);
  const std::vector<Finding> shares = found(results, "shares");
  ASSERT_EQ(shares.size(), 1U);
  EXPECT_NE(shares.front().text.find("not decided"), std::string::npos) << shares.front().text;
  EXPECT_NE(shares.front().text.find("larger --size"), std::string::npos) << shares.front().text;
}

TEST(TogetherOnTwo, HasATimeline) {
  sim::SimMachine machine(profile("h200-x2"), kTwo);
  RunContext bench = quick_bench(machine.device());
  bench.trace = true;
  const Result r = run_all(group_cases(machine, {"--pattern", "h2d", "--size", "4M", "--group", "0+1"}), bench).front();
  ASSERT_TRUE(r.trace);
  std::set<int> gpus;
  for (const Activity& a : r.trace->activities) gpus.insert(static_cast<int>(a.gpu));
  EXPECT_EQ(gpus, (std::set{0, 1}));
}

// --- Verification ----------------------------------------------------------------------------------------------------

using CorruptedTwo = InterceptedSim<CorruptingObserver>;
using Passes = CorruptingObserver::Passes;

std::unique_ptr<Machine> two_gpus() { return std::make_unique<sim::SimMachine>(profile("h200-x2"), kTwo); }

/// Runs a case with the given corruption. Returns its result and the number of copies.
std::pair<Result, std::size_t> run_spoiled(const Words& command, const CorruptingObserver::Which& which) {
  CorruptedTwo spoiled(two_gpus(), which);
  RunContext bench = quick_bench(spoiled.device());
  const Result r = run_all(group_cases(spoiled.machine(), command), bench).front();
  return {r, spoiled.observer().seen()};
}

class GroupPayload : public testing::TestWithParam<Words> {};

/// The first copies prepare the payload; corrupting one of them must be noticed too.
TEST_P(GroupPayload, IsNoticedWhereItIsWrong) {
  Words command = GetParam();
  command.insert(command.end(), {"--group", "0+1", "--size", "64K"});
  const auto [clean, copies] = run_spoiled(command, {.nth = 0});
  ASSERT_EQ(clean.status, Status::ok) << clean.reason;
  ASSERT_GT(copies, 10U);
  // Every pattern makes at least three copies before sampling. Warm-up passes are not checked.
  for (std::size_t nth = 1; nth <= 3; ++nth) {
    const Result r = run_spoiled(command, {.nth = nth, .offset = 777 * nth}).first;
    EXPECT_EQ(r.status, Status::failed) << nth;
    EXPECT_NE(r.reason.find("wrong result at byte offset"), std::string::npos) << nth << ": " << r.reason;
  }
}

/// In the last round all timed passes are checked.
TEST_P(GroupPayload, IsNoticedInTimedPasses) {
  Words command = GetParam();
  command.insert(command.end(), {"--group", "0+1", "--size", "64K"});
  const Result r = run_spoiled(command, {.passes = Passes::timed, .and_all_after = true}).first;
  EXPECT_EQ(r.status, Status::failed);
  EXPECT_TRUE(r.reason.starts_with("timed pass ")) << r.reason;
  EXPECT_FALSE(r.measurements.empty()) << "what was sampled is kept";
}

INSTANTIATE_TEST_SUITE_P(OfEvery, GroupPayload,
                         testing::Values(Words{"--pattern", "h2d"}, Words{"--pattern", "d2h"},
                                         Words{"--pattern", "both"}, Words{"--pattern", "both", "--memory", "shared"},
                                         Words{"--pattern", "h2d", "--memory", "shared"}, Words{"--pattern", "ring"},
                                         Words{"--pattern", "all-to-all"}, Words{"--pattern", "one-to-all"},
                                         Words{"--pattern", "all-to-one"}));

/// Copies in streams that are never waited for.
TEST(GroupPayloads, ThatAreNotWaitedForAreWrong) {
  for (const auto& [pattern, direction] : {std::pair{"d2h", Direction::d2h}, std::pair{"ring", Direction::p2p}}) {
    std::vector<Stream> stray(2);
    Override how;
    how.copy = [&stray, wanted = direction](sim::SimStream& stream, const Copy& c) {
      const Stream& other = stray.at(stream.device().number());
      c.direction == wanted&& other != StreamView(stream) ? other.copy(c) : stream.SimStream::copy(c);
    };
    sim::SimMachine machine = machine_that(how, "h200-x2", kTwo);
    for (std::size_t i = 0; i < 2; ++i) stray[i] = machine.device(i).make_stream(StreamKind::nonblocking);
    const Words command{"--pattern", pattern, "--size", "64M", "--group", "0+1"};
    const Result r = run_group(machine, command).front();
    EXPECT_EQ(r.status, Status::failed) << pattern;
    EXPECT_NE(r.reason.find("wrong result"), std::string::npos) << pattern << ": " << r.reason;
    stray.clear();
  }
}

/// Waits for events do nothing, so only the timing waits for the copies.
TEST(GroupPayloads, WhoseEndsAreNotJoinedFail) {
  Override how;
  how.wait = [](sim::SimStream&, EventImpl&) {};
  for (const char* pattern : {"h2d", "d2h", "both", "ring"}) {
    sim::SimMachine machine = machine_that(how, "h200-x2", kTwo);
    const Result r = run_group(machine, {"--pattern", pattern, "--size", "16M", "--group", "0+1"}).front();
    EXPECT_EQ(r.status, Status::failed) << pattern;
    EXPECT_NE(r.reason.find("an event has not completed"), std::string::npos) << pattern << ": " << r.reason;
  }
}

TEST(GroupPayloads, TakeTheMemoryThatTheySay) {
  sim::SimMachine machine(profile("h200-x2"), kTwo);
  for (const PlannedCase& c : group_cases(machine, {"--pattern", "all", "--size", "1M", "--memory", "own,shared"})) {
    EXPECT_EQ(most_device_memory(c), c.scenario->needs(c.config).device) << c.config.key();
  }
}

TEST(GroupPayloads, ThatGoToAnothersPartAreWrong) {
  Override how;
  // Every H2D copy reads the first part of the buffer.
  const std::byte* first = nullptr;
  how.copy = [&first](sim::SimStream& stream, const Copy& c) {
    Copy other = c;
    if (c.direction == Direction::h2d && first == nullptr) first = c.source;
    if (c.direction == Direction::h2d) other.source = first;
    stream.SimStream::copy(other);
  };
  for (const char* memory : {"own", "shared"}) {
    first = nullptr;
    sim::SimMachine machine = machine_that(how, "h200-x2", kTwo);
    const Result r =
        run_group(machine, {"--pattern", "h2d", "--memory", memory, "--size", "64K", "--group", "0+1"}).front();
    EXPECT_EQ(r.status, Status::failed) << memory;
    EXPECT_NE(r.reason.find("H2D copy of GPU 1: wrong result"), std::string::npos) << r.reason;
  }
}

// --- Regions over several devices ------------------------------------------------------------------------------------

TEST(RegionOverTwo, TellsWhenEachStreamEnded) {
  sim::SimMachine machine(profile("h200-x8"), {0, 4});  // on different sockets: they share nothing
  const std::vector<std::size_t> megabytes{64, 16, 8};  // on GPU 0, GPU 1 and GPU 0
  std::vector<Stream> streams;
  std::vector<DeviceBuffer> on_gpu;
  std::vector<HostBuffer> on_host;
  for (std::size_t i = 0; i < 3; ++i) {
    Device& device = machine.device(i % 2);
    streams.push_back(device.make_stream(StreamKind::nonblocking));
    on_gpu.push_back(device.allocate_device(megabytes[i] << 20));
    on_host.push_back(device.allocate_host(megabytes[i] << 20, HostMemory::pinned));
  }
  const auto submit = [&] {
    for (std::size_t i = 0; i < 3; ++i) {
      const Direction direction = i == 2 ? Direction::d2h : Direction::h2d;
      if (direction == Direction::h2d) {
        streams[i].copy({on_gpu[i].data, on_host[i].data, on_gpu[i].bytes, direction});
      } else {
        streams[i].copy({on_host[i].data, on_gpu[i].data, on_gpu[i].bytes, direction});
      }
    }
  };
  RegionTimer timer(machine, {.name = "three",
                              .clock = Clock::event_gated,
                              .streams = {streams[0], streams[1], streams[2]},
                              .submit = submit,
                              .per_stream = true});
  const auto timing = timer.time();
  ASSERT_TRUE(timing);
  ASSERT_EQ(timing->stream_times.size(), 3U);
  EXPECT_NEAR(timing->stream_times[0], timing->elapsed, 10e-6) << "the longest";
  EXPECT_NEAR(timing->stream_times[1], (16 << 20) / profile("h200-x8").h2d_rate, 10e-6) << "nothing beside it";
  EXPECT_GT(timing->stream_times[2], (8 << 20) / profile("h200-x8").d2h_rate);
  EXPECT_LT(timing->stream_times[2], timing->stream_times[1]);
}

// --- Shared bottlenecks ----------------------------------------------------------------------------------------------

TEST(TogetherOnEight, NamesTheSocketsAndNothingElse) {
  sim::SimMachine machine(profile("h200-x8"), kEight);
  const std::vector<Result> results =
      time_group(machine, {"--pattern", "both", "--size", "16M", "--group", "pairs,growing"});
  const std::vector<Finding> bottleneck = found(results, "bottleneck");
  ASSERT_EQ(bottleneck.size(), 1U);
  EXPECT_TRUE(bottleneck.front().text.starts_with(
      "both ways: GPUs 0 to 3 share one bottleneck and 4 to 7 another: any two of "))
      << bottleneck.front().text;
  EXPECT_NE(bottleneck.front().text.find("; GPUs 0 to 3 at once get "), std::string::npos) << bottleneck.front().text;
  EXPECT_TRUE(bottleneck.front().text.ends_with("; these groups share no bottleneck with each other"))
      << bottleneck.front().text;
  const std::vector<Finding> shares = found(results, "shares");
  ASSERT_EQ(shares.size(), 28U);
  for (const Finding& f : shares) {
    const auto socket = [&f](std::size_t label) { return std::stoi(f.labels.at(label).second) / 4; };
    EXPECT_EQ(f.labels.at(1).first, "a");
    EXPECT_EQ(f.labels.at(3).second, socket(1) == socket(2) ? "shared" : "not shared") << f.text;
    EXPECT_EQ(f.metrics.at(0).name, "together_over_alone") << "a matrix is of the first";
    EXPECT_TRUE(f.detail) << "of what the sentence about all of them says";
  }
  const std::vector<Finding> all = found(results, "at-once");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_TRUE(all.front().text.starts_with("both ways: GPUs 0 to 7 at once get ")) << all.front().text;
}

TEST(TogetherOnEight, ClaimsNothingOfPairsThatWereNotMeasured) {
  sim::SimMachine machine(profile("h200-x8"), kEight);
  const std::vector<Result> results = time_group(machine, {"--pattern", "both", "--size", "16M", "--group", "growing"});
  const std::string text = found(results, "bottleneck").at(0).text;
  EXPECT_TRUE(text.starts_with("both ways: GPUs 0 and 1 share a bottleneck: together they get ")) << text;
  EXPECT_TRUE(text.ends_with("; not measured for 27 of 28 pairs")) << text;
}

TEST(TogetherOnEight, SaysWhatOnlyMoreThanTwoFill) {
  sim::SimMachine machine(profile("h200-x8"), kEight);
  const std::vector<Result> results =
      time_group(machine, {"--pattern", "h2d", "--size", "16M", "--group", "0+1,0+2,0+3,1+2,1+3,2+3,0+1+2,0+1+2+3"});
  EXPECT_EQ(found(results, "bottleneck").front().text,
            "host to GPU: no two GPUs share a bottleneck, but GPUs 0 to 3 at once do");
  const std::string text = found(results, "at-once").front().text;
  EXPECT_NE(text.find("already hit a limit that no pair reaches"), std::string::npos) << text;
}

TEST(TogetherOnEight, SetsOwnMemoryBesideShared) {
  sim::SimMachine machine(profile("h200-x8"), kEight);
  const std::vector<Result> results =
      time_group(machine, {"--pattern", "h2d", "--size", "16M", "--group", "growing", "--memory", "own,shared"});
  expect_all(results, Status::ok, "", 14);
  std::vector<Finding> memory = found(results, "memory");
  ASSERT_EQ(memory.size(), 7U);
  std::erase_if(memory, &Finding::detail);
  ASSERT_EQ(memory.size(), 1U) << "of the largest group";
  EXPECT_TRUE(memory.front().text.starts_with("host to GPU, GPUs 0 to 7: own memory is ")) << memory.front().text;
  EXPECT_TRUE(memory.front().text.ends_with(" times as fast as shared")) << memory.front().text;
}

TEST(TogetherOnTwo, SaysWhatTheyShareAndHowMuchItIs) {
  sim::SimMachine machine(profile("h200-x2"), kTwo);
  std::vector<Result> results = time_group(machine, {"--size", "64M"});
  const std::vector<Finding> shares = found(results, "shares");
  ASSERT_EQ(shares.size(), 3U);
  EXPECT_TRUE(shares[0].text.starts_with("host to GPU: GPUs 0 and 1 share no bottleneck: together they get 109."))
      << shares[0].text;
  EXPECT_TRUE(shares[2].text.starts_with("both ways: GPUs 0 and 1 share a bottleneck: together they get "))
      << shares[2].text;
  EXPECT_FALSE(shares[2].detail) << "there are only two";
  EXPECT_TRUE(found(results, "bottleneck").empty());
  for (Result& r : results) {
    for (Measurement& m : r.measurements) m.ci95.reset();
  }
  for (const Finding& f : found(results, "shares")) {
    EXPECT_EQ(f.labels.at(3).second, "undecided") << f.text;
    EXPECT_NE(f.text.find("too few samples"), std::string::npos) << f.text;
  }
}

TEST(TogetherFindings, OfFilesThatLackTheTimeAreRefused) {
  Result r(cases_of({"together", "--pattern", "h2d", "--group", "0+1"}).front().config);
  EXPECT_THROW(conclude(scenarios(), std::vector{r}), InputError);
}

TEST(GpusInWords, AreRangesWhereThreeFollowEachOther) {
  EXPECT_EQ(gpus_in_words({0}), "0");
  EXPECT_EQ(gpus_in_words({1, 0}), "0 and 1");
  EXPECT_EQ(gpus_in_words({0, 1, 2, 3}), "0 to 3");
  EXPECT_EQ(gpus_in_words({7, 0, 2, 4, 5, 6}), "0, 2 and 4 to 7");
  EXPECT_EQ(gpus_in_words({0, 1, 3, 4}), "0, 1, 3 and 4");
}

}  // namespace

}  // namespace xferbench::test
