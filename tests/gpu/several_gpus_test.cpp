// Copies, gates, latency and timelines across several real GPUs. Skipped with fewer than two.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/error.hpp"
#include "core/units.hpp"
#include "device/cuda/cuda_machine.hpp"
#include "device/open.hpp"
#include "gpu/faulty_kernel.hpp"
#include "kernels/chase.hpp"
#include "kernels/copy.hpp"
#include "kernels/count.hpp"
#include "kernels/delay.hpp"
#include "measure/pattern.hpp"
#include "measure/sampler.hpp"
#include "results/metric_names.hpp"
#include "scenarios/common/chase.hpp"
#include "scenarios/common/peer_access.hpp"

namespace xferbench::test {

namespace {

using Row = Activity::Row;

const GpuSelection kAll{.numbers = {}};

/// Opens all GPUs; null if there are fewer than two, with the reason on standard output.
std::unique_ptr<Machine> with_all_gpus(cuda::TraceSource by = cuda::TraceSource::cupti_or_events) {
  try {
    auto machine = cuda::open_machine(kAll, {}, by);
    if (machine->devices().size() > 1) return machine;
    std::puts("there is only one GPU here");
  } catch (const NoDeviceError& error) {
    std::printf("no GPU here: %s\n", error.what());
  }
  return nullptr;
}

class SeveralGpus : public testing::Test {
 protected:
  static constexpr std::size_t kBytes = (3U << 20) + 5;

  void SetUp() override {
    machine_ = with_all_gpus();
    if (!machine_) GTEST_SKIP() << "needs two GPUs";
    for (Device* device : machine_->devices()) streams_.push_back(device->make_stream(StreamKind::nonblocking));
  }

  Machine& machine() { return *machine_; }
  Device& device(std::size_t number) { return machine_->device(number); }
  const Stream& stream(std::size_t number) { return streams_[number]; }
  [[nodiscard]] std::size_t count() const { return streams_.size(); }
  const Environment& environment() { return device(0).capabilities().environment; }
  bool can_reach(std::size_t from, std::size_t to) {
    return environment().link(environment().number_of(from), environment().number_of(to)).access;
  }

  /// A buffer on GPU `number`, filled from `seed`.
  DeviceBuffer filled(std::size_t number, std::uint64_t seed, GpuMemory kind = GpuMemory::whole) {
    DeviceBuffer buffer = device(number).allocate_device(kBytes, kind);
    const HostBuffer host = device(number).allocate_host(kBytes, HostMemory::pinned);
    pattern::fill_bytes({host.data, kBytes}, seed);
    device(number).copy_and_wait({buffer.data, host.data, kBytes, Direction::h2d});
    return buffer;
  }
  DeviceBuffer poisoned(std::size_t number, GpuMemory kind = GpuMemory::whole) {
    DeviceBuffer buffer = device(number).allocate_device(kBytes, kind);
    stream(number).fill(buffer, pattern::kPoison);
    device(number).synchronize();
    return buffer;
  }
  void expect_filled(std::size_t number, const DeviceView& buffer, std::uint64_t seed) {
    const HostBuffer host = device(number).allocate_host(kBytes, HostMemory::pinned);
    device(number).copy_and_wait({host.data, buffer.data, kBytes, Direction::d2h});
    const auto wrong = pattern::check_bytes({host.data, kBytes}, seed);
    EXPECT_FALSE(wrong.has_value()) << "on GPU " << number << ": " << wrong->describe();
  }
  /// Copies from GPU `from` to GPU `to` in a stream of GPU `by`, and checks every byte.
  void expect_copied(std::size_t from, std::size_t to, std::size_t by) {
    static std::uint64_t seed = 0;
    const DeviceBuffer source = filled(from, ++seed);
    const DeviceBuffer destination = poisoned(to);
    stream(by).copy({destination.data, source.data, kBytes, Direction::p2p});
    stream(by).synchronize();
    expect_filled(to, destination, seed);
  }

 private:
  std::unique_ptr<Machine> machine_;
  std::vector<Stream> streams_;
};

TEST_F(SeveralGpus, AreDescribedEachAndTogether) {
  ASSERT_EQ(environment().gpus.size(), count());
  EXPECT_EQ(environment().links.size(), count() * (count() - 1));
  std::set<std::string> ids;
  for (std::size_t i = 0; i < count(); ++i) {
    const Environment& own = device(i).capabilities().environment;
    EXPECT_EQ(device(i).number(), i);
    EXPECT_EQ(own.gpu, environment().gpus[i]);
    EXPECT_EQ(own.gpus, environment().gpus);
    EXPECT_TRUE(own.gpu.pcie && own.gpu.pcie->under_load) << i;
    ids.insert(own.gpu.uuid);
    EXPECT_EQ(own.gpu.nvlinks > 0, own.gpu.nvlink_bandwidth > 0);
    EXPECT_GT(device(i).memory().free_bytes, 0U);
    ASSERT_TRUE(device(i).sm_clock_hz().has_value());
    EXPECT_LT(device(i).relate_clocks().uncertainty, 100e-6);
  }
  EXPECT_EQ(ids.size(), count());
  for (const Environment::PeerLink& link : environment().links) {
    EXPECT_LE(link.nvlinks, environment().gpus.front().nvlinks) << link.from << " to " << link.to;
    EXPECT_TRUE(link.access || !link.atomics) << link.from << " to " << link.to;
  }
}

TEST_F(SeveralGpus, CanBeChosenInAnyOrder) {
  const auto turned = open_gpus({.numbers = {1, 0}});
  EXPECT_EQ(turned->device(0).capabilities().environment.gpu.index, 1);
  EXPECT_EQ(turned->device(1).capabilities().environment.gpu.index, 0);
  const auto second = open_gpus({.numbers = {1}});
  EXPECT_EQ(second->device().capabilities().environment.gpu.index, 1);
  EXPECT_TRUE(second->device().capabilities().environment.gpus.empty());
}

TEST_F(SeveralGpus, CopyBetweenEachOtherWithoutPeerAccess) {
  for (const std::size_t by : {std::size_t{0}, std::size_t{1}}) {
    expect_copied(0, 1, by);
    expect_copied(1, 0, by);
  }
}

TEST_F(SeveralGpus, CopyBetweenEachOtherWithPeerAccess) {
  if (!can_reach(0, 1) || !can_reach(1, 0)) GTEST_SKIP() << "these GPUs cannot reach each other";
  device(0).set_peer_access(device(1), true);
  device(1).set_peer_access(device(0), true);
  for (const std::size_t by : {std::size_t{0}, std::size_t{1}}) {
    expect_copied(0, 1, by);
    expect_copied(1, 0, by);
  }
}

TEST_F(SeveralGpus, PeerAccessMayBeAskedForTwiceAndEnds) {
  if (!can_reach(0, 1)) {
    EXPECT_THROW(device(0).set_peer_access(device(1), true), DeviceError);
    return;
  }
  for (const bool on : {true, true, false, false, true}) {
    EXPECT_NO_THROW(device(0).set_peer_access(device(1), on));
    expect_copied(1, 0, 0);
  }
  EXPECT_THROW(device(0).set_peer_access(device(0), true), DeviceError) << "nobody is a peer of itself";
  EXPECT_TRUE(device(0).usable());
}

TEST_F(SeveralGpus, PeerAccessMakesCopiesFaster) {
  if (!can_reach(0, 1) || environment().gpus[0].nvlinks == 0) GTEST_SKIP() << "needs NVLinks";
  constexpr std::size_t kManyBytes = 256U << 20;
  const DeviceBuffer here = device(0).allocate_device(kManyBytes);
  const DeviceBuffer there = device(1).allocate_device(kManyBytes);
  const Event before = device(0).make_event(EventKind::timing);
  const Event after = device(0).make_event(EventKind::timing);
  const auto seconds = [&] {
    for (int i = 0; i < 2; ++i) {  // the first is a warm-up
      stream(0).record(before);
      stream(0).copy({here.data, there.data, kManyBytes, Direction::p2p});
      stream(0).record(after);
      stream(0).synchronize();
    }
    return elapsed(before, after);
  };
  const double staged = seconds();
  device(0).set_peer_access(device(1), true);
  const double direct = seconds();
  EXPECT_LT(direct, staged / 2);
  device(0).set_peer_access(device(1), false);
  EXPECT_GT(seconds(), 2 * direct) << "it is still on";
}

TEST_F(SeveralGpus, KernelsCopyFromAndToTheOthersMemory) {
  if (!can_reach(0, 1)) GTEST_SKIP() << "these GPUs cannot reach each other";
  device(0).set_peer_access(device(1), true);
  for (const bool reads : {true, false}) {
    const std::size_t from = reads ? 1 : 0;
    const DeviceBuffer source = filled(from, 7);
    const DeviceBuffer destination = poisoned(1 - from);
    const kernels::MemoryCopy kernel({destination.data, source.data, kBytes, Direction::p2p});
    device(0).preload(kernel);
    stream(0).launch(kernel);
    stream(0).synchronize();
    expect_filled(1 - from, destination, 7);
  }
}

TEST_F(SeveralGpus, EachLaunchesItsOwnKernels) {
  const HostBuffer host = device(0).allocate_host(sizeof(std::uint64_t), HostMemory::pinned);
  std::vector<DeviceBuffer> counters;
  for (std::size_t i = 0; i < count(); ++i) {
    counters.push_back(device(i).allocate_device(sizeof(std::uint64_t)));
    stream(i).fill(counters[i], std::byte{0});
  }
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < count(); ++i) {
      stream(i).launch(kernels::Count(reinterpret_cast<std::uint64_t*>(counters[i].data)));
    }
  }
  for (std::size_t i = 0; i < count(); ++i) {
    const kernels::Count kernel;
    EXPECT_NO_THROW(device(i).preload(kernel));
    device(i).synchronize();
    device(i).copy_and_wait({host.data, counters[i].data, sizeof(std::uint64_t), Direction::d2h});
    EXPECT_EQ(*reinterpret_cast<const std::uint64_t*>(host.data), 3U) << i;
  }
}

TEST_F(SeveralGpus, AreUsedByAThreadOfTheHost) {
  machine()
      .host()
      .start_thread([this] {
        for (std::size_t i = 0; i < count(); ++i) {
          const DeviceBuffer buffer = filled(i, 40 + i);
          expect_filled(i, buffer, 40 + i);
        }
      })
      ->join();
}

TEST_F(SeveralGpus, ReachHostMemoryOfEachOther) {
  for (const HostMemory kind : {HostMemory::pinned, HostMemory::mapped, HostMemory::write_combined,
                                HostMemory::portable, HostMemory::registered, HostMemory::pageable}) {
    const HostBuffer host = device(0).allocate_host(kBytes, kind);
    pattern::fill_bytes({host.data, kBytes}, 3);
    for (std::size_t i = 0; i < count(); ++i) {
      const DeviceBuffer buffer = poisoned(i);
      stream(i).copy({buffer.data, host.data, kBytes, Direction::h2d});
      stream(i).synchronize();
      expect_filled(i, buffer, 3);
      if (is_pageable(kind)) continue;
      // A kernel needs the memory's address in its own GPU's address space.
      const DeviceBuffer by_kernel = poisoned(i);
      stream(i).launch(kernels::MemoryCopy({by_kernel.data, host.data, kBytes, Direction::h2d}));
      EXPECT_NO_THROW(stream(i).synchronize()) << to_text(kind) << " on GPU " << i;
      expect_filled(i, by_kernel, 3);
    }
  }
}

/// The second round finds out whether the first has left the pools as they were.
TEST_F(SeveralGpus, WithPeerAccessReachGpuMemoryOfEveryKind) {
  if (!can_reach(0, 1) || !can_reach(1, 0)) GTEST_SKIP() << "no peer access";
  const std::array both{&device(0), &device(1)};
  for (int round = 0; round < 2; ++round) {
    const PeerAccess access(both);
    for (const GpuMemory kind : {GpuMemory::whole, GpuMemory::pooled, GpuMemory::mapped}) {
      SCOPED_TRACE(kGpuMemoryNames[static_cast<std::size_t>(kind)]);
      const DeviceBuffer source = filled(0, 8, kind);
      for (const std::size_t by : {0U, 1U}) {
        const DeviceBuffer copied = poisoned(1, kind);
        stream(by).copy({copied.data, source.data, kBytes, Direction::p2p});
        EXPECT_NO_THROW(stream(by).synchronize());
        expect_filled(1, copied, 8);
        const DeviceBuffer by_kernel = poisoned(1, kind);
        stream(by).launch(kernels::MemoryCopy({by_kernel.data, source.data, kBytes, Direction::p2p}));
        EXPECT_NO_THROW(stream(by).synchronize());
        expect_filled(1, by_kernel, 8);
      }
    }
  }
}

TEST_F(SeveralGpus, MemoryThatIsPinnedInPlaceIsSoForAll) {
  const HostBuffer host = device(0).allocate_host(kBytes, HostMemory::pageable);
  pattern::fill_bytes({host.data, kBytes}, 3);
  const Registration registration = device(0).register_host(host);
  const DeviceBuffer buffer = poisoned(1);
  stream(1).launch(kernels::MemoryCopy({buffer.data, host.data, kBytes, Direction::h2d}));
  EXPECT_NO_THROW(stream(1).synchronize());
  expect_filled(1, buffer, 3);
}

TEST_F(SeveralGpus, WaitForEventsOfEachOther) {
  const DeviceBuffer source = filled(0, 5);
  const DeviceBuffer between = poisoned(1);
  const DeviceBuffer destination = poisoned(0);
  const Event arrived = device(0).make_event(EventKind::ordering);
  stream(0).launch(kernels::Delay(10e-3));
  stream(0).copy({between.data, source.data, kBytes, Direction::p2p});
  stream(0).record(arrived);
  stream(1).wait(arrived);
  stream(1).copy({destination.data, between.data, kBytes, Direction::p2p});
  EXPECT_FALSE(arrived.finished());
  stream(1).synchronize();
  EXPECT_TRUE(arrived.finished());
  expect_filled(0, destination, 5);
}

TEST_F(SeveralGpus, AreCapturedIntoOneGraph) {
  const DeviceBuffer source = filled(0, 6);
  const DeviceBuffer destination = poisoned(1);
  const DeviceBuffer back = poisoned(0);
  const Event forked = device(0).make_event(EventKind::ordering);
  const Event joined = device(1).make_event(EventKind::ordering);
  const Graph graph = stream(0).capture([&] {
    stream(0).copy({destination.data, source.data, kBytes, Direction::p2p});
    stream(0).record(forked);
    stream(1).wait(forked);
    stream(1).copy({back.data, destination.data, kBytes, Direction::p2p});
    stream(1).record(joined);
    stream(0).wait(joined);
  });
  stream(0).replay(graph);
  stream(0).synchronize();
  expect_filled(0, back, 6);
}

// --- The gate -------------------------------------------------------------------------------------------------------

TEST_F(SeveralGpus, AreHeldByOneGateAndKnownToBeThere) {
  const Gate gate = machine().make_gate();
  std::vector<Event> passed;
  for (std::size_t i = 0; i < count(); ++i) passed.push_back(device(i).make_event(EventKind::ordering));
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < count(); ++i) {
      gate.close(stream(i));
      stream(i).record(passed[i]);
    }
    EXPECT_TRUE(gate.wait_until_held(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    for (const Event& event : passed) EXPECT_FALSE(event.finished());
    gate.open();
    for (std::size_t i = 0; i < count(); ++i) stream(i).synchronize();
    EXPECT_FALSE(gate.timed_out());
  }
}

TEST_F(SeveralGpus, TheGateKnowsWhoHasNotCome) {
  const Gate gate = machine().make_gate(5);
  for (int round = 0; round < 2; ++round) {
    stream(1).launch(kernels::Delay(0.1));
    gate.close(stream(0));
    gate.close(stream(1));
    const double begun = machine().host().now();
    EXPECT_FALSE(gate.wait_until_held(0.02));
    EXPECT_LT(machine().host().now() - begun, 0.08);
    EXPECT_TRUE(gate.wait_until_held(1)) << "it has come by now";
    gate.open();
    for (std::size_t i = 0; i < 2; ++i) stream(i).synchronize();
    EXPECT_FALSE(gate.timed_out());
  }
}

TEST_F(SeveralGpus, AForgottenGateLetsGoOfAll) {
  const Gate gate = machine().make_gate(0.02);
  gate.close(stream(0));
  gate.close(stream(1));
  device(0).synchronize();  // the gate is never opened and times out
  device(1).synchronize();
  EXPECT_TRUE(gate.timed_out());
  gate.open();
  gate.close(stream(1));
  EXPECT_TRUE(gate.wait_until_held(1));
  gate.open();
  device(1).synchronize();
  EXPECT_FALSE(gate.timed_out());
}

TEST_F(SeveralGpus, MoreStreamsThanAGateHoldsAreRefused) {
  const Gate gate = machine().make_gate(0.5);
  EXPECT_THROW(
      {
        for (int i = 0; i < 1100; ++i) {
          gate.close(stream(static_cast<std::size_t>(i % 2)));
          if (i % 100 == 99) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
      },
      DeviceError);
  gate.open();
  for (std::size_t i = 0; i < 2; ++i) stream(i).synchronize();
}

// --- Latency --------------------------------------------------------------------------------------------------------

TEST_F(SeveralGpus, APointerChaseGoesThroughTheOthersMemory) {
  if (!can_reach(0, 1)) GTEST_SKIP() << "these GPUs cannot reach each other";
  device(0).set_peer_access(device(1), true);
  constexpr std::size_t kLines = 1 << 12;
  const HostBuffer logs = device(0).allocate_host(sizeof(kernels::ChaseLog), HostMemory::mapped);
  auto* log = new (logs.data) kernels::ChaseLog();
  const HostBuffer host = device(0).allocate_host(kLines * sizeof(kernels::ChaseLine), HostMemory::pinned);
  const auto nanoseconds_in = [&](std::size_t number) {
    const DeviceBuffer memory = device(number).allocate_device(host.bytes);
    const auto* lines = reinterpret_cast<const kernels::ChaseLine*>(memory.data);
    constexpr std::size_t kStride = 1021;  // coprime to kLines: visits every line, never the next one
    for (std::size_t i = 0; i < kLines; ++i) {
      new (host.data + i * sizeof(kernels::ChaseLine)) kernels::ChaseLine{lines + (i + kStride) % kLines};
    }
    device(number).copy_and_wait({memory.data, host.data, host.bytes, Direction::h2d});
    const kernels::Chase chase(lines, log);
    device(0).preload(chase);
    for (int i = 0; i < 3; ++i) {
      stream(0).launch(chase);
      stream(0).synchronize();
      EXPECT_EQ(log->last, lines + kernels::kChaseHops * kStride % kLines);
    }
    return static_cast<double>(log->nanoseconds) / static_cast<double>(kernels::kChaseHops);
  };
  const double here = nanoseconds_in(0);
  const double there = nanoseconds_in(1);
  RecordProperty("nanoseconds_of_a_read", static_cast<int>(there));
  std::printf("a dependent read takes %.0f ns here, %.0f ns there\n", here, there);
  EXPECT_GT(there, here);
  EXPECT_LT(there, 10'000);
}

TEST_F(SeveralGpus, AreReadFromEveryMultiprocessor) {
  if (!can_reach(0, 1)) GTEST_SKIP() << "these GPUs cannot reach each other";
  device(0).set_peer_access(device(1), true);
  SamplingPolicy policy;
  policy.min_samples = policy.max_samples = 6;
  for (const bool cached : {false, true}) {
    PointerChase chase(device(0), device(1), 4 * MiB, 3, cached);
    const Series series =
        sample(device(0).machine(), {chase.region_of_all_multiprocessors()}, policy, [](const SamplingProgress&) {
        }).front();
    EXPECT_EQ(chase.multiprocessors(), environment().gpus[0].multiprocessors);
    const double mean = series.part(kLatency).median;
    EXPECT_LE(series.part(PointerChase::kNearest).median, mean);
    EXPECT_GE(series.part(PointerChase::kFarthest).median, mean);
    EXPECT_GT(mean, 200e-9);
    EXPECT_LT(mean, 10e-6);
  }
}

// --- Timelines ------------------------------------------------------------------------------------------------------

/// On each GPU an H2D copy, a kernel, and a copy to the next GPU.
void expect_timeline(Machine& machine, const std::string& source) {
  constexpr std::size_t kManyBytes = 32U << 20;
  const std::size_t count = machine.devices().size();
  std::vector<Stream> streams;
  std::vector<HostBuffer> hosts;
  std::vector<DeviceBuffer> from;
  std::vector<DeviceBuffer> to;
  for (std::size_t i = 0; i < count; ++i) {
    Device& device = machine.device(i);
    device.preload(kernels::Delay(1e-3));
    streams.push_back(device.make_stream(StreamKind::nonblocking));
    hosts.push_back(device.allocate_host(kManyBytes, HostMemory::pinned));
    from.push_back(device.allocate_device(kManyBytes));
    to.push_back(machine.device((i + 1) % count).allocate_device(kManyBytes));
  }
  machine.tracer().start();
  for (std::size_t i = 0; i < count; ++i) {
    streams[i].copy({from[i].data, hosts[i].data, kManyBytes, Direction::h2d});
    streams[i].launch(kernels::Delay(1e-3));
    streams[i].copy({to[i].data, from[i].data, kManyBytes, Direction::p2p});
  }
  const Trace trace = machine.tracer().stop();
  if (trace.source != source) GTEST_SKIP() << "watched by " << trace.source << ": " << trace.note;
  if (source == "events") {
    EXPECT_NE(trace.note.find("the host's clock"), std::string::npos) << trace.note;
  }
  std::set<unsigned> streams_seen;
  for (unsigned gpu = 0; gpu < count; ++gpu) {
    for (const Row row : {Row::h2d, Row::kernel, Row::peer}) {
      const auto its = [&](const Activity& a) { return a.gpu == gpu && a.row == row; };
      EXPECT_EQ(std::ranges::count_if(trace.activities, its), 1) << to_text(row) << " of GPU " << gpu;
      const auto found = std::ranges::find_if(trace.activities, its);
      if (found == trace.activities.end()) continue;
      EXPECT_EQ(found->bytes, row == Row::kernel ? 0 : kManyBytes);
      EXPECT_GT(found->end, found->begin);
      streams_seen.insert(found->stream);
    }
  }
  EXPECT_EQ(streams_seen.size(), count) << "each has a stream of its own";
  for (const Activity& a : trace.activities) EXPECT_LT(a.end, 0.5) << a.name << ": two GPUs' times do not fit together";
}

TEST_F(SeveralGpus, AreSeenInATimelineByCupti) {
  if (!can_reach(0, 1) || !can_reach(1, 0)) GTEST_SKIP() << "staged copies are seen as what they are made of";
  for (std::size_t i = 0; i < count(); ++i) {
    if (can_reach(i, (i + 1) % count())) device(i).set_peer_access(device((i + 1) % count()), true);
  }
  expect_timeline(machine(), "cupti");
}

TEST_F(SeveralGpus, AreSeenInATimelineByEvents) {
  const auto watched = with_all_gpus(cuda::TraceSource::events);
  expect_timeline(*watched, "events");
}

// --- A lost GPU -----------------------------------------------------------------------------------------------------

/// Loses GPU 0. Exits with 0 if GPU 1 still works, and with 42 if this driver loses both.
[[noreturn]] void lose_the_first() {
  const auto machine = with_all_gpus();
  Device& first = machine->device(0);
  Device& second = machine->device(1);
  const bool both = first.usable() && second.usable();
  {
    const Stream stream = first.make_stream(StreamKind::nonblocking);
    stream.launch(FaultyKernel());
    EXPECT_THROW(stream.synchronize(), DeviceError);
  }
  const bool first_is_lost = !first.usable();
  bool second_works = false;
  try {
    const HostBuffer host = second.allocate_host(4096, HostMemory::pinned);
    const DeviceBuffer buffer = second.allocate_device(4096);
    const Stream stream = second.make_stream(StreamKind::nonblocking);
    pattern::fill_bytes({host.data, 4096}, 3);
    stream.copy({buffer.data, host.data, 4096, Direction::h2d});
    stream.synchronize();
    pattern::poison({host.data, 4096});
    const Gate gate = machine->make_gate();
    gate.close(stream);
    stream.copy({host.data, buffer.data, 4096, Direction::d2h});
    const bool held = gate.wait_until_held(1);
    gate.open();
    stream.synchronize();
    second_works = held && !gate.timed_out() && !pattern::check_bytes({host.data, 4096}, 3).has_value();
  } catch (const DeviceError& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  std::fprintf(stderr, "both usable at first: %d, first lost: %d, second usable: %d, second works: %d\n", both,
               first_is_lost, second.usable(), second_works);
  if (!both || !first_is_lost || second.usable() != second_works) std::_Exit(1);
  std::_Exit(second_works ? 0 : 42);
}

TEST_F(SeveralGpus, OneIsLostAndTheOtherIsUsableIfItStillWorks) {
  // In a child process: later tests need the GPU.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      lose_the_first(),
      [](int status) {
        const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        return code == 0 || code == 42;
      },
      "");
}

}  // namespace

}  // namespace xferbench::test
