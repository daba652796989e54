// Recordings of the simulated device: each kind of record that a program causes.
#include "device/sim/recorder.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "device/open.hpp"
#include "recording/recording_request.hpp"
#include "sim/sim_programs.hpp"
#include "support/files.hpp"

namespace xferbench::test {
namespace {

using recording::CopyKind;
using recording::Memory;
using recording::StreamFlag;
using recording::SyncKind;
using recording::Time;

constexpr Time kBegin = 1'000'000'000;  // virtual time in nanoseconds
constexpr std::size_t kRecorded = 4 * MiB;

Recording recording_of(const SimProgram& program, const RecordingRequest& request = {}) {
  return recorded(program, request).recording;
}

std::vector<std::string> names_of_calls(const Recording& r) {
  std::vector<std::string> names;
  for (const recording::Call& call : r.calls) names.emplace_back(r.name(call.name));
  return names;
}

/// The only call of that name; throws if there is none or several.
const recording::Call& call_of(const Recording& r, std::string_view name) {
  const auto is_it = [&](const recording::Call& call) { return r.name(call.name) == name; };
  if (std::ranges::count_if(r.calls, is_it) != 1) throw std::runtime_error(fmt::format("not one {}", name));
  return *std::ranges::find_if(r.calls, is_it);
}

TEST(SimRecorder, TellsOfTheProcessAndItsMachine) {
  const Recording r = recorded([](ProgramMachine& m) { m.work(0.5); }, {}, "h200-x2", {0, 1}).recording;
  EXPECT_EQ(r.process.pid, static_cast<std::uint32_t>(getpid()));
  EXPECT_EQ(r.process.backend, recording::Backend::simulated);
  EXPECT_EQ(r.name(r.process.profile), "h200-x2");
  EXPECT_NE(r.name(r.process.command).find("sim_tests"), std::string_view::npos);
  EXPECT_EQ(r.process.begin, kBegin);
  ASSERT_EQ(r.devices.size(), 2U);
  EXPECT_EQ(r.devices[1].id, 1U);
  EXPECT_EQ(r.name(r.devices[1].name), "NVIDIA H200");
  ASSERT_TRUE(r.end);
  EXPECT_EQ(r.end->reason, recording::EndReason::exit);
  EXPECT_EQ(r.end->time, kBegin + 500'000'000);
}

TEST(SimRecorder, HasCallsOfCudaByTheirNames) {
  const Recording r = recording_of([](ProgramMachine& m) {
    const HostView host = m.host(HostMemory::pinned, kRecorded);
    const DeviceView gpu = m.gpu(kRecorded);
    m.host(HostMemory::pageable, kRecorded);
    const Stream stream = m.stream();
    const Event event = m.device().make_event(EventKind::ordering);
    stream.copy(copy_in(gpu, host, 0, kRecorded));
    stream.fill(gpu, std::byte{1});
    launch(stream, 1e-6);
    stream.record(event);
    stream.wait(event);
    event.synchronize();
    stream.synchronize();
    m.device().synchronize();
    m.device().copy_blocking(copy_out(host, gpu, 0, kRecorded));
  });
  EXPECT_EQ(names_of_calls(r),
            (std::vector<std::string>{"cudaMallocHost", "cudaMalloc", "cudaMemcpyAsync", "cudaMemsetAsync",
                                      "cudaLaunchKernel", "cudaEventRecord", "cudaStreamWaitEvent",
                                      "cudaEventSynchronize", "cudaStreamSynchronize", "cudaDeviceSynchronize",
                                      "cudaMemcpy", "cudaFree", "cudaFreeHost"}));
}

TEST(SimRecorder, TellsWhereCopiesComeFromAndGoTo) {
  const Recording r = recording_of([](ProgramMachine& m) {
    const HostView pinned = m.host(HostMemory::pinned, kRecorded);
    const HostView pageable = m.host(HostMemory::pageable, kRecorded);
    const DeviceView gpu = m.gpu(kRecorded);
    const Stream stream = m.stream();
    stream.copy(copy_in(gpu, pinned, 0, kRecorded));
    stream.copy(copy_out(pageable, gpu, 0, kRecorded));
    stream.copy({gpu.data, gpu.data + KiB, KiB, Direction::d2d});
    stream.synchronize();
    m.device().copy_blocking(copy_in(gpu, pageable, 0, 8));
    m.device().synchronize();
  });
  ASSERT_EQ(r.copies.size(), 4U);
  EXPECT_EQ(r.copies[0].kind, CopyKind::h2d);
  EXPECT_EQ(r.copies[0].bytes, kRecorded);
  EXPECT_EQ(r.copies[0].source, Memory::pinned);
  EXPECT_EQ(r.copies[0].destination, Memory::device);
  EXPECT_EQ(r.copies[0].asynchronous, 1U);
  EXPECT_EQ(r.copies[1].kind, CopyKind::d2h);
  EXPECT_EQ(r.copies[1].source, Memory::device);
  EXPECT_EQ(r.copies[1].destination, Memory::pageable);
  EXPECT_EQ(r.copies[1].channel, recording::Channel::copy_engine);
  EXPECT_EQ(r.copies[2].kind, CopyKind::d2d);
  EXPECT_EQ(r.copies[3].source, Memory::pageable);
  EXPECT_EQ(r.copies[3].asynchronous, 0U);
  EXPECT_EQ(r.copies[3].channel, recording::Channel::compute);  // the driver inlines small data in its commands
  for (const recording::Copy& copy : r.copies) EXPECT_LT(copy.on.begin, copy.on.end);
}

TEST(SimRecorder, TellsTheOtherEndOfCopiesBetweenGpus) {
  const auto program = [](ProgramMachine& m) {
    Device& other = m.machine().device(1);
    const DeviceView from = m.gpu(kRecorded);
    const DeviceBuffer to = other.allocate_device(kRecorded);
    const Stream stream = m.stream();
    stream.copy({to.data, from.data, kRecorded, Direction::p2p});
    stream.synchronize();
  };
  const Recording r = recorded(program, {}, "h200-x2", {0, 1}).recording;
  ASSERT_EQ(r.copies.size(), 1U);
  EXPECT_EQ(r.copies[0].kind, CopyKind::p2p);
  EXPECT_EQ(r.copies[0].on.device, 0U);
  EXPECT_EQ(r.copies[0].peer, 1U);
}

TEST(SimRecorder, KnowsStreamsAndWhatTheyWaitFor) {
  const Recording r = recording_of([](ProgramMachine& m) {
    const std::array streams{m.stream(StreamKind::nonblocking), m.stream(StreamKind::blocking),
                             m.stream(StreamKind::legacy_default)};
    for (const Stream& stream : streams) launch(stream, 1e-6);
    m.device().synchronize();
  });
  std::map<std::uint32_t, StreamFlag> flags;
  for (const recording::Stream& stream : r.streams) flags[stream.stream] = stream.flag;
  ASSERT_EQ(r.kernels.size(), 3U);
  std::vector<StreamFlag> of_kernels;
  for (const recording::Kernel& kernel : r.kernels) of_kernels.push_back(flags.at(kernel.on.stream));
  EXPECT_EQ(of_kernels, (std::vector{StreamFlag::non_blocking, StreamFlag::blocking, StreamFlag::legacy}));
}

TEST(SimRecorder, TiesOperationsToTheirCalls) {
  const Recording r = recording_of([](ProgramMachine& m) {
    const Stream stream = m.stream();
    launch(stream, 1e-3);
    stream.synchronize();
  });
  const recording::Call& call = call_of(r, "cudaLaunchKernel");
  ASSERT_EQ(r.kernels.size(), 1U);
  EXPECT_EQ(r.kernels[0].on.correlation, call.correlation);
  EXPECT_EQ(r.name(r.kernels[0].name), "delay");
  EXPECT_GE(r.kernels[0].on.begin, call.end);
  EXPECT_EQ(r.kernels[0].on.end - r.kernels[0].on.begin, 1'000'000U);
  const recording::Call& wait = call_of(r, "cudaStreamSynchronize");
  ASSERT_EQ(r.synchronizations.size(), 1U);
  EXPECT_EQ(r.synchronizations[0].kind, SyncKind::stream);
  EXPECT_EQ(r.synchronizations[0].correlation, wait.correlation);
  EXPECT_EQ(r.synchronizations[0].stream, r.kernels[0].on.stream);
  EXPECT_EQ(r.synchronizations[0].end, wait.end);
  EXPECT_GT(wait.end, r.kernels[0].on.end);
}

TEST(SimRecorder, TellsEachRecordOfAnEventApart) {
  const Recording r = recording_of([](ProgramMachine& m) {
    const Stream first = m.stream();
    const Stream second = m.stream();
    const Event event = m.device().make_event(EventKind::ordering);
    first.record(event);
    second.wait(event);
    first.record(event);
    event.synchronize();
    m.device().make_event(EventKind::ordering).synchronize();  // an event that was never recorded
  });
  ASSERT_EQ(r.events.size(), 2U);
  EXPECT_EQ(r.events[0].event, r.events[1].event);
  EXPECT_NE(r.events[0].record, r.events[1].record);
  ASSERT_EQ(r.synchronizations.size(), 3U);
  EXPECT_EQ(r.synchronizations[0].kind, SyncKind::stream_wait_event);
  EXPECT_EQ(r.synchronizations[0].event_record, r.events[0].record);
  EXPECT_NE(r.synchronizations[0].stream, r.events[0].stream);
  EXPECT_EQ(r.synchronizations[1].kind, SyncKind::event);
  EXPECT_EQ(r.synchronizations[1].event_record, r.events[1].record);
  EXPECT_EQ(r.synchronizations[2].event_record, 0U);
}

TEST(SimRecorder, HasTheNodesOfGraphs) {
  const Recording r = recording_of([](ProgramMachine& m) {
    const Stream stream = m.stream();
    const Graph graph = stream.capture([&] {
      launch(stream, 1e-6);
      launch(stream, 1e-6);
    });
    stream.replay(graph);
    stream.synchronize();
  });
  const recording::Call& launched = call_of(r, "cudaGraphLaunch");
  ASSERT_EQ(r.kernels.size(), 2U);
  for (const recording::Kernel& kernel : r.kernels) EXPECT_EQ(kernel.on.correlation, launched.correlation);
  EXPECT_NE(r.kernels[0].on.graph_node, 0U);
  EXPECT_NE(r.kernels[0].on.graph_node, r.kernels[1].on.graph_node);
}

TEST(SimRecorder, TellsThreadsApart) {
  const Recording r = recording_of([](ProgramMachine& m) {
    const Stream own = m.stream();
    const Stream other = m.stream();
    const auto thread = m.machine().host().start_thread([&] {
      launch(other, 1e-3);
      other.synchronize();
    });
    launch(own, 1e-3);
    own.synchronize();
    thread->join();
  });
  std::map<std::uint32_t, std::size_t> calls;
  for (const recording::Call& call : r.calls) ++calls[call.thread];
  EXPECT_EQ(calls, (std::map<std::uint32_t, std::size_t>{{1, 2}, {2, 2}}));
  ASSERT_EQ(r.kernels.size(), 2U);
  EXPECT_NE(r.kernels[0].on.correlation, r.kernels[1].on.correlation);
}

TEST(SimRecorder, HasNothingOfWhatOnlyMeasures) {
  const Recording r = recording_of([](ProgramMachine& m) {
    const HostView slots = m.host(HostMemory::pinned, kRecorded);
    const Stream stream = m.stream();
    const Gate gate = m.machine().make_gate();
    gate.close(stream);
    stream.stamp(reinterpret_cast<std::uint64_t*>(slots.data));
    launch(stream, 1e-6);
    gate.open();
    stream.synchronize();
  });
  EXPECT_EQ(names_of_calls(r),
            (std::vector<std::string>{"cudaMallocHost", "cudaLaunchKernel", "cudaStreamSynchronize", "cudaFreeHost"}));
  EXPECT_EQ(r.kernels.size(), 1U);
}

TEST(SimRecorder, HasRangesThatNest) {
  const Recording r = recording_of([](ProgramMachine& m) {
    Tracer& tracer = m.machine().tracer();
    tracer.begin_range("outer");
    m.work(1e-3);
    tracer.begin_range("inner");
    m.work(1e-3);
    tracer.end_range();
    tracer.end_range();
    tracer.end_range();  // has no matching begin
    tracer.begin_range("open");
  });
  ASSERT_EQ(r.ranges.size(), 3U);
  EXPECT_EQ(r.name(r.ranges[0].name), "outer");
  EXPECT_EQ(r.ranges[0].end - r.ranges[0].begin, 2'000'000U);
  EXPECT_EQ(r.name(r.ranges[1].name), "inner");
  EXPECT_EQ(r.ranges[1].end - r.ranges[1].begin, 1'000'000U);
  EXPECT_EQ(r.name(r.ranges[2].name), "open");
  EXPECT_EQ(r.ranges[2].end, 0U);
}

TEST(SimRecorder, SaysWhichCallsFailed) {
  const Recording r = recording_of([](ProgramMachine& m) {
    EXPECT_THROW(m.gpu(std::size_t{1} << 60U), DeviceError);
    m.gpu(kRecorded);
  });
  EXPECT_NE(r.calls.at(0).result, 0);
  EXPECT_EQ(r.calls.at(1).result, 0);
}

// --- Recording requests ---------------------------------------------------------------------------------------------

void ten_kernels(ProgramMachine& m) {
  const Stream stream = m.stream();
  for (int i = 0; i < 10; ++i) {
    launch(stream, 1e-6);
    stream.synchronize();
    m.work(0.1);
  }
}

TEST(SimRecorder, EndsWithSoManyRecordsAsWereAskedFor) {
  const Recording r = recording_of(ten_kernels, {.folder = {}, .max_records = 20});
  EXPECT_EQ(r.process.backend, recording::Backend::simulated);
  ASSERT_TRUE(r.end);
  EXPECT_EQ(r.end->reason, recording::EndReason::max_records);
  EXPECT_LE(r.calls.size() + r.kernels.size() + r.synchronizations.size(), 20U);
  EXPECT_GT(r.kernels.size(), 3U);
}

TEST(SimRecorder, HasTheTimeThatWasAskedFor) {
  const Recording r = recording_of(ten_kernels, {.folder = {}, .from = 0.25, .seconds = 0.5});
  EXPECT_EQ(r.kernels.size(), 5U);
  EXPECT_EQ(r.streams.size(), 1U);
  for (const recording::Call& call : r.calls) {
    EXPECT_GE(call.begin, kBegin + 250'000'000);
    EXPECT_LE(call.begin, kBegin + 750'000'000);
  }
}

TEST(SimRecorder, LeavesTheProgramAloneWhereItCannotWrite) {
  ProgramMachine machine({.folder = "/no/such/folder"});
  EXPECT_NO_THROW(ten_kernels(machine));
}

/// Sets the environment variables of the request while it lives.
class Asked {
 public:
  explicit Asked(const RecordingRequest& request) : variables_(to_environment(request)) {
    for (const auto& [name, value] : variables_) setenv(name.c_str(), value.c_str(), 1);
  }
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;
  ~Asked() {
    for (const auto& [name, value] : variables_) unsetenv(name.c_str());
  }

 private:
  std::vector<std::pair<std::string, std::string>> variables_;
};

TEST(SimRecorder, IsAskedForByTheEnvironment) {
  const test::TemporaryFolder folder;
  static_cast<void>(open_simulated("h200"));
  {
    const Asked asked({.folder = folder.path(), .only_ranges = true});
    static_cast<void>(open_simulated("h200"));  // costs of this machine are not real ones
  }
  EXPECT_EQ(folder.count(), 0);
  {
    const Asked asked({.folder = folder.path()});
    static_cast<void>(open_simulated("h200"));
  }
  EXPECT_EQ(folder.count(), 1);
  const Recording r = read_recording(std::filesystem::directory_iterator(folder.path())->path().string());
  EXPECT_EQ(r.name(r.process.profile), "h200");
}

}  // namespace
}  // namespace xferbench::test
