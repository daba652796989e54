// Timelines of a real GPU, from CUPTI and from events.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "device/cuda/cuda_machine.hpp"
#include "device/cuda/cupti_trace.hpp"
#include "gpu/gpu_fixture.hpp"
#include "kernels/elementwise.hpp"
#include "measure/tracing.hpp"
#include "model/occupancy.hpp"

namespace xferbench::test {
namespace {

using Row = Activity::Row;

constexpr std::size_t kChunks = 8;
constexpr std::size_t kChunk = 4 << 20;  // bytes

// --- Names, without a GPU -------------------------------------------------------------------------------------------

TEST(TraceNames, OfCallsAreThoseThatEnqueueWork) {
  EXPECT_EQ(cuda::call_name("cudaMemcpyAsync_v3020"), "cudaMemcpyAsync");
  EXPECT_EQ(cuda::call_name("cudaLaunchKernel_ptsz_v7000"), "cudaLaunchKernel_ptsz");
  EXPECT_EQ(cuda::call_name("cudaStreamSynchronize_v3020"), "");
  EXPECT_EQ(cuda::call_name("cudaGetLastError_v3020"), "");
}

// --- Traces ----------------------------------------------------------------------------------------------------------

/// A pipeline over three streams: H2D, kernel, D2H for each chunk.
class SmallPipeline {
 public:
  explicit SmallPipeline(Device& device)
      : host_(device.allocate_host(kChunks * kChunk, HostMemory::pinned)),
        in_(device.allocate_device(kChunks * kChunk)),
        out_(device.allocate_device(kChunks * kChunk)) {
    for (int i = 0; i < 3; ++i) streams_.push_back(device.make_stream(StreamKind::nonblocking));
    device.preload(kernel(0));
  }

  Region region() {
    Region r;
    r.name = "pipeline";
    r.clock = Clock::event_gated;
    r.streams = {streams_.begin(), streams_.end()};
    r.operations = 3 * kChunks;
    r.submit = [this] {
      for (std::size_t i = 0; i < kChunks; ++i) {
        const StreamView stream = streams_[i % streams_.size()];
        const std::size_t at = i * kChunk;
        stream.copy({in_.data + at, host_.data + at, kChunk, Direction::h2d});
        stream.launch(kernel(i));
        stream.copy({host_.data + at, out_.data + at, kChunk, Direction::d2h});
      }
    };
    return r;
  }

  void fill() { streams_.front().fill(in_, std::byte{1}); }

 private:
  [[nodiscard]] kernels::Elementwise kernel(std::size_t chunk) const {
    const auto at = [chunk](const DeviceView& range) { return reinterpret_cast<float*>(range.data + chunk * kChunk); };
    return {kernels::ElementwiseOp::fma, {at(in_), nullptr, at(out_), kChunk / sizeof(float), 64}};
  }

  HostBuffer host_;
  DeviceBuffer in_;
  DeviceBuffer out_;
  std::vector<Stream> streams_;
};

std::vector<Activity> row_of(const Trace& trace, Row row) {
  std::vector<Activity> all;
  std::ranges::copy_if(trace.activities, std::back_inserter(all), [row](const Activity& a) { return a.row == row; });
  return all;
}

void expect_every_operation(const Trace& trace) {
  for (const Row row : {Row::h2d, Row::kernel, Row::d2h}) {
    const std::vector<Activity> all = row_of(trace, row);
    EXPECT_EQ(all.size(), kChunks) << to_text(row);
    for (const Activity& a : all) {
      EXPECT_EQ(a.bytes, row == Row::kernel ? 0 : kChunk);
      EXPECT_LT(a.begin, a.end);
      EXPECT_LT(a.stream, 3U);
    }
  }
  EXPECT_TRUE(row_of(trace, Row::internal).empty());
  // A copy engine runs one copy at a time; CUPTI's clock may round.
  for (const Row row : {Row::h2d, Row::d2h}) {
    EXPECT_GE(model::covered(trace, {row}), 0.99 * model::busy(trace, row)) << to_text(row);
  }
}

class TraceTest : public GpuTest {
 protected:
  /// The same GPU, traced with events.
  std::unique_ptr<Machine> by_events() { return cuda::open_machine({}, {}, cuda::TraceSource::events); }
};

TEST_F(TraceTest, ByCuptiHasEveryOperationAndNothingElse) {
  SmallPipeline pipeline(device());
  const Trace trace = trace_pass(machine(), pipeline.region());
  if (trace.source != "cupti") GTEST_SKIP() << "CUPTI cannot be used here: " << trace.note;
  expect_every_operation(trace);
  EXPECT_EQ(trace.note, "");
  for (const Activity& a : row_of(trace, Row::kernel)) EXPECT_EQ(a.name, "elementwise");
  // Two copies and a kernel per chunk, with events and waits in between, but without the gate.
  const std::vector<Activity> calls = row_of(trace, Row::host);
  const auto count = [&calls](std::string_view beginning) {  // variants of a call have longer names
    const auto begins = [beginning](const Activity& a) { return a.name.starts_with(beginning); };
    return static_cast<std::size_t>(std::ranges::count_if(calls, begins));
  };
  EXPECT_EQ(count("cudaMemcpyAsync"), 2 * kChunks);
  EXPECT_EQ(count("cudaLaunchKernel"), kChunks);
  EXPECT_NEAR(model::makespan(trace), trace.event_makespan, 0.05 * trace.event_makespan);
  EXPECT_GT(model::concurrency(trace), 1.2);
}

TEST_F(TraceTest, ByCuptiCanBeRepeatedAndLeavesNothingBehind) {
  SmallPipeline pipeline(device());
  RegionTimer timer(machine(), pipeline.region());
  for (int i = 0; i < 10; ++i) static_cast<void>(timer.time());
  const auto before = timer.time();
  for (int i = 0; i < 3; ++i) {
    const Trace trace = trace_pass(machine(), pipeline.region());
    expect_every_operation(trace);
  }
  for (int i = 0; i < 10; ++i) static_cast<void>(timer.time());
  const auto after = timer.time();
  ASSERT_TRUE(before && after);
  EXPECT_LT(after->elapsed, 1.2 * before->elapsed) << "it is still being watched";
}

TEST_F(TraceTest, ByCuptiShowsFillsInsideTheGpu) {
  SmallPipeline pipeline(device());
  machine().tracer().start();
  pipeline.fill();
  const Trace trace = machine().tracer().stop();
  const std::vector<Activity> fills = row_of(trace, Row::internal);
  ASSERT_EQ(fills.size(), 1U);
  EXPECT_EQ(fills[0].name, "fill");
  EXPECT_EQ(fills[0].bytes, kChunks * kChunk);
}

TEST_F(TraceTest, ByEventsHasEveryOperationToo) {
  const auto watched = by_events();
  SmallPipeline pipeline(watched->device());
  const Trace trace = trace_pass(*watched, pipeline.region());
  EXPECT_EQ(trace.source, "events");
  EXPECT_EQ(trace.note, "");
  expect_every_operation(trace);
  for (const Activity& a : row_of(trace, Row::kernel)) EXPECT_EQ(a.name, "fma");
  EXPECT_EQ(row_of(trace, Row::host).size(), 3 * kChunks);
  EXPECT_NEAR(model::makespan(trace), trace.event_makespan, 0.1 * trace.event_makespan);
}

TEST_F(TraceTest, ByEventsSaysThatGraphsAreMissing) {
  const auto watched = by_events();
  const Stream stream = watched->device().make_stream(StreamKind::nonblocking);
  const DeviceBuffer memory = watched->device().allocate_device(1 << 20);
  watched->tracer().start();
  const Graph graph = stream.capture([&] { stream.fill(memory, std::byte{1}); });
  stream.replay(graph);
  const Trace trace = watched->tracer().stop();
  EXPECT_TRUE(trace.activities.empty());
  EXPECT_NE(trace.note.find("graphs"), std::string::npos) << trace.note;
}

TEST_F(TraceTest, ByCuptiSeesIntoGraphs) {
  const DeviceBuffer memory = device().allocate_device(1 << 20);
  const Graph graph = stream().capture([&] { stream().fill(memory, std::byte{1}); });
  machine().tracer().start();
  stream().replay(graph);
  const Trace trace = machine().tracer().stop();
  if (trace.source != "cupti") GTEST_SKIP() << "CUPTI cannot be used here: " << trace.note;
  EXPECT_EQ(row_of(trace, Row::internal).size(), 1U);
}

}  // namespace
}  // namespace xferbench::test
