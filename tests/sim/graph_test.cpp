// Captures and replays on the simulated device: what becomes part of a graph, in which order it runs, what is refused.
#include <array>

#include "core/error.hpp"
#include "kernels/count.hpp"
#include "kernels/delay.hpp"
#include "sim/sim_fixture.hpp"

namespace xferbench::test {

namespace {

constexpr std::size_t kBytes = 8U << 20;

class GraphOnSim : public testing::Test {
 protected:
  Stream stream() { return device_.make_stream(StreamKind::nonblocking); }
  Event event() { return device_.make_event(EventKind::ordering); }

  void copy_in(StreamView s) { s.copy({gpu_.data, in_.data, kBytes, Direction::h2d}); }
  void copy_out(StreamView s) { s.copy({out_.data, gpu_.data, kBytes, Direction::d2h}); }

  /// The bytes go to the GPU in one stream and come back in another, which joins and is joined by events.
  Graph there_and_back(StreamView origin, StreamView other, EventView arrived, EventView back) {
    return origin.capture([=, this] {
      copy_in(origin);
      origin.record(arrived);
      other.wait(arrived);
      copy_out(other);
      other.record(back);
      origin.wait(back);
    });
  }

  void poison() {
    pattern::poison({out_.data, kBytes});
    root_.fill(gpu_, pattern::kPoison);
    device_.synchronize();
  }
  bool right(std::uint64_t seed) { return !pattern::check_bytes({out_.data, kBytes}, seed).has_value(); }

  sim::SimMachine machine_{profile("h200")};
  Device& device_ = machine_.device();
  HostBuffer in_ = device_.allocate_host(kBytes, HostMemory::pinned);
  HostBuffer out_ = device_.allocate_host(kBytes, HostMemory::pinned);
  DeviceBuffer gpu_ = device_.allocate_device(kBytes);
  Stream root_ = stream();
  Stream other_ = stream();
};

TEST_F(GraphOnSim, CapturingRunsNothingAndEachReplayRunsAllOfIt) {
  const Event arrived = event();
  const Event back = event();
  pattern::fill_bytes({in_.data, kBytes}, 1);
  poison();
  const Graph graph = there_and_back(root_, other_, arrived, back);
  device_.synchronize();
  EXPECT_EQ(out_.data[0], pattern::kPoison);
  for (const std::uint64_t seed : {1U, 2U}) {
    pattern::fill_bytes({in_.data, kBytes}, seed);
    poison();
    root_.replay(graph);
    root_.synchronize();
    EXPECT_TRUE(right(seed));
  }
}

TEST_F(GraphOnSim, DataAreCarriedAsTheyAreWhenItIsReplayed) {
  const Event arrived = event();
  const Event back = event();
  pattern::fill_bytes({in_.data, kBytes}, 1);
  poison();
  machine_.set_data_movement(false);
  const Graph graph = there_and_back(root_, other_, arrived, back);
  root_.replay(graph);
  device_.synchronize();
  EXPECT_EQ(out_.data[0], pattern::kPoison);
  machine_.set_data_movement(true);
  root_.replay(graph);
  device_.synchronize();
  EXPECT_TRUE(right(1));
}

TEST_F(GraphOnSim, AReplayComesBetweenWhatIsBeforeAndBehindItInTheStream) {
  const Stream before = stream();
  const Graph graph = root_.capture([&] {
    const Event forked = event();
    const Event joined = event();
    root_.record(forked);
    other_.wait(forked);
    other_.launch(kernels::Delay(3e-3));
    other_.record(joined);
    copy_in(root_);
    root_.wait(joined);
  });
  const std::array<Event, 2> marks{device_.make_event(EventKind::timing), device_.make_event(EventKind::timing)};
  root_.launch(kernels::Delay(1e-3));
  root_.record(marks[0]);
  root_.replay(graph);
  root_.record(marks[1]);
  device_.synchronize();
  EXPECT_NEAR(elapsed(marks[0], marks[1]), 3e-3, 10e-6) << "all of the graph, not only what is on its stream";
}

TEST_F(GraphOnSim, AGraphNeverRunsTwiceAtOnce) {
  const Graph graph = root_.capture([&] { root_.launch(kernels::Delay(1e-3)); });
  const double begun = machine_.host().now();
  root_.replay(graph);
  other_.replay(graph);
  other_.synchronize();
  EXPECT_NEAR(machine_.host().now() - begun, 2e-3, 20e-6);
}

TEST_F(GraphOnSim, OneCallReplaysAnyNumberOfOperations) {
  const Graph graph = root_.capture([&] {
    for (int i = 0; i < 100; ++i) root_.launch(kernels::Count());
  });
  const double before = machine_.host().now();
  root_.replay(graph);
  EXPECT_NEAR(machine_.host().now() - before, profile("h200").graph_call, 1e-12);
}

TEST_F(GraphOnSim, WhatCannotBeCapturedIsRefusedAndTheStreamWorksOn) {
  const HostBuffer ordinary = device_.allocate_host(kBytes, HostMemory::pageable);
  const Event outside = event();
  other_.record(outside);
  const Gate gate = machine_.make_gate();
  const std::function<void()> function = [] {};
  const std::vector<std::function<void()>> forbidden{
      [&] {
        root_.copy({gpu_.data, ordinary.data, kBytes, Direction::h2d});
      },
      [&] { root_.synchronize(); },
      [&] { root_.wait(outside); },
      [&] { gate.close(root_); },
      [&] { root_.call_host(CallbackApi::launch_host_func, function); },
      [&] { static_cast<void>(root_.capture([] {})); },
  };
  for (const auto& submit : forbidden) {
    EXPECT_THROW(static_cast<void>(root_.capture(submit)), DeviceError);
    EXPECT_NO_THROW(copy_in(root_));
    EXPECT_NO_THROW(root_.synchronize());
  }
  const Stream legacy = device_.make_stream(StreamKind::legacy_default);
  EXPECT_THROW(static_cast<void>(legacy.capture([] {})), DeviceError);
}

TEST_F(GraphOnSim, AStreamThatJoinedMustBeJoinedBack) {
  const Event forked = event();
  const auto capture = [&](bool joined_back) {
    return root_.capture([&] {
      copy_in(root_);
      root_.record(forked);
      other_.wait(forked);
      if (!joined_back) copy_out(other_);
    });
  };
  EXPECT_NO_THROW(static_cast<void>(capture(true))) << "a stream without work of its own leaves nothing behind";
  EXPECT_THROW(static_cast<void>(capture(false)), DeviceError);
  EXPECT_NO_THROW(copy_in(other_));
}

TEST_F(GraphOnSim, AnEventOfACaptureTellsNothingOutside) {
  const Event event_inside = device_.make_event(EventKind::timing);
  const Graph graph = root_.capture([&] {
    copy_in(root_);
    root_.record(event_inside);
  });
  EXPECT_THROW(other_.wait(event_inside), DeviceError);
  EXPECT_THROW(event_inside.synchronize(), DeviceError);
  EXPECT_THROW(static_cast<void>(event_inside.finished()), DeviceError);
  EXPECT_THROW(static_cast<void>(elapsed(event_inside, event_inside)), DeviceError);
  root_.record(event_inside);
  EXPECT_NO_THROW(event_inside.synchronize());
}

}  // namespace

}  // namespace xferbench::test
