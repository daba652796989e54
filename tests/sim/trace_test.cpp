// Timelines on the simulated device, whose times are exact.

#include <array>
#include <map>

#include "measure/tracing.hpp"
#include "model/occupancy.hpp"
#include "sim/sim_fixture.hpp"

namespace xferbench::test {
namespace {

using Row = Activity::Row;

constexpr std::uint64_t kTracedBytes = 16 << 20;

Result traced_overlap(Device& device, std::uint64_t streams, std::uint64_t chunks, bool trace = true) {
  RunContext bench = quick_bench(device);
  bench.trace = trace;
  Result result =
      run_all(
          overlap_cases({"--size", "16M", "--streams", std::to_string(streams), "--chunks", std::to_string(chunks)}),
          bench)
          .front();
  EXPECT_EQ(result.status, Status::ok) << result.reason;
  return result;
}

std::vector<Activity> row_of(const Trace& trace, Row row) {
  std::vector<Activity> all;
  std::ranges::copy_if(trace.activities, std::back_inserter(all), [row](const Activity& a) { return a.row == row; });
  return all;
}

class TraceOfOverlap : public testing::TestWithParam<const char*> {
 protected:
  sim::SimMachine machine_{profile(GetParam())};
  Device& device_ = machine_.device();
};

TEST_P(TraceOfOverlap, ShowsEveryOperationOnce) {
  const Trace trace = *traced_overlap(device_, 4, 8).trace;
  EXPECT_EQ(trace.source, "simulated");
  EXPECT_EQ(trace.note, "");
  for (const Row row : {Row::h2d, Row::d2h}) {
    std::uint64_t bytes = 0;
    for (const Activity& a : row_of(trace, row)) bytes += a.bytes;
    EXPECT_EQ(row_of(trace, row).size(), 8U);
    EXPECT_EQ(bytes, kTracedBytes);
  }
  EXPECT_EQ(row_of(trace, Row::kernel).size(), 8U);
  EXPECT_EQ(row_of(trace, Row::kernel).front().name, "fma");
  EXPECT_EQ(row_of(trace, Row::internal).size(), 0U);
  std::map<unsigned, std::size_t> streams;
  for (const Activity& a : row_of(trace, Row::h2d)) ++streams[a.stream];
  EXPECT_EQ(streams, (std::map<unsigned, std::size_t>{{0, 2}, {1, 2}, {2, 2}, {3, 2}}));
}

TEST_P(TraceOfOverlap, IntervalsOfAnEngineNeverOverlap) {
  const Trace trace = *traced_overlap(device_, 4, 8).trace;
  std::vector<std::vector<Activity>> engines{row_of(trace, Row::kernel)};
  if (profile(GetParam()).copy_engines > 1) {
    engines.push_back(row_of(trace, Row::h2d));
    engines.push_back(row_of(trace, Row::d2h));
  } else {
    engines.push_back(row_of(trace, Row::h2d));
    std::ranges::copy(row_of(trace, Row::d2h), std::back_inserter(engines.back()));
    std::ranges::sort(engines.back(), {}, &Activity::begin);
  }
  for (const auto& engine : engines) {
    for (std::size_t i = 1; i < engine.size(); ++i) EXPECT_GE(engine[i].begin, engine[i - 1].end - 1e-12);
  }
}

TEST_P(TraceOfOverlap, LastsAsLongAsTheEventsSay) {
  const Result result = traced_overlap(device_, 4, 8);
  const Trace& trace = *result.trace;
  EXPECT_NEAR(trace.event_makespan, result.measurement("pipeline")->median, 1e-12) << "it is not such a pass";
  // The events also enclose those that fork and join the streams.
  const double fork_and_join = trace.event_makespan - model::makespan(trace);
  EXPECT_GE(fork_and_join, -1e-12);
  EXPECT_LE(fork_and_join, 12 * profile(GetParam()).event_cost);
}

TEST_P(TraceOfOverlap, HostCallsFollowEachOther) {
  const Trace trace = *traced_overlap(device_, 2, 4).trace;
  const std::vector<Activity> calls = row_of(trace, Row::host);
  const auto copies = std::ranges::count(calls, "copy H2D", &Activity::name);
  EXPECT_EQ(copies, 4);
  for (std::size_t i = 1; i < calls.size(); ++i) EXPECT_GE(calls[i].begin, calls[i - 1].end - 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Profiles, TraceOfOverlap, testing::Values("h200", "h200-one-engine"));

using TraceOnSim = SimTest;

TEST_F(TraceOnSim, TellsHowMuchRunsAtOnce) {
  const Result several = traced_overlap(device_, 4, 16);
  const Result one = traced_overlap(device_, 1, 1);
  EXPECT_NEAR(one.metric("concurrency")->value, 1, 1e-9);
  EXPECT_GT(several.metric("concurrency")->value, 1.5);
  EXPECT_NEAR(several.metric("kernel_concurrency")->value, 1, 1e-9);
  EXPECT_EQ(several.label("trace_source"), "simulated");
}

TEST_F(TraceOnSim, IsMadeOnlyWhenAskedForAndLeavesTheMeasurementsAsTheyAre) {
  sim::SimMachine unwatched(profile_);
  const Result with = traced_overlap(device_, 2, 4);
  const Result without = traced_overlap(unwatched.device(), 2, 4, false);
  EXPECT_FALSE(without.trace);
  EXPECT_EQ(without.metric("concurrency"), nullptr);
  EXPECT_EQ(without.label("trace_source"), "");
  EXPECT_EQ(with.measurement("pipeline")->samples, without.measurement("pipeline")->samples);
}

TEST_F(TraceOnSim, OfARegionThatThrowsLeavesNobodyWatching) {
  const Stream s = stream();
  Region region;
  region.name = "broken";
  region.streams = {s};
  region.submit = [] { throw DeviceError("submitting", "test"); };
  EXPECT_THROW(static_cast<void>(trace_pass(machine_, region)), DeviceError);
  EXPECT_TRUE(machine_.tracer().stop().activities.empty());
}

TEST_F(TraceOnSim, ShowsFillsAndCopiesInsideTheGpuInARowOfTheirOwn) {
  const Stream s = stream();
  Region region;
  region.name = "inside";
  region.streams = {s};
  region.submit = [&] {
    s.fill(gpu_, std::byte{1});
    s.copy({gpu_.data, gpu_.data + (1 << 20), 1 << 20, Direction::d2d});
  };
  const std::vector<Activity> inside = row_of(trace_pass(machine_, region), Row::internal);
  ASSERT_EQ(inside.size(), 2U);
  EXPECT_EQ(inside[0].name, "fill");
  EXPECT_EQ(inside[0].bytes, kBytes);
  EXPECT_EQ(inside[1].name, "copy D2D");
  EXPECT_EQ(inside[1].bytes, 1U << 20);
}

TEST(TraceOfTwoGpus, TellsWhatEachOfThemDid) {
  constexpr std::size_t kBytes = 1 << 20;
  sim::SimMachine machine(profile("h200-x2"), {0, 1});
  machine.device(1).set_peer_access(machine.device(0), true);
  const std::array<Stream, 2> streams{machine.device(0).make_stream(StreamKind::nonblocking),
                                      machine.device(1).make_stream(StreamKind::nonblocking)};
  const std::array<DeviceBuffer, 2> gpus{machine.device(0).allocate_device(kBytes),
                                         machine.device(1).allocate_device(kBytes)};
  const HostBuffer host = machine.device(0).allocate_host(kBytes, HostMemory::pinned);
  const Event arrived = machine.device(0).make_event(EventKind::ordering);
  machine.tracer().start();
  streams[0].copy({gpus[0].data, host.data, kBytes, Direction::h2d});
  streams[0].record(arrived);
  streams[1].wait(arrived);
  streams[1].copy({gpus[1].data, gpus[0].data, kBytes, Direction::p2p});
  const Trace trace = machine.tracer().stop();
  const std::vector<Activity> in = row_of(trace, Row::h2d);
  const std::vector<Activity> on = row_of(trace, Row::peer);
  ASSERT_EQ(in.size(), 1U);
  ASSERT_EQ(on.size(), 1U);
  EXPECT_EQ(in[0].gpu, 0U);
  EXPECT_EQ(on[0].gpu, 1U);
  EXPECT_EQ(on[0].name, "copy P2P");
  EXPECT_EQ(on[0].bytes, kBytes);
  EXPECT_NE(on[0].stream, in[0].stream);
  EXPECT_GT(on[0].begin, in[0].end + profile("h200-x2").peer_event_cost);
}

}  // namespace
}  // namespace xferbench::test
