// CUDA graphs on the simulated device: what a capture records, the order of a replay, calls that are refused.
#include <array>

#include "kernels/count.hpp"
#include "kernels/delay.hpp"
#include "sim/sim_fixture.hpp"

namespace xferbench::test {

namespace {

class GraphOnSim : public SimTest {
 protected:
  /// Captures an H2D copy in one stream and the copy back in another, forked and joined by events.
  Graph multiply_and_undo() {
    return root_.capture([this] {
      root_.copy(in());
      root_.record(arrived_);
      other_.wait(arrived_);
      other_.copy(out());
      other_.record(back_);
      root_.wait(back_);
    });
  }

  Stream root_ = stream();
  Stream other_ = stream();
  Event arrived_ = event();
  Event back_ = event();
};

TEST_F(GraphOnSim, CapturingRunsNothingAndEachReplayRunsAllOfIt) {
  prepare(1);
  const Graph graph = multiply_and_undo();
  device_.synchronize();
  EXPECT_EQ(out_.data[0], pattern::kPoison);
  for (const std::uint64_t seed : {1U, 2U}) {
    prepare(seed);
    root_.replay(graph);
    EXPECT_TRUE(came_back(seed));
  }
}

TEST_F(GraphOnSim, DataAreCarriedAsTheyAreWhenItIsReplayed) {
  prepare();
  machine_.set_data_movement(false);
  const Graph graph = multiply_and_undo();
  root_.replay(graph);
  EXPECT_FALSE(came_back());
  machine_.set_data_movement(true);
  root_.replay(graph);
  EXPECT_TRUE(came_back());
}

TEST_F(GraphOnSim, AReplayComesBetweenWhatIsBeforeAndBehindItInTheStream) {
  const Graph graph = root_.capture([&] {
    root_.record(arrived_);
    other_.wait(arrived_);
    other_.launch(kernels::Delay(3e-3));
    other_.record(back_);
    root_.copy(in());
    root_.wait(back_);
  });
  const std::array<Event, 2> marks{event(EventKind::timing), event(EventKind::timing)};
  root_.launch(kernels::Delay(1e-3));
  root_.record(marks[0]);
  root_.replay(graph);
  root_.record(marks[1]);
  device_.synchronize();
  EXPECT_NEAR(elapsed(marks[0], marks[1]), 3e-3, 10e-6) << "all of the graph, not only what is on its stream";
}

TEST_F(GraphOnSim, AGraphNeverRunsTwiceAtOnce) {
  const Graph graph = root_.capture([&] { root_.launch(kernels::Delay(1e-3)); });
  const double begun = now();
  root_.replay(graph);
  other_.replay(graph);
  other_.synchronize();
  EXPECT_NEAR(now() - begun, 2e-3, 20e-6);
}

TEST_F(GraphOnSim, OneCallReplaysAnyNumberOfOperations) {
  const Graph graph = root_.capture([&] {
    for (int i = 0; i < 100; ++i) root_.launch(kernels::Count());
  });
  const double before = now();
  root_.replay(graph);
  EXPECT_NEAR(now() - before, profile_.graph_call, 1e-12);
}

TEST_F(GraphOnSim, TheCallTakesLongerForEachCopyBetweenHostAndGpu) {
  prepare();
  const Graph graph = multiply_and_undo();
  const double before = now();
  root_.replay(graph);
  EXPECT_NEAR(now() - before, profile_.graph_call + 2 * profile_.graph_copy_call, 1e-12);
}

TEST_F(GraphOnSim, WhatCannotBeCapturedIsRefusedAndTheStreamWorksOn) {
  const HostBuffer ordinary = device_.allocate_host(kBytes, HostMemory::pageable);
  other_.record(arrived_);  // recorded outside of the capture
  const Gate gate = machine_.make_gate();
  HostFunction function([] {});
  const std::vector<std::function<void()>> forbidden{
      [&] {
        root_.copy({gpu_.data, ordinary.data, kBytes, Direction::h2d});
      },
      [&] { root_.synchronize(); },
      [&] { root_.wait(arrived_); },
      [&] { gate.close(root_); },
      [&] { root_.call_host(CallbackApi::launch_host_func, function); },
      [&] { static_cast<void>(root_.capture([] {})); },
  };
  for (const auto& submit : forbidden) {
    EXPECT_THROW(static_cast<void>(root_.capture(submit)), DeviceError);
    EXPECT_NO_THROW(root_.copy(in()));
    EXPECT_NO_THROW(root_.synchronize());
  }
  const Stream legacy = stream(StreamKind::legacy_default);
  EXPECT_THROW(static_cast<void>(legacy.capture([] {})), DeviceError);
}

TEST_F(GraphOnSim, AStreamThatJoinedMustBeJoinedBack) {
  const auto capture = [&](bool joined_back) {
    return root_.capture([&] {
      root_.copy(in());
      root_.record(arrived_);
      other_.wait(arrived_);
      if (!joined_back) other_.copy(out());
    });
  };
  EXPECT_NO_THROW(static_cast<void>(capture(true))) << "a stream without work of its own leaves nothing behind";
  EXPECT_THROW(static_cast<void>(capture(false)), DeviceError);
  EXPECT_NO_THROW(other_.copy(in()));
}

TEST_F(GraphOnSim, AnEventOfACaptureTellsNothingOutside) {
  const Event event_inside = event(EventKind::timing);
  const Graph graph = root_.capture([&] {
    root_.copy(in());
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
