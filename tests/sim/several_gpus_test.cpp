// Simulated machines with several GPUs: copies between GPUs arrive, and are visible only after a wait.
#include <array>

#include "kernels/copy.hpp"
#include "kernels/delay.hpp"
#include "sim/sim_fixture.hpp"

namespace xferbench::test {

namespace {

// --- Data -----------------------------------------------------------------------------------------------------------

/// A payload that is copied to one GPU, to the other and back to the host.
class RelayOnSim : public testing::Test {
 protected:
  static constexpr std::size_t kBytes = 3 * MiB;

  void SetUp() override {
    pattern::fill_bytes({in_.data, kBytes}, 3);
    pattern::poison({out_.data, kBytes});
  }
  Copy in() { return {first_.data, in_.data, kBytes, Direction::h2d}; }
  Copy on() { return {second_.data, first_.data, kBytes, Direction::p2p}; }
  Copy out() { return {out_.data, second_.data, kBytes, Direction::d2h}; }
  bool came_back() {
    for (Device* device : machine_.devices()) device->synchronize();
    return !pattern::check_bytes({out_.data, kBytes}, 3).has_value();
  }
  Stream stream(std::size_t device) { return machine_.device(device).make_stream(StreamKind::nonblocking); }
  Event event(std::size_t device) { return machine_.device(device).make_event(EventKind::ordering); }
  void reach(bool on) { machine_.device(0).set_peer_access(machine_.device(1), on); }

  sim::SimMachine machine_{profile("h200-x2"), {0, 1}};
  HostBuffer in_ = machine_.device(0).allocate_host(kBytes, HostMemory::pinned);
  HostBuffer out_ = machine_.device(1).allocate_host(kBytes, HostMemory::pinned);
  DeviceBuffer first_ = machine_.device(0).allocate_device(kBytes);
  DeviceBuffer second_ = machine_.device(1).allocate_device(kBytes);
};

TEST_F(RelayOnSim, ArrivesIfEachGpuWaitsForTheOther) {
  for (const bool direct : {true, false}) {
    reach(direct);
    for (const bool waits_for_the_first : {true, false}) {
      for (const bool waits_for_the_second : {true, false}) {
        SetUp();
        const std::array<Stream, 3> streams{stream(0), stream(0), stream(1)};
        streams[0].fill(first_, pattern::kPoison);
        streams[0].synchronize();
        streams[2].fill(second_, pattern::kPoison);
        streams[2].synchronize();
        const std::array<Event, 2> events{event(0), event(0)};
        streams[0].copy(in());
        streams[0].record(events[0]);
        if (waits_for_the_first) streams[1].wait(events[0]);
        streams[1].copy(on());
        streams[1].record(events[1]);
        if (waits_for_the_second) streams[2].wait(events[1]);
        streams[2].copy(out());
        EXPECT_EQ(came_back(), waits_for_the_first && waits_for_the_second);
      }
    }
  }
}

TEST_F(RelayOnSim, ArrivesInAGraphOfBothGpus) {
  reach(true);
  const std::array<Stream, 2> streams{stream(0), stream(1)};
  const std::array<Event, 3> events{event(0), event(0), event(1)};
  const Graph graph = streams[0].capture([&] {
    streams[0].copy(in());
    streams[0].copy(on());
    streams[0].record(events[0]);
    streams[1].wait(events[0]);
    streams[1].copy(out());
    streams[1].record(events[2]);
    streams[0].wait(events[2]);
  });
  streams[0].replay(graph);
  EXPECT_TRUE(came_back());
}

TEST_F(RelayOnSim, OfAKernelNeedsAccess) {
  const Stream on_second = stream(1);
  const kernels::MemoryCopy fetch({second_.data, first_.data, kBytes, Direction::p2p});
  machine_.device(0).copy_and_wait(in());
  EXPECT_THROW(on_second.launch(fetch), DeviceError);
  reach(true);
  EXPECT_THROW(on_second.launch(fetch), DeviceError) << "it is the other one that may";
  machine_.device(1).set_peer_access(machine_.device(0), true);
  on_second.launch(fetch);
  on_second.copy(out());
  EXPECT_TRUE(came_back());
  machine_.device(1).set_peer_access(machine_.device(0), false);
  EXPECT_THROW(on_second.launch(fetch), DeviceError);
}

TEST_F(RelayOnSim, TakesAStreamOfTheGpuWhoseMemoryItIs) {
  const Stream wrong = stream(1);
  EXPECT_THROW(wrong.copy(in()), DeviceError);
  EXPECT_THROW(wrong.fill(first_, std::byte{0}), DeviceError);
  EXPECT_THROW(wrong.copy({first_.data, first_.data + 8, 8, Direction::d2d}), DeviceError);
  EXPECT_THROW(wrong.copy({out_.data, first_.data, 8, Direction::d2h}), DeviceError);
  EXPECT_THROW(wrong.copy({first_.data, in_.data, 8, Direction::p2p}), DeviceError) << "one end is the host's";
  const std::array<Copy, 2> ways{on(), Copy{first_.data, second_.data, 8, Direction::p2p}};
  EXPECT_THROW(wrong.copy_batch(std::vector<Copy>(ways.begin(), ways.end())), DeviceError);
}

TEST(PeerAccessOnSim, NeedsALinkAndAnotherGpu) {
  sim::Profile no_links = profile("h200-x2");
  no_links.nvlinks = 0;
  sim::SimMachine machine(no_links, {0, 1});
  EXPECT_THROW(machine.device(0).set_peer_access(machine.device(1), true), DeviceError);
  EXPECT_FALSE(machine.device(0).capabilities().environment.links.front().access);
  sim::SimMachine linked(profile("h200-x2"), {0, 1});
  EXPECT_THROW(linked.device(0).set_peer_access(linked.device(0), true), DeviceError);
}

// --- Waiting --------------------------------------------------------------------------------------------------------

class WaitingGpus : public testing::Test {
 protected:
  Stream stream(std::size_t device) { return machine_.device(device).make_stream(StreamKind::nonblocking); }
  double now() { return machine_.host().now(); }
  void synchronize_all() {
    for (Device* device : machine_.devices()) device->synchronize();
  }

  /// Seconds until a stream of GPU `waiting` has done work of its own and has seen an event of GPU 0 that comes after 1
  /// ms.
  double chain(std::size_t waiting, double other_work) {
    const Stream first = stream(0);
    const Stream second = stream(waiting);
    const Event done = machine_.device(0).make_event(EventKind::ordering);
    const std::array<Event, 2> marks{machine_.device(waiting).make_event(EventKind::timing),
                                     machine_.device(waiting).make_event(EventKind::timing)};
    const Gate gate = machine_.make_gate();
    gate.close(first);
    gate.close(second);
    second.record(marks[0]);
    first.launch(kernels::Delay(1e-3));
    first.record(done);
    if (other_work > 0) second.launch(kernels::Delay(other_work));
    second.wait(done);
    second.record(marks[1]);
    gate.open();
    synchronize_all();
    return elapsed(marks[0], marks[1]);
  }

  sim::SimMachine machine_{profile("h200-x2"), {0, 1}};
  const sim::Profile& profile_ = profile("h200-x2");
};

TEST_F(WaitingGpus, SeeAnotherOnesEventALittleLater) {
  EXPECT_NEAR(chain(1, 0), chain(0, 0) + profile_.peer_event_cost, 1e-9);
  const double own = 2e-3 + profile_.kernel_overhead + profile_.event_cost;
  EXPECT_NEAR(chain(1, 2e-3), own, 1e-9) << "that of long ago costs nothing";
}

TEST_F(WaitingGpus, AreWaitedForEachByItself) {
  const Stream quick = stream(0);
  const Stream slow = stream(1);
  const double begun = now();
  quick.launch(kernels::Delay(1e-3));
  slow.launch(kernels::Delay(5e-3));
  machine_.device(0).synchronize();
  EXPECT_NEAR(now() - begun, 1e-3, 50e-6);
  machine_.device(1).synchronize();
  EXPECT_NEAR(now() - begun, 5e-3, 50e-6);
  {
    const Stream gone = stream(0);
    gone.launch(kernels::Delay(2e-3));
  }
  machine_.device(1).synchronize();
  EXPECT_LT(now() - begun, 5.1e-3);
  machine_.device(0).synchronize();
  EXPECT_NEAR(now() - begun, 7e-3, 100e-6) << "what a stream that is gone has left behind";
}

TEST_F(WaitingGpus, BeginTogetherBehindOneGate) {
  const std::array<Stream, 2> streams{stream(0), stream(1)};
  const Gate gate = machine_.make_gate();
  streams[1].launch(kernels::Delay(3e-3));
  std::array<std::uint64_t, 2> stamps{};
  for (std::size_t i = 0; i < 2; ++i) {
    gate.close(streams[i]);
    streams[i].stamp(&stamps[i]);
  }
  const double begun = now();
  EXPECT_TRUE(gate.wait_until_held(0.1));
  EXPECT_NEAR(now() - begun, 3e-3, 50e-6) << "until the busy one has come";
  const double opened = now();
  gate.open();
  synchronize_all();
  EXPECT_FALSE(gate.timed_out());
  EXPECT_EQ(stamps[0], stamps[1]);
  EXPECT_NEAR(static_cast<double>(stamps[0]) * 1e-9, opened + profile_.stamp_cost, 1e-8);
}

TEST_F(WaitingGpus, ThatDoNotComeToTheGateInTimeAreTold) {
  const std::array<Stream, 2> streams{stream(0), stream(1)};
  const Gate gate = machine_.make_gate(1);
  streams[1].launch(kernels::Delay(0.5));
  for (const Stream& s : streams) gate.close(s);
  const double begun = now();
  EXPECT_FALSE(gate.wait_until_held(0.1));
  EXPECT_NEAR(now() - begun, 0.1, 1e-6);
  EXPECT_TRUE(gate.wait_until_held(1)) << "but in the end they do";
  EXPECT_NEAR(now() - begun, 0.5, 1e-3);
  gate.open();
  synchronize_all();
  EXPECT_FALSE(gate.timed_out());
  EXPECT_NEAR(now() - begun, 0.5, 1e-3);
}

TEST_F(WaitingGpus, AreLetGoByAGateThatNobodyOpensInTime) {
  const std::array<Stream, 2> streams{stream(0), stream(1)};
  const Gate gate = machine_.make_gate(0.25);
  for (const Stream& s : streams) gate.close(s);
  EXPECT_TRUE(gate.wait_until_held(1));
  machine_.host().work({.seconds = 0.3}, [] {});
  gate.open();
  synchronize_all();
  EXPECT_TRUE(gate.timed_out());
}

// --- Machines with one faulty GPU -----------------------------------------------------------------------------------

TEST(SeveralGpusOtherwise, DoSoEachByItsNumber) {
  std::vector<std::size_t> copied_by;
  sim::SimMachine machine = machine_that({.copy =
                                              [&copied_by](sim::SimStream& stream, const Copy& copy) {
                                                copied_by.push_back(stream.device().number());
                                                if (stream.device().number() == 0) stream.SimStream::copy(copy);
                                              }},
                                         "h200-x2", {0, 1});
  for (Device* device : machine.devices()) {
    const HostBuffer host = device->allocate_host(64, HostMemory::pinned);
    const DeviceBuffer gpu = device->allocate_device(64);
    std::fill_n(host.data, 64, std::byte{7});
    const Stream stream = device->make_stream(StreamKind::nonblocking);
    stream.copy({gpu.data, host.data, 64, Direction::h2d});
    stream.synchronize();
    EXPECT_EQ(gpu.data[0], device->number() == 0 ? std::byte{7} : std::byte{0});
  }
  EXPECT_EQ(copied_by, (std::vector<std::size_t>{0, 1}));
}

}  // namespace

}  // namespace xferbench::test
