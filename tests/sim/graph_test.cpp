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

  void copy_in(StreamHandle s) { device_.copy({gpu_->data, in_->data, kBytes, Direction::h2d}, s); }
  void copy_out(StreamHandle s) { device_.copy({out_->data, gpu_->data, kBytes, Direction::d2h}, s); }

  /// The bytes go to the GPU in one stream and come back in another, which joins and is joined by events.
  Graph there_and_back(StreamHandle origin, StreamHandle other, EventHandle arrived, EventHandle back) {
    return device_.capture(origin, [=, this] {
      copy_in(origin);
      device_.record(arrived, origin);
      device_.wait(other, arrived);
      copy_out(other);
      device_.record(back, other);
      device_.wait(origin, back);
    });
  }

  void poison() {
    pattern::poison({out_->data, kBytes});
    device_.fill(gpu_, pattern::kPoison, root_);
    device_.synchronize();
  }
  bool right(std::uint64_t seed) { return !pattern::check_bytes({out_->data, kBytes}, seed).has_value(); }

  sim::SimDevice device_{profile("h200")};
  HostBuffer in_ = device_.allocate_host(kBytes, HostMemory::pinned);
  HostBuffer out_ = device_.allocate_host(kBytes, HostMemory::pinned);
  DeviceBuffer gpu_ = device_.allocate_device(kBytes);
  Stream root_ = stream();
  Stream other_ = stream();
};

TEST_F(GraphOnSim, CapturingRunsNothingAndEachReplayRunsAllOfIt) {
  const Event arrived = event();
  const Event back = event();
  pattern::fill_bytes({in_->data, kBytes}, 1);
  poison();
  const Graph graph = there_and_back(root_, other_, arrived, back);
  device_.synchronize();
  EXPECT_EQ(out_->data[0], pattern::kPoison);
  for (const std::uint64_t seed : {1U, 2U}) {
    pattern::fill_bytes({in_->data, kBytes}, seed);
    poison();
    device_.replay(graph, root_);
    device_.synchronize(root_.get());
    EXPECT_TRUE(right(seed));
  }
}

TEST_F(GraphOnSim, DataAreCarriedAsTheyAreWhenItIsReplayed) {
  const Event arrived = event();
  const Event back = event();
  pattern::fill_bytes({in_->data, kBytes}, 1);
  poison();
  device_.set_data_movement(false);
  const Graph graph = there_and_back(root_, other_, arrived, back);
  device_.replay(graph, root_);
  device_.synchronize();
  EXPECT_EQ(out_->data[0], pattern::kPoison);
  device_.set_data_movement(true);
  device_.replay(graph, root_);
  device_.synchronize();
  EXPECT_TRUE(right(1));
}

TEST_F(GraphOnSim, AReplayComesBetweenWhatIsBeforeAndBehindItInTheStream) {
  const Stream before = stream();
  const Graph graph = device_.capture(root_, [&] {
    const Event forked = event();
    const Event joined = event();
    device_.record(forked, root_);
    device_.wait(other_, forked);
    device_.launch(kernels::Delay(3e-3), other_);
    device_.record(joined, other_);
    copy_in(root_);
    device_.wait(root_, joined);
  });
  const std::array<Event, 2> marks{device_.make_event(EventKind::timing), device_.make_event(EventKind::timing)};
  device_.launch(kernels::Delay(1e-3), root_);
  device_.record(marks[0], root_);
  device_.replay(graph, root_);
  device_.record(marks[1], root_);
  device_.synchronize();
  EXPECT_NEAR(device_.elapsed(marks[0], marks[1]), 3e-3, 10e-6) << "all of the graph, not only what is on its stream";
}

TEST_F(GraphOnSim, AGraphNeverRunsTwiceAtOnce) {
  const Graph graph = device_.capture(root_, [&] { device_.launch(kernels::Delay(1e-3), root_); });
  const double begun = device_.host_now();
  device_.replay(graph, root_);
  device_.replay(graph, other_);
  device_.synchronize(other_.get());
  EXPECT_NEAR(device_.host_now() - begun, 2e-3, 20e-6);
}

TEST_F(GraphOnSim, OneCallReplaysAnyNumberOfOperations) {
  const Graph graph = device_.capture(root_, [&] {
    for (int i = 0; i < 100; ++i) device_.launch(kernels::Count(), root_);
  });
  const double before = device_.host_now();
  device_.replay(graph, root_);
  EXPECT_NEAR(device_.host_now() - before, profile("h200").graph_call, 1e-12);
}

TEST_F(GraphOnSim, WhatCannotBeCapturedIsRefusedAndTheStreamWorksOn) {
  const HostBuffer ordinary = device_.allocate_host(kBytes, HostMemory::pageable);
  const Event outside = event();
  device_.record(outside, other_);
  const Gate gate = device_.make_gate();
  const std::function<void()> function = [] {};
  const std::vector<std::function<void()>> forbidden{
      [&] {
        device_.copy({gpu_->data, ordinary->data, kBytes, Direction::h2d}, root_);
      },
      [&] { device_.synchronize(root_.get()); },
      [&] { device_.wait(root_, outside); },
      [&] { device_.close(gate, root_); },
      [&] { device_.call_host(CallbackApi::launch_host_func, function, root_); },
      [&] { static_cast<void>(device_.capture(root_, [] {})); },
  };
  for (const auto& submit : forbidden) {
    EXPECT_THROW(static_cast<void>(device_.capture(root_, submit)), DeviceError);
    EXPECT_NO_THROW(copy_in(root_));
    EXPECT_NO_THROW(device_.synchronize(root_.get()));
  }
  const Stream legacy = device_.make_stream(StreamKind::legacy_default);
  EXPECT_THROW(static_cast<void>(device_.capture(legacy, [] {})), DeviceError);
}

TEST_F(GraphOnSim, AStreamThatJoinedMustBeJoinedBack) {
  const Event forked = event();
  const auto capture = [&](bool joined_back) {
    return device_.capture(root_, [&] {
      copy_in(root_);
      device_.record(forked, root_);
      device_.wait(other_, forked);
      if (!joined_back) copy_out(other_);
    });
  };
  EXPECT_NO_THROW(static_cast<void>(capture(true))) << "a stream without work of its own leaves nothing behind";
  EXPECT_THROW(static_cast<void>(capture(false)), DeviceError);
  EXPECT_NO_THROW(copy_in(other_));
}

TEST_F(GraphOnSim, AnEventOfACaptureTellsNothingOutside) {
  const Event event_inside = device_.make_event(EventKind::timing);
  const Graph graph = device_.capture(root_, [&] {
    copy_in(root_);
    device_.record(event_inside, root_);
  });
  EXPECT_THROW(device_.wait(other_, event_inside), DeviceError);
  EXPECT_THROW(device_.synchronize(event_inside.get()), DeviceError);
  EXPECT_THROW(static_cast<void>(device_.finished(event_inside)), DeviceError);
  EXPECT_THROW(static_cast<void>(device_.elapsed(event_inside, event_inside)), DeviceError);
  device_.record(event_inside, root_);
  EXPECT_NO_THROW(device_.synchronize(event_inside.get()));
}

}  // namespace

}  // namespace xferbench::test
