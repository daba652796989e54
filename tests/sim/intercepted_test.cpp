// intercept() with an observer does not change what a machine does.

#include <cstdlib>
#include <map>

#include "sim/faulty_device.hpp"
#include "sim/sim_fixture.hpp"

namespace xferbench::test {

namespace {

/// Counts the calls by kind.
class Notes final : public CallObserver {
 public:
  void enter(const DeviceCall& call) override {
    ++inside_;
    ++calls[call.kind];
    expected[call.kind] += call.expected;
  }
  void leave(const DeviceCall&, bool progress) noexcept override {
    --inside_;
    in_vain += progress ? 0 : 1;
  }
  [[nodiscard]] int inside() const { return inside_; }

  std::map<CallKind, int> calls;
  std::map<CallKind, double> expected;
  int in_vain = 0;

 private:
  int inside_ = 0;
};

std::unique_ptr<Machine> h200() { return std::make_unique<sim::SimMachine>(profile("h200")); }

class Intercepted : public testing::Test {
 protected:
  InterceptedSim<Notes> sim_{h200()};
  Notes& notes_ = sim_.observer();
  Machine& machine_ = sim_.machine();
  Device& device_ = sim_.device();
  static constexpr std::size_t kBytes = 1 << 20;
};

TEST_F(Intercepted, EveryCallIsToldOfOnceAndEnds) {
  {
    const Stream stream = device_.make_stream(StreamKind::nonblocking);
    const DeviceBuffer gpu = device_.allocate_device(kBytes);
    const HostBuffer host = device_.allocate_host(kBytes, HostMemory::pinned);
    stream.copy({gpu.data, host.data, kBytes, Direction::h2d});
    stream.synchronize();
    device_.copy_and_wait({host.data, gpu.data, kBytes, Direction::d2h});
  }
  EXPECT_EQ(notes_.inside(), 0);
  const std::map<CallKind, int> once{
      {CallKind::make_stream, 1}, {CallKind::allocate_device, 1},    {CallKind::allocate_host, 1},
      {CallKind::copy, 1},        {CallKind::synchronize_stream, 1}, {CallKind::copy_blocking, 1},
      {CallKind::free, 2},        {CallKind::synchronize_device, 1}, {CallKind::destroy, 1}};
  EXPECT_EQ(notes_.calls, once);
  EXPECT_DOUBLE_EQ(notes_.expected[CallKind::copy], kBytes / 5e9);
}

TEST_F(Intercepted, WhatThrowsEndsToo) {
  EXPECT_THROW(static_cast<void>(device_.allocate_device(std::size_t{1} << 60)), DeviceError);
  EXPECT_EQ(notes_.inside(), 0);
}

TEST_F(Intercepted, AnEventThatHasNotFinishedIsNoProgress) {
  const Stream stream = device_.make_stream(StreamKind::nonblocking);
  const Event event = device_.make_event(EventKind::ordering);
  const DeviceBuffer gpu = device_.allocate_device(64 * kBytes);
  stream.fill(gpu, std::byte{1});
  stream.record(event);
  EXPECT_FALSE(event.finished());
  stream.synchronize();
  EXPECT_TRUE(event.finished());
  EXPECT_EQ(notes_.in_vain, 1);
}

TEST_F(Intercepted, AReplayIsExpectedToTakeWhatWasCaptured) {
  const Stream stream = device_.make_stream(StreamKind::nonblocking);
  const DeviceBuffer gpu = device_.allocate_device(kBytes);
  const HostBuffer host = device_.allocate_host(kBytes, HostMemory::pinned);
  const Graph graph = stream.capture([&] {
    for (int i = 0; i < 3; ++i) stream.copy({gpu.data, host.data, kBytes, Direction::h2d});
  });
  stream.replay(graph);
  stream.synchronize();
  EXPECT_DOUBLE_EQ(notes_.expected[CallKind::replay], 3 * kBytes / 5e9);
}

TEST_F(Intercepted, WhatItMakesIsOfItselfAndWorksTogether) {
  const Stream one = device_.make_stream(StreamKind::nonblocking);
  const Stream other = device_.make_stream(StreamKind::nonblocking);
  const Event begun = device_.make_event(EventKind::timing);
  const Event ended = device_.make_event(EventKind::timing);
  EXPECT_EQ(&one.device(), &device_);
  EXPECT_EQ(&begun.device(), &device_);
  EXPECT_EQ(&device_.machine(), &machine_);
  const Gate gate = machine_.make_gate();
  gate.close(one);
  one.record(begun);
  other.wait(begun);
  other.record(ended);
  gate.open();
  ended.synchronize();
  EXPECT_FALSE(gate.timed_out());
  EXPECT_GE(elapsed(begun, ended), 0);
}

TEST(InterceptedGpus, WorkTogetherAndAreToldOfEachByItself) {
  InterceptedSim<Notes> sim(std::make_unique<sim::SimMachine>(profile("h200-x2"), std::vector{0, 1}));
  Device& first = sim.machine().device(0);
  Device& second = sim.machine().device(1);
  EXPECT_EQ(second.number(), 1U);
  second.set_peer_access(first, true);
  const Stream stream = second.make_stream(StreamKind::nonblocking);
  const Stream other = first.make_stream(StreamKind::nonblocking);
  const Event arrived = first.make_event(EventKind::ordering);
  const DeviceBuffer from = first.allocate_device(64);
  const DeviceBuffer to = second.allocate_device(64);
  const HostBuffer back = second.allocate_host(64, HostMemory::pinned);
  const Gate gate = sim.machine().make_gate();
  for (const StreamView s : {StreamView(stream), StreamView(other)}) gate.close(s);
  other.fill(from, std::byte{5});
  other.record(arrived);
  stream.wait(arrived);
  stream.copy({to.data, from.data, 64, Direction::p2p});
  stream.copy({back.data, to.data, 64, Direction::d2h});
  EXPECT_TRUE(gate.wait_until_held(1));
  gate.open();
  second.synchronize();
  EXPECT_EQ(back.data[63], std::byte{5});
  std::map<CallKind, int>& calls = sim.observer().calls;
  EXPECT_EQ(calls[CallKind::set_peer_access], 1);
  EXPECT_EQ(calls[CallKind::wait_until_held], 1);
  EXPECT_EQ(calls[CallKind::close_gate], 2);
  EXPECT_EQ(sim.observer().inside(), 0);
}

/// Results of a command on a plain machine and on an intercepted one.
std::vector<std::vector<Result>> seen_and_not(const Words& command) {
  sim::SimMachine plain = machine_with<CapableDevice>();
  InterceptedSim<Notes> seen(capable_machine());
  std::vector<std::vector<Result>> results{run_on(plain.device(), command), run_on(seen.device(), command)};
  EXPECT_EQ(seen.observer().inside(), 0);
  return results;
}

TEST(InterceptedScenarios, MeasureTheSame) {
  const std::vector<Words> commands{
      {"overlap", "--size", "1M", "--streams", "2", "--chunks", "4", "--strategy",
       "serial,streams,zero-copy,batch,graph"},
      {"memcpy", "--size", "1M", "--host", "pinned,pageable,registered"},
      {"latency", "--op", "copy,launch,graph,wait,event-wait"},
      {"alloc", "--size", "2M"},
      {"staging", "--size", "1M", "--threads", "2", "--method", "all", "--crew", "all"},
      {"scatter", "--size", "1M", "--way", "calls,graph,batch,kernel,staged,packed"},
      {"scatter", "--size", "1M", "--way", "strided", "--layout", "strided"},
      {"storage", "--size", "1M", "--way", "all", "--threads", "2", "--request", "64K"},
      {"storage", "--size", "1M", "--dir", "save", "--way", "read,threads", "--threads", "2", "--request", "64K"},
      {"async", "--size", "1M"},
      {"dynpar", "--task", "children", "--children", "16"},
  };
  for (const Words& command : commands) {
    const auto both = seen_and_not(command);
    EXPECT_EQ(both[0], both[1]) << command.front();
  }
}

// --- Corruption -----------------------------------------------------------------------------------------------------

using Corrupting = InterceptedSim<CorruptingObserver>;

TEST(CorruptedCopies, AreWrongInOneByteOnceTheyHaveArrived) {
  for (const bool captured : {false, true}) {
    Corrupting sim(h200(), CorruptingObserver::Which{.nth = 2, .offset = 7});
    constexpr std::size_t kBytes = 64;
    const HostBuffer in = sim.device().allocate_host(kBytes, HostMemory::pinned);
    const HostBuffer out = sim.device().allocate_host(kBytes, HostMemory::pinned);
    const DeviceBuffer gpu = sim.device().allocate_device(kBytes);
    const Stream stream = sim.device().make_stream(StreamKind::nonblocking);
    std::fill_n(in.data, kBytes, std::byte{0x41});
    const auto multiply_and_undo = [&] {
      stream.copy({gpu.data, in.data, kBytes, Direction::h2d});
      stream.copy({out.data, gpu.data, kBytes, Direction::d2h});
    };
    sim.machine().set_data_movement(false);
    if (captured) {
      stream.replay(stream.capture(multiply_and_undo));
    } else {
      multiply_and_undo();
    }
    stream.synchronize();
    EXPECT_EQ(out.data[7], std::byte{0x45});
    EXPECT_EQ(std::count(out.data, out.data + kBytes, std::byte{0x41}), static_cast<std::ptrdiff_t>(kBytes - 1));
    EXPECT_EQ(sim.observer().spoiled(), 1U);
    EXPECT_EQ(sim.observer().seen(), 2U);
  }
}

TEST(CorruptedCopies, FailACaseThatLooks) {
  for (const char* api : {"async", "sync"}) {
    const Words command{"memcpy", "--dir", "h2d,d2h", "--host", "pinned,pageable", "--api", api, "--size", "64K"};
    Corrupting sim(h200(), CorruptingObserver::Which{.and_all_after = true});
    expect_all(run_on(sim.device(), command), Status::failed, "wrong result");
  }
}

TEST(CorruptedCopies, OfTimedPassesAreCountedApart) {
  const Words command{"memcpy", "--dir", "h2d", "--host", "pinned", "--size", "64K"};
  Corrupting all(h200(), CorruptingObserver::Which{.nth = 0});
  expect_all(run_on(all.device(), command), Status::ok);
  Corrupting timed(h200(), CorruptingObserver::Which{.passes = CorruptingObserver::Passes::timed, .nth = 0});
  expect_all(run_on(timed.device(), command), Status::ok);
  EXPECT_GT(timed.observer().seen(), 6U);
  EXPECT_LT(timed.observer().seen(), all.observer().seen());
}

TEST(CorruptedKernels, FailACaseThatLooks) {
  Corrupting sim(h200(), CorruptingObserver::Which{.what = CorruptingObserver::What::kernels, .and_all_after = true});
  expect_all(run_on(sim.device(), {"overlap", "--size", "64K", "--chunks", "2"}), Status::failed, "wrong result");
}

// --- Faults injected by XFERBENCH_INJECT ----------------------------------------------------------------------------

TEST(InjectedFaults, AreReadFromTheirText) {
  const InjectedFault fault = parse_fault("lose:close-gate:12");
  EXPECT_EQ(fault.effect, InjectedFault::Effect::lose);
  EXPECT_EQ(fault.kind, CallKind::close_gate);
  EXPECT_EQ(fault.nth, 12U);
  EXPECT_NO_THROW(static_cast<void>(parse_fault("hang:free:1")));
  EXPECT_EQ(parse_fault("die:destroy:1").effect, InjectedFault::Effect::die);
  for (const char* text : {"", ":", "::", "hang", "hang:launch", "hang:launch:", "hang:launch:0", "hang:launch:x",
                           "hang:launch:1:2", "hang:launch:-1", "hang:nothing:1", "burn:launch:1", "fail:free:1",
                           "lose:destroy:1", "fail:usable:1", "hang:launch:99999999999999999999999"}) {
    EXPECT_THROW(static_cast<void>(parse_fault(text)), UsageError) << text;
  }
}

TEST(InjectedFaults, ARefusalListsWhatThereIs) {
  const auto refusal = [](const char* text) {
    try {
      static_cast<void>(parse_fault(text));
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(refusal("burn:launch:1").find("hang, fail, lose, die"), std::string::npos);
  EXPECT_NE(refusal("fail:burn:1").find("synchronize-stream"), std::string::npos);
  EXPECT_EQ(refusal("fail:burn:1").find("destroy"), std::string::npos) << "cannot fail";
}

/// Sets XFERBENCH_INJECT while it lives.
class Asking {
 public:
  explicit Asking(const char* fault) { setenv("XFERBENCH_INJECT", fault, 1); }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;
  ~Asking() { unsetenv("XFERBENCH_INJECT"); }
};

TEST(InjectedFaults, OfAVariableHitTheMachine) {
  const Asking asking("fail:copy:1");
  InterceptedSim<Notes> sim(h200());
  const auto results = run_on(sim.device(), {"memcpy", "--dir", "h2d,d2h", "--host", "pinned", "--size", "64K"});
  EXPECT_EQ(results[0].status, Status::failed);
  EXPECT_NE(results[0].reason.find("copy"), std::string::npos);
  EXPECT_EQ(results[1].status, Status::ok);
  EXPECT_EQ(sim.observer().inside(), 0);
}

TEST(InjectedFaults, ThatNobodyCanReadAreRefusedWithTheMachine) {
  const Asking asking("fail:copy");
  NoObserver nobody;
  EXPECT_THROW(static_cast<void>(intercept(h200(), nobody)), UsageError);
}

TEST(InjectedFaults, ALostDeviceStaysLost) {
  const Asking asking("lose:launch:1");
  InterceptedSim<Notes> sim(h200());
  EXPECT_TRUE(sim.device().usable());
  const auto results = run_on(sim.device(), {"overlap", "--size", "64K", "--chunks", "2,4"});
  EXPECT_EQ(results[0].status, Status::failed);
  EXPECT_NE(results[0].reason.find("launch"), std::string::npos);
  EXPECT_EQ(results[1].status, Status::skipped);
  EXPECT_NE(results[1].reason.find("context"), std::string::npos);
  EXPECT_FALSE(sim.device().usable());
}

}  // namespace

}  // namespace xferbench::test
