#include "device/sim/sim_device.hpp"

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
    device_.record(start, root);
    work();
    device_.synchronize();
    device_.record(stop, root);
    device_.synchronize();
    return device_.elapsed(start, stop);
  }

  Stream stream() { return device_.make_stream(StreamKind::nonblocking); }

  Copy in() { return {on_gpu_in_->data, host_in_->data, kBytes, Direction::h2d}; }
  Copy out() { return {host_out_->data, on_gpu_out_->data, kBytes, Direction::d2h}; }

  sim::SimDevice device_{profile("h200")};
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
    device_.copy(in(), a);
    device_.copy(out(), b);
  });
  EXPECT_NEAR(both, one_way_ / profile("h200").d2h_duplex_rate, 0.05 * one_way_);
}

TEST_F(SimDeviceTest, CopiesOfOneDirectionTakeTurns) {
  const Stream a = stream();
  const Stream b = stream();
  const double twice = makespan([&] {
    device_.copy(in(), a);
    device_.copy(in(), b);
  });
  EXPECT_NEAR(twice, 2 * one_way_, 0.1 * one_way_);
}

TEST_F(SimDeviceTest, WithOneCopyEngineOppositeCopiesTakeTurns) {
  sim::SimDevice one(profile("h200-one-engine"));
  const HostBuffer host = one.allocate_host(kBytes, HostMemory::pinned);
  const DeviceBuffer gpu = one.allocate_device(kBytes);
  const Stream a = one.make_stream(StreamKind::nonblocking);
  const Stream b = one.make_stream(StreamKind::nonblocking);
  const double begun = one.host_now();
  one.copy({gpu->data, host->data, kBytes, Direction::h2d}, a);
  one.copy({host->data, gpu->data, kBytes, Direction::d2h}, b);
  one.synchronize();
  EXPECT_NEAR(one.host_now() - begun, 2 * one_way_, 0.1 * one_way_);
}

TEST_F(SimDeviceTest, AStreamRunsInOrderAndCarriesTheData) {
  pattern::fill_bytes({host_in_->data, kBytes}, 9);
  pattern::poison({host_out_->data, kBytes});
  const Stream s = stream();
  device_.copy(in(), s);
  device_.copy({on_gpu_out_->data, on_gpu_in_->data, kBytes, Direction::d2d}, s);
  device_.copy(out(), s);
  device_.synchronize();
  EXPECT_FALSE(pattern::check_bytes({host_out_->data, kBytes}, 9).has_value());
}

class TwoStreamHandOver : public SimDeviceTest, public testing::WithParamInterface<bool> {};

TEST_P(TwoStreamHandOver, IsRightWithAnEventAndCaughtAsWrongDataWithout) {
  const bool waits = GetParam();
  pattern::fill_bytes({host_in_->data, kBytes}, 9);
  pattern::poison({host_out_->data, kBytes});
  device_.fill(on_gpu_in_, pattern::kPoison, stream());
  device_.synchronize();
  const Stream producer = stream();
  const Stream consumer = stream();
  const Event arrived = device_.make_event(EventKind::ordering);
  device_.copy(in(), producer);
  device_.record(arrived, producer);
  if (waits) device_.wait(consumer, arrived);
  device_.copy({host_out_->data, on_gpu_in_->data, kBytes, Direction::d2h}, consumer);
  device_.synchronize();
  const auto wrong = pattern::check_bytes({host_out_->data, kBytes}, 9);
  EXPECT_EQ(wrong.has_value(), !waits);
  if (wrong) {
    EXPECT_EQ(wrong->offset, 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(WaitingOrNot, TwoStreamHandOver, testing::Bool());

TEST_F(SimDeviceTest, AKernelReadsItsInputsWhenItStarts) {
  constexpr std::size_t kElements = kBytes / sizeof(float);
  pattern::fill_elements({reinterpret_cast<float*>(host_in_->data), kElements}, 2);
  auto* gpu_in = reinterpret_cast<float*>(on_gpu_in_->data);
  auto* gpu_out = reinterpret_cast<float*>(on_gpu_out_->data);
  const Elementwise kernel(ElementwiseOp::fma, {gpu_in, nullptr, gpu_out, kElements, 3});
  const Stream ordered = stream();
  device_.copy(in(), ordered);
  device_.launch(kernel, ordered);
  device_.copy(out(), ordered);
  device_.synchronize();
  const auto right = [](std::size_t i) { return kernels::expected(ElementwiseOp::fma, pattern::element(2, i), i, 3); };
  const std::span<const float> result(reinterpret_cast<const float*>(host_out_->data), kElements);
  EXPECT_FALSE(pattern::check_elements(result, right).has_value());

  // The same without order between copy and kernel: the kernel sees what was there before.
  device_.fill(on_gpu_in_, std::byte{0}, ordered);
  device_.synchronize();
  const Stream other = stream();
  device_.copy(in(), ordered);
  device_.launch(kernel, other);
  device_.synchronize();
  device_.copy(out(), other);
  device_.synchronize();
  EXPECT_EQ(result[0], 3.0F);
}

TEST_F(SimDeviceTest, AKernelWithoutOutputTakesItsTimeOnly) {
  const Stream s = stream();
  const double begun = device_.host_now();
  device_.launch(kernels::Delay(1e-3), s);
  device_.synchronize(s.get());
  EXPECT_NEAR(device_.host_now() - begun, 1e-3, 20e-6);
}

TEST_F(SimDeviceTest, DataStaysPutWhileItIsNotCarried) {
  pattern::poison({host_out_->data, kBytes});
  device_.carry_data(false);
  device_.copy(out(), stream());
  device_.synchronize();
  EXPECT_EQ(host_out_->data[0], pattern::kPoison);
}

TEST_F(SimDeviceTest, PageableCopiesBlockTheHostAndPinnedOnesDoNot) {
  const HostBuffer ordinary = device_.allocate_host(kBytes, HostMemory::pageable);
  const Stream s = stream();
  double before = device_.host_now();
  device_.copy(in(), s);
  EXPECT_LT(device_.host_now() - before, 10e-6);
  device_.synchronize();
  before = device_.host_now();
  device_.copy({on_gpu_in_->data, ordinary->data, kBytes, Direction::h2d}, s);
  EXPECT_GT(device_.host_now() - before, kBytes / profile("h200").pageable_h2d_rate);
}

TEST_F(SimDeviceTest, MemoryFromElsewhereIsPageable) {
  std::vector<std::byte> ordinary(1U << 20);
  const double before = device_.host_now();
  device_.copy({on_gpu_in_->data, ordinary.data(), ordinary.size(), Direction::h2d}, stream());
  EXPECT_GT(device_.host_now() - before, static_cast<double>(ordinary.size()) / profile("h200").pageable_h2d_rate);
}

TEST_F(SimDeviceTest, SmallPageableCopiesToTheGpuReturnEarly) {
  const HostBuffer ordinary = device_.allocate_host(128 * 1024, HostMemory::pageable);
  const Stream s = stream();
  const auto blocked = [&](std::size_t bytes) {
    device_.synchronize();
    const double before = device_.host_now();
    device_.copy({on_gpu_in_->data, ordinary->data, bytes, Direction::h2d}, s);
    return device_.host_now() - before;
  };
  const double inlined = blocked(64 * 1024);
  const double staged = blocked(64 * 1024 + 1);
  EXPECT_LT(inlined, staged - profile("h200").pageable_overhead);
}

TEST_F(SimDeviceTest, BlockingCopyReturnsWithTheData) {
  pattern::fill_bytes({host_in_->data, kBytes}, 4);
  device_.copy_blocking(in());
  EXPECT_EQ(std::memcmp(on_gpu_in_->data, host_in_->data, kBytes), 0);
}

TEST_F(SimDeviceTest, BlockingStreamsAndTheDefaultStreamWaitForEachOther) {
  const auto side_by_side = [&](StreamKind kind) {
    const Stream legacy = device_.make_stream(StreamKind::legacy_default);
    const Stream other = device_.make_stream(kind);
    return makespan([&] {
      device_.copy(in(), legacy);
      device_.copy(out(), other);
    });
  };
  EXPECT_LT(side_by_side(StreamKind::nonblocking), 1.3 * one_way_);
  EXPECT_GT(side_by_side(StreamKind::blocking), 1.9 * one_way_);
}

TEST_F(SimDeviceTest, GateHoldsItsStreamUntilOpened) {
  const Gate gate = device_.make_gate();
  const Stream s = stream();
  const Event before = device_.make_event(EventKind::timing);
  const Event after = device_.make_event(EventKind::timing);
  device_.record(before, s);
  device_.close(gate, s);
  device_.record(after, s);
  for (int i = 0; i < 100; ++i) device_.record(device_.make_event(EventKind::ordering), stream());  // time passes
  const double opened = device_.host_now();
  device_.open(gate);
  device_.synchronize(after);
  EXPECT_FALSE(device_.timed_out(gate));
  EXPECT_GT(device_.elapsed(before, after), 0.5 * opened);
}

TEST_F(SimDeviceTest, GateHidesSubmissionFromATimedRegion) {
  const auto timed = [&](bool gated) {
    const Gate gate = device_.make_gate();
    const Stream s = stream();
    const Event start = device_.make_event(EventKind::timing);
    const Event stop = device_.make_event(EventKind::timing);
    if (gated) device_.close(gate, s);
    device_.record(start, s);
    for (int i = 0; i < 50; ++i) {
      device_.copy({on_gpu_in_->data, host_in_->data, 64, Direction::h2d}, s);
      device_.synchronize(stop);  // nothing recorded yet: returns at once
    }
    device_.record(stop, s);
    device_.open(gate);
    device_.synchronize(stop);
    return device_.elapsed(start, stop);
  };
  EXPECT_LE(timed(true), timed(false));
}

TEST_F(SimDeviceTest, ForgottenGateTimesOut) {
  const Gate gate = device_.make_gate(0.25);
  const Stream s = stream();
  device_.close(gate, s);
  const double before = device_.host_now();
  device_.synchronize();
  EXPECT_TRUE(device_.timed_out(gate));
  EXPECT_NEAR(device_.host_now() - before, 0.25, 1e-3);
}

TEST_F(SimDeviceTest, ElapsedRefusesEventsThatCannotTell) {
  const Event ordering = device_.make_event(EventKind::ordering);
  const Event never = device_.make_event(EventKind::timing);
  const Stream s = stream();
  device_.record(ordering, s);
  device_.synchronize();
  EXPECT_THROW(static_cast<void>(device_.elapsed(ordering, ordering)), DeviceError);
  EXPECT_THROW(static_cast<void>(device_.elapsed(never, never)), DeviceError);
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
    auto* gpu_in = reinterpret_cast<float*>(on_gpu_in_->data);
    const Elementwise kernel(ElementwiseOp::fma, {gpu_in, nullptr, gpu_in, kElements, work});
    const Stream s = stream();
    return makespan([&] { device_.launch(kernel, s); });
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
  const double one = makespan([&] { device_.launch(kernel, streams[0]); });
  const double four = makespan([&] {
    for (const Stream& s : streams) device_.launch(kernel, s);
  });
  const double in_a_row = makespan([&] {
    for (int i = 0; i < 4; ++i) device_.launch(kernel, streams[0]);
  });
  const double launches = 20e-6;
  ASSERT_GT(one, 10 * launches);
  EXPECT_NEAR(four, one, launches);
  EXPECT_NEAR(in_a_row, 4 * one, 4 * launches);
}

TEST_F(SimDeviceTest, ASmallKernelHasItsPartOfTheArithmeticAndFourTimesThatOfTheMemory) {
  const auto& p = profile("h200");
  const Stream s = stream();
  const auto time = [&](const KernelCost& cost) { return makespan([&] { device_.launch(Priced(cost), s); }); };
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
    return makespan([&] { device_.launch(Priced({.h2d_bytes = in, .d2h_bytes = out}), s); });
  };
  constexpr std::uint64_t kMuch = 1'000'000'000;
  const double in = kMuch / p.kernel_h2d_rate;
  EXPECT_NEAR(time(kMuch, 0), in, 20e-6);
  EXPECT_NEAR(time(kMuch, kMuch), in / p.kernel_duplex_ratio, 0.01 * in);
  EXPECT_NEAR(time(kMuch, 1), in, 20e-6) << "a result of a few bytes disturbs nobody";
}

TEST(SimulatedProfiles, UnknownNameIsAUsageError) { EXPECT_THROW(open_simulated("h2000"), UsageError); }

}  // namespace

}  // namespace xferbench::test
