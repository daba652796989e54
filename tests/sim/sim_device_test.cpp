
#include <array>
#include <cstring>

#include "core/error.hpp"
#include "kernels/delay.hpp"
#include "sim/sim_fixture.hpp"

namespace xferbench::test {

namespace {

using kernels::Elementwise;
using kernels::ElementwiseOp;

/// A kernel of any cost, without data.
class Priced final : public Kernel {
 public:
  explicit Priced(const KernelCost& cost) : cost_(cost) {}
  [[nodiscard]] std::string_view name() const override { return "priced"; }
  [[nodiscard]] KernelCost cost() const override { return cost_; }
  [[nodiscard]] std::span<std::byte> output() const override { return {}; }
  void compute(std::span<std::byte>) const override {}
  [[nodiscard]] std::unique_ptr<Kernel> clone() const override { return std::make_unique<Priced>(*this); }
#if XFERBENCH_WITH_CUDA
  void preload() const override {}
  void launch(void*) const override {}
#endif

 private:
  KernelCost cost_;
};

constexpr std::size_t kBytes = 16U << 20;

class SimDeviceTest : public testing::Test {
 protected:
  /// Time from the first submission to everything finished.
  template <class Work>
  double makespan(Work work) {
    device_.synchronize();
    const Event start = device_.make_event(EventKind::timing);
    const Event stop = device_.make_event(EventKind::timing);
    const Stream root = device_.make_stream(StreamKind::nonblocking);
    root.record(start);
    work();
    device_.synchronize();
    root.record(stop);
    device_.synchronize();
    return elapsed(start, stop);
  }

  Stream stream() { return device_.make_stream(StreamKind::nonblocking); }

  Copy in() { return {on_gpu_in_.data, host_in_.data, kBytes, Direction::h2d}; }
  Copy out() { return {host_out_.data, on_gpu_out_.data, kBytes, Direction::d2h}; }

  sim::SimMachine machine_{profile("h200")};
  Device& device_ = machine_.device();
  HostBuffer host_in_ = device_.allocate_host(kBytes, HostMemory::pinned);
  HostBuffer host_out_ = device_.allocate_host(kBytes, HostMemory::pinned);
  DeviceBuffer on_gpu_in_ = device_.allocate_device(kBytes);
  DeviceBuffer on_gpu_out_ = device_.allocate_device(kBytes);
  double one_way_ = kBytes / profile("h200").h2d_rate;
};

TEST_F(SimDeviceTest, OppositeCopiesOverlapAtTheDuplexRatio) {
  const Stream a = stream();
  const Stream b = stream();
  const double both = makespan([&] {
    a.copy(in());
    b.copy(out());
  });
  EXPECT_NEAR(both, one_way_ / profile("h200").d2h_duplex_rate, 0.05 * one_way_);
}

TEST_F(SimDeviceTest, CopiesOfOneDirectionTakeTurns) {
  const Stream a = stream();
  const Stream b = stream();
  const double twice = makespan([&] {
    a.copy(in());
    b.copy(in());
  });
  EXPECT_NEAR(twice, 2 * one_way_, 0.1 * one_way_);
}

TEST_F(SimDeviceTest, WithOneCopyEngineOppositeCopiesTakeTurns) {
  sim::SimMachine machine(profile("h200-one-engine"));
  Device& one = machine.device();
  const HostBuffer host = one.allocate_host(kBytes, HostMemory::pinned);
  const DeviceBuffer gpu = one.allocate_device(kBytes);
  const Stream a = one.make_stream(StreamKind::nonblocking);
  const Stream b = one.make_stream(StreamKind::nonblocking);
  const double begun = one.host().now();
  a.copy({gpu.data, host.data, kBytes, Direction::h2d});
  b.copy({host.data, gpu.data, kBytes, Direction::d2h});
  one.synchronize();
  EXPECT_NEAR(one.host().now() - begun, 2 * one_way_, 0.1 * one_way_);
}

TEST_F(SimDeviceTest, AStreamRunsInOrderAndCarriesTheData) {
  pattern::fill_bytes({host_in_.data, kBytes}, 9);
  pattern::poison({host_out_.data, kBytes});
  const Stream s = stream();
  s.copy(in());
  s.copy({on_gpu_out_.data, on_gpu_in_.data, kBytes, Direction::d2d});
  s.copy(out());
  device_.synchronize();
  EXPECT_FALSE(pattern::check_bytes({host_out_.data, kBytes}, 9).has_value());
}

class TwoStreamHandOver : public SimDeviceTest, public testing::WithParamInterface<bool> {};

TEST_P(TwoStreamHandOver, IsRightWithAnEventAndCaughtAsWrongDataWithout) {
  const bool waits = GetParam();
  pattern::fill_bytes({host_in_.data, kBytes}, 9);
  pattern::poison({host_out_.data, kBytes});
  stream().fill(on_gpu_in_, pattern::kPoison);
  device_.synchronize();
  const Stream producer = stream();
  const Stream consumer = stream();
  const Event arrived = device_.make_event(EventKind::ordering);
  producer.copy(in());
  producer.record(arrived);
  if (waits) consumer.wait(arrived);
  consumer.copy({host_out_.data, on_gpu_in_.data, kBytes, Direction::d2h});
  device_.synchronize();
  const auto wrong = pattern::check_bytes({host_out_.data, kBytes}, 9);
  EXPECT_EQ(wrong.has_value(), !waits);
  if (wrong) {
    EXPECT_EQ(wrong->offset, 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(WaitingOrNot, TwoStreamHandOver, testing::Bool());

TEST_F(SimDeviceTest, AKernelReadsItsInputsWhenItStarts) {
  constexpr std::size_t kElements = kBytes / sizeof(float);
  pattern::fill_elements({reinterpret_cast<float*>(host_in_.data), kElements}, 2);
  auto* gpu_in = reinterpret_cast<float*>(on_gpu_in_.data);
  auto* gpu_out = reinterpret_cast<float*>(on_gpu_out_.data);
  const Elementwise kernel(ElementwiseOp::fma, {gpu_in, nullptr, gpu_out, kElements, 3});
  const Stream ordered = stream();
  ordered.copy(in());
  ordered.launch(kernel);
  ordered.copy(out());
  device_.synchronize();
  const auto right = [](std::size_t i) { return kernels::expected(ElementwiseOp::fma, pattern::element(2, i), i, 3); };
  const std::span<const float> result(reinterpret_cast<const float*>(host_out_.data), kElements);
  EXPECT_FALSE(pattern::check_elements(result, right).has_value());

  // The same without order between copy and kernel: the kernel sees what was there before.
  ordered.fill(on_gpu_in_, std::byte{0});
  device_.synchronize();
  const Stream other = stream();
  ordered.copy(in());
  other.launch(kernel);
  device_.synchronize();
  other.copy(out());
  device_.synchronize();
  EXPECT_EQ(result[0], 3.0F);
}

TEST_F(SimDeviceTest, AKernelWithoutOutputTakesItsTimeOnly) {
  const Stream s = stream();
  const double begun = machine_.host().now();
  s.launch(kernels::Delay(1e-3));
  s.synchronize();
  EXPECT_NEAR(machine_.host().now() - begun, 1e-3, 20e-6);
}

TEST_F(SimDeviceTest, DataStaysPutWhileItIsNotCarried) {
  pattern::poison({host_out_.data, kBytes});
  machine_.set_data_movement(false);
  stream().copy(out());
  device_.synchronize();
  EXPECT_EQ(host_out_.data[0], pattern::kPoison);
}

TEST_F(SimDeviceTest, PageableCopiesBlockTheHostAndPinnedOnesDoNot) {
  const HostBuffer ordinary = device_.allocate_host(kBytes, HostMemory::pageable);
  const Stream s = stream();
  double before = machine_.host().now();
  s.copy(in());
  EXPECT_LT(machine_.host().now() - before, 10e-6);
  device_.synchronize();
  before = machine_.host().now();
  s.copy({on_gpu_in_.data, ordinary.data, kBytes, Direction::h2d});
  EXPECT_GT(machine_.host().now() - before, kBytes / profile("h200").pageable_h2d_rate);
}

TEST_F(SimDeviceTest, MemoryFromElsewhereIsPageable) {
  std::vector<std::byte> ordinary(1U << 20);
  const double before = machine_.host().now();
  stream().copy({on_gpu_in_.data, ordinary.data(), ordinary.size(), Direction::h2d});
  EXPECT_GT(machine_.host().now() - before, static_cast<double>(ordinary.size()) / profile("h200").pageable_h2d_rate);
}

TEST_F(SimDeviceTest, SmallPageableCopiesToTheGpuReturnEarly) {
  const HostBuffer ordinary = device_.allocate_host(128 * 1024, HostMemory::pageable);
  const Stream s = stream();
  const auto blocked = [&](std::size_t bytes) {
    device_.synchronize();
    const double before = machine_.host().now();
    s.copy({on_gpu_in_.data, ordinary.data, bytes, Direction::h2d});
    return machine_.host().now() - before;
  };
  const double inlined = blocked(64 * 1024);
  const double staged = blocked(64 * 1024 + 1);
  EXPECT_LT(inlined, staged - profile("h200").pageable_overhead);
}

TEST_F(SimDeviceTest, BlockingCopyReturnsWithTheData) {
  pattern::fill_bytes({host_in_.data, kBytes}, 4);
  device_.copy_blocking(in());
  EXPECT_EQ(std::memcmp(on_gpu_in_.data, host_in_.data, kBytes), 0);
}

// As cudaMemcpy does with little pageable memory: a stream that does not wait for the default one finds the old bytes.
TEST_F(SimDeviceTest, ABlockingCopyOfLittlePageableMemoryReturnsBeforeTheDataArrives) {
  constexpr std::size_t kLittle = 1024;
  const HostBuffer ordinary = device_.allocate_host(kLittle, HostMemory::pageable);
  const Copy in{on_gpu_in_.data, ordinary.data, kLittle, Direction::h2d};
  const auto arrived = [&] { return pattern::check_bytes({on_gpu_in_.data, kLittle}, 4) == std::nullopt; };
  const auto prepare = [&] {
    pattern::poison({on_gpu_in_.data, kLittle});
    pattern::fill_bytes({ordinary.data, kLittle}, 4);
  };
  prepare();
  device_.copy_blocking(in);
  EXPECT_FALSE(arrived());
  pattern::poison({ordinary.data, kLittle});  // it may be used again all the same
  device_.synchronize();
  EXPECT_TRUE(arrived());

  prepare();
  device_.copy_and_wait(in);
  EXPECT_TRUE(arrived());
}

TEST_F(SimDeviceTest, BlockingStreamsAndTheDefaultStreamWaitForEachOther) {
  const auto side_by_side = [&](StreamKind kind) {
    const Stream legacy = device_.make_stream(StreamKind::legacy_default);
    const Stream other = device_.make_stream(kind);
    return makespan([&] {
      legacy.copy(in());
      other.copy(out());
    });
  };
  EXPECT_LT(side_by_side(StreamKind::nonblocking), 1.3 * one_way_);
  EXPECT_GT(side_by_side(StreamKind::blocking), 1.9 * one_way_);
}

TEST_F(SimDeviceTest, GateHoldsItsStreamUntilOpened) {
  const Gate gate = machine_.make_gate();
  const Stream s = stream();
  const Event before = device_.make_event(EventKind::timing);
  const Event after = device_.make_event(EventKind::timing);
  s.record(before);
  gate.close(s);
  s.record(after);
  for (int i = 0; i < 100; ++i) stream().record(device_.make_event(EventKind::ordering));  // time passes
  const double opened = machine_.host().now();
  gate.open();
  after.synchronize();
  EXPECT_FALSE(gate.timed_out());
  EXPECT_GT(elapsed(before, after), 0.5 * opened);
}

TEST_F(SimDeviceTest, GateHidesSubmissionFromATimedRegion) {
  const auto timed = [&](bool gated) {
    const Gate gate = machine_.make_gate();
    const Stream s = stream();
    const Event start = device_.make_event(EventKind::timing);
    const Event stop = device_.make_event(EventKind::timing);
    if (gated) gate.close(s);
    s.record(start);
    for (int i = 0; i < 50; ++i) {
      s.copy({on_gpu_in_.data, host_in_.data, 64, Direction::h2d});
      stop.synchronize();  // nothing recorded yet: returns at once
    }
    s.record(stop);
    gate.open();
    stop.synchronize();
    return elapsed(start, stop);
  };
  EXPECT_LE(timed(true), timed(false));
}

TEST_F(SimDeviceTest, ForgottenGateTimesOut) {
  const Gate gate = machine_.make_gate(0.25);
  const Stream s = stream();
  gate.close(s);
  const double before = machine_.host().now();
  device_.synchronize();
  EXPECT_TRUE(gate.timed_out());
  EXPECT_NEAR(machine_.host().now() - before, 0.25, 1e-3);
}

TEST_F(SimDeviceTest, OneGateHoldsSeveralStreamsAndIsArmedAnew) {
  const Gate gate = machine_.make_gate(0.25);
  const std::array<Stream, 2> streams{stream(), stream()};
  const std::array<Event, 2> passed{device_.make_event(EventKind::timing), device_.make_event(EventKind::timing)};
  const auto round = [&](bool in_time) {
    for (std::size_t i = 0; i < streams.size(); ++i) {
      gate.close(streams[i]);
      streams[i].record(passed[i]);
    }
    machine_.host().work({.seconds = in_time ? 0.1 : 0.3}, [] {});
    const double opened = machine_.host().now();
    gate.open();
    device_.synchronize();
    EXPECT_EQ(gate.timed_out(), !in_time);
    if (!in_time) return;
    EXPECT_GE(machine_.host().now(), opened);
    EXPECT_NEAR(elapsed(passed[0], passed[1]), 0, 10e-6) << "one word lets go of both";
  };
  round(true);
  round(false);
  round(true);
}

TEST_F(SimDeviceTest, ElapsedRefusesEventsThatCannotTell) {
  const Event ordering = device_.make_event(EventKind::ordering);
  const Event never = device_.make_event(EventKind::timing);
  const Stream s = stream();
  s.record(ordering);
  device_.synchronize();
  EXPECT_THROW(static_cast<void>(elapsed(ordering, ordering)), DeviceError);
  EXPECT_THROW(static_cast<void>(elapsed(never, never)), DeviceError);
}

TEST_F(SimDeviceTest, DeviceMemoryIsLimitedAndGivenBack) {
  const std::uint64_t free = device_.memory().free_bytes;
  EXPECT_THROW(static_cast<void>(device_.allocate_device(free + 1)), DeviceError);
  {
    const DeviceBuffer most = device_.allocate_device(free);
    EXPECT_EQ(device_.memory().free_bytes, 0U);
  }
  EXPECT_EQ(device_.memory().free_bytes, free);
}

TEST_F(SimDeviceTest, KernelTimeIsTheLargerOfTrafficAndArithmetic) {
  constexpr std::size_t kElements = kBytes / sizeof(float);
  const auto time = [&](std::uint32_t work) {
    auto* gpu_in = reinterpret_cast<float*>(on_gpu_in_.data);
    const Elementwise kernel(ElementwiseOp::fma, {gpu_in, nullptr, gpu_in, kElements, work});
    const Stream s = stream();
    return makespan([&] { s.launch(kernel); });
  };
  const double traffic = 2 * kBytes / profile("h200").kernel_traffic_rate;
  const double arithmetic = kElements * 10'000.0 / profile("h200").fma_rate;
  EXPECT_NEAR(time(1), traffic, 20e-6);
  EXPECT_NEAR(time(10'000), arithmetic, 20e-6);
}

TEST_F(SimDeviceTest, KernelsThatOccupyAQuarterOfTheGpuRunBesideEachOther) {
  const unsigned quarter = profile("h200").multiprocessors * 2;
  const Priced kernel({.fma = 1e10, .blocks = quarter});
  const std::array<Stream, 4> streams{stream(), stream(), stream(), stream()};
  const double one = makespan([&] { streams[0].launch(kernel); });
  const double four = makespan([&] {
    for (const Stream& s : streams) s.launch(kernel);
  });
  const double in_a_row = makespan([&] {
    for (int i = 0; i < 4; ++i) streams[0].launch(kernel);
  });
  const double launches = 20e-6;
  ASSERT_GT(one, 10 * launches);
  EXPECT_NEAR(four, one, launches);
  EXPECT_NEAR(in_a_row, 4 * one, 4 * launches);
}

TEST_F(SimDeviceTest, ASmallKernelHasItsPartOfTheArithmeticAndFourTimesThatOfTheMemory) {
  const auto& p = profile("h200");
  const Stream s = stream();
  const auto time = [&](const KernelCost& cost) { return makespan([&] { s.launch(Priced(cost)); }); };
  const unsigned half = p.multiprocessors * 4;
  const unsigned eighth = p.multiprocessors;
  constexpr std::uint64_t kTraffic = 10'000'000'000;
  EXPECT_NEAR(time({.fma = 1e11, .blocks = half}), 2e11 / p.fma_rate, 20e-6);
  EXPECT_NEAR(time({.fma = 1e11, .blocks = 100 * half}), 1e11 / p.fma_rate, 20e-6);
  EXPECT_NEAR(time({.bytes = kTraffic, .blocks = half}), kTraffic / p.kernel_traffic_rate, 20e-6);
  EXPECT_NEAR(time({.bytes = kTraffic, .blocks = eighth}), 2 * kTraffic / p.kernel_traffic_rate, 20e-6);
}

TEST_F(SimDeviceTest, AKernelThatReadsAndWritesHostMemoryContendsWithItself) {
  const auto& p = profile("h200");
  const Stream s = stream();
  const auto time = [&](std::uint64_t in, std::uint64_t out) {
    return makespan([&] { s.launch(Priced({.h2d_bytes = in, .d2h_bytes = out})); });
  };
  constexpr std::uint64_t kMuch = 1'000'000'000;
  const double in = kMuch / p.kernel_h2d_rate;
  EXPECT_NEAR(time(kMuch, 0), in, 20e-6);
  EXPECT_NEAR(time(kMuch, kMuch), in / p.kernel_duplex_ratio, 0.01 * in);
  EXPECT_NEAR(time(kMuch, 1), in, 20e-6) << "a result of a few bytes disturbs nobody";
}

// --- Events ----------------------------------------------------------------------------------------------------------

TEST_F(SimDeviceTest, AnOrderingEventDoesNotDelayItsOwnStreamAndATimingEventDoes) {
  const Stream s = stream();
  const auto with_events = [&](EventKind kind, int events) {
    return makespan([&] {
      s.launch(kernels::Delay(1e-3));  // the calls that follow are hidden behind it
      for (int i = 0; i < events; ++i) s.record(device_.make_event(kind));
      s.launch(kernels::Delay(1e-3));
    });
  };
  const double none = with_events(EventKind::ordering, 0);
  EXPECT_NEAR(with_events(EventKind::ordering, 50), none, 1e-9);
  EXPECT_NEAR(with_events(EventKind::timing, 50), none + 50 * profile("h200").event_cost, 1e-9);
}

TEST_F(SimDeviceTest, AnOrderingEventIsSeenByOthersALittleLater) {
  const Stream a = stream();
  const Stream b = stream();
  const auto chain = [&](bool across) {
    const Event done = device_.make_event(EventKind::ordering);
    return makespan([&] {
      a.launch(kernels::Delay(1e-3));
      a.record(done);
      if (across) b.wait(done);
      (across ? b : a).launch(kernels::Delay(1e-3));
    });
  };
  EXPECT_NEAR(chain(true), chain(false) + profile("h200").event_cost, 1e-9);
}

TEST_F(SimDeviceTest, AnEventThatIsRecordedAgainKeepsEarlierWaits) {
  pattern::fill_bytes({host_in_.data, kBytes}, 9);
  pattern::poison({host_out_.data, kBytes});
  const Stream producer = stream();
  const Stream consumer = stream();
  const Event arrived = device_.make_event(EventKind::ordering);
  producer.copy(in());
  producer.record(arrived);
  consumer.wait(arrived);
  consumer.record(arrived);  // says nothing of what is waited for above
  consumer.copy({host_out_.data, on_gpu_in_.data, kBytes, Direction::d2h});
  device_.synchronize();
  EXPECT_FALSE(pattern::check_bytes({host_out_.data, kBytes}, 9).has_value());
}

// --- Duplex ----------------------------------------------------------------------------------------------------------

/// An H200 whose directions disturb each other as a test says, and nothing else costs anything.
class DuplexOnSim : public testing::Test {
 protected:
  /// Seconds until each direction ends, both started together: so many bytes each way, in so many copies.
  std::array<double, 2> both(std::size_t in_copies, std::size_t out_copies) {
    sim::SimMachine machine(profile_);
    Device& device = machine.device();
    const HostBuffer host = device.allocate_host(2 * kBytes, HostMemory::pinned);
    const DeviceBuffer gpu = device.allocate_device(2 * kBytes);
    const std::array<Stream, 2> s{device.make_stream(StreamKind::nonblocking),
                                  device.make_stream(StreamKind::nonblocking)};
    const std::array<Event, 3> events{device.make_event(EventKind::timing), device.make_event(EventKind::timing),
                                      device.make_event(EventKind::timing)};
    const Gate gate = machine.make_gate();
    gate.close(s[0]);
    s[0].record(events[0]);
    s[1].wait(events[0]);
    for (std::size_t i = 0; i < in_copies; ++i) {
      s[0].copy({gpu.data, host.data, kBytes / in_copies, Direction::h2d});
    }
    for (std::size_t i = 0; i < out_copies; ++i) {
      s[1].copy({host.data + kBytes, gpu.data + kBytes, kBytes / out_copies, Direction::d2h});
    }
    s[0].record(events[1]);
    s[1].record(events[2]);
    gate.open();
    device.synchronize();
    const double stamp = profile_.event_cost;
    return {elapsed(events[0], events[1]) - stamp, elapsed(events[0], events[2]) - stamp};
  }

  static sim::Profile without_overheads() {
    sim::Profile p = profile("h200");
    p.h2d_rate = p.d2h_rate = 50e9;
    p.h2d_overhead = p.d2h_overhead = 0;
    p.h2d_duplex_rate = p.d2h_duplex_rate = p.h2d_duplex_overhead = p.d2h_duplex_overhead = 1;
    return p;
  }

  sim::Profile profile_ = without_overheads();
  double alone_ = kBytes / 50e9;
};

TEST_F(DuplexOnSim, ALinkThatIsFullDuplexTakesAsLongAsOneWay) {
  const auto [in, out] = both(1, 1);
  EXPECT_NEAR(in, alone_, 1e-9);
  EXPECT_NEAR(out, alone_, 1e-9);
}

TEST_F(DuplexOnSim, OneDirectionMaySufferAlone) {
  profile_.d2h_duplex_rate = 0.5;
  auto [in, out] = both(1, 1);
  EXPECT_NEAR(in, alone_, 1e-9);
  EXPECT_NEAR(out, 1.5 * alone_, 1e-9) << "half of it while the other moves, the rest alone";
  profile_ = without_overheads();
  profile_.h2d_duplex_rate = 0.8;
  const auto [slow_in, fast_out] = both(1, 1);
  EXPECT_NEAR(fast_out, alone_, 1e-9);
  EXPECT_NEAR(slow_in, 1.2 * alone_, 1e-9);
}

TEST_F(DuplexOnSim, OverheadsGrowWhileTheOtherDirectionMoves) {
  profile_.h2d_overhead = profile_.d2h_overhead = 4e-6;
  profile_.d2h_duplex_overhead = 2;
  const auto [in, out] = both(1, 16);
  EXPECT_NEAR(in, alone_ + 4e-6, 1e-9);
  // The first begins beside the other's overhead, which disturbs nobody, and the last ends alone.
  const double undisturbed = alone_ + 16 * 4e-6;
  EXPECT_GT(out, undisturbed + 10 * 4e-6);
  EXPECT_LT(out, undisturbed + 16 * 4e-6);
}

// --- Batches of copies -----------------------------------------------------------------------------------------------

class BatchOnSim : public SimDeviceTest {
 protected:
  static constexpr std::size_t kCopies = 64;
  static constexpr std::size_t kPart = kBytes / kCopies;

  /// Parts of the whole, the last first: a batch has no order.
  std::vector<Copy> parts(Direction direction) {
    std::vector<Copy> all;
    for (std::size_t i = kCopies; i-- > 0;) {
      std::byte* gpu = on_gpu_in_.data + i * kPart;
      const Copy to_gpu{gpu, host_in_.data + i * kPart, kPart, Direction::h2d};
      all.push_back(direction == Direction::h2d ? to_gpu
                                                : Copy{host_out_.data + i * kPart, gpu, kPart, Direction::d2h});
    }
    return all;
  }
};

TEST_F(BatchOnSim, MovesAllOfTheData) {
  pattern::fill_bytes({host_in_.data, kBytes}, 3);
  pattern::poison({host_out_.data, kBytes});
  const Stream s = stream();
  s.copy_batch(parts(Direction::h2d));
  s.copy_batch(parts(Direction::d2h));
  device_.synchronize();
  EXPECT_FALSE(pattern::check_bytes({host_out_.data, kBytes}, 3).has_value());
}

TEST_F(BatchOnSim, TakesAsLongAsOneCopyAndOneCall) {
  const auto& p = profile("h200");
  const Stream s = stream();
  const double before = machine_.host().now();
  s.copy_batch(parts(Direction::h2d));
  EXPECT_NEAR(machine_.host().now() - before, p.copy_call, 1e-12);
  const double batch = makespan([&] { s.copy_batch(parts(Direction::h2d)); });
  const double one = makespan([&] { s.copy(in()); });
  EXPECT_NEAR(batch, one, 1e-9);
  const double each = makespan([&] {
    for (const Copy& c : parts(Direction::h2d)) s.copy(c);
  });
  EXPECT_NEAR(each, one + (kCopies - 1) * p.h2d_overhead, 1e-6);
}

TEST_F(BatchOnSim, RefusesWhatItCannotDo) {
  const Stream s = stream();
  EXPECT_THROW(s.copy_batch({}), DeviceError);
  const std::vector<Copy> mixed{in(), out()};
  EXPECT_THROW(s.copy_batch(mixed), DeviceError);
  const HostBuffer ordinary = device_.allocate_host(kBytes, HostMemory::pageable);
  const std::vector<Copy> pageable{in(), {on_gpu_in_.data, ordinary.data, kBytes, Direction::h2d}};
  EXPECT_THROW(s.copy_batch(pageable), DeviceError);
  EXPECT_NO_THROW(s.copy_batch(parts(Direction::h2d))) << "the stream works on";
  device_.synchronize();
}

TEST_F(BatchOnSim, CanBePartOfAGraph) {
  pattern::fill_bytes({host_in_.data, kBytes}, 3);
  pattern::poison({host_out_.data, kBytes});
  const Stream s = stream();
  const Graph graph = s.capture([&] {
    s.copy_batch(parts(Direction::h2d));
    s.copy_batch(parts(Direction::d2h));
  });
  EXPECT_EQ(host_out_.data[0], pattern::kPoison);
  s.replay(graph);
  device_.synchronize();
  EXPECT_FALSE(pattern::check_bytes({host_out_.data, kBytes}, 3).has_value());
}

TEST(SimulatedProfiles, UnknownNameIsAUsageError) { EXPECT_THROW(open_simulated("h2000"), UsageError); }

}  // namespace

}  // namespace xferbench::test
