// The simulated device: copies, kernels, events, gates and contention in virtual time.
#include <array>
#include <cstring>

#include "kernels/delay.hpp"
#include "sim/sim_fixture.hpp"

namespace xferbench::test {

namespace {

using kernels::Elementwise;
using kernels::ElementwiseOp;

/// A kernel of a given cost, without data.
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

class SimDeviceTest : public SimTest {
 protected:
  /// Seconds from the first submission until everything has finished.
  template <class Work>
  double makespan(Work work) {
    device_.synchronize();
    const Event start = event(EventKind::timing);
    const Event stop = event(EventKind::timing);
    const Stream root = stream();
    root.record(start);
    work();
    device_.synchronize();
    root.record(stop);
    device_.synchronize();
    return elapsed(start, stop);
  }

  /// Seconds that the host spends in the copy call on an idle device.
  double blocked_by(const Copy& copy) {
    device_.synchronize();
    const double before = now();
    stream_.copy(copy);
    return now() - before;
  }

  Stream stream_ = stream();
};

// --- Copies ---------------------------------------------------------------------------------------------------------

/// Two copies submitted together; the first is H2D.
struct TwoCopies {
  std::string_view profile;
  Direction second;
  StreamKind first_stream;
  StreamKind second_stream;
  bool at_once;
};

class SideBySide : public testing::TestWithParam<TwoCopies> {};

TEST_P(SideBySide, OrInTurnsAsEnginesAndStreamsSay) {
  constexpr std::size_t kBytes = 16U << 20;
  const TwoCopies& two = GetParam();
  const sim::Profile& p = profile(two.profile);
  sim::SimMachine machine(p);
  Device& device = machine.device();
  const HostBuffer host = device.allocate_host(2 * kBytes, HostMemory::pinned);
  const DeviceBuffer gpu = device.allocate_device(2 * kBytes);
  const Stream a = device.make_stream(two.first_stream);
  const Stream b = device.make_stream(two.second_stream);
  const double begun = machine.host().now();
  a.copy({gpu.data, host.data, kBytes, Direction::h2d});
  if (two.second == Direction::h2d) {
    b.copy({gpu.data + kBytes, host.data + kBytes, kBytes, Direction::h2d});
  } else {
    b.copy({host.data + kBytes, gpu.data + kBytes, kBytes, Direction::d2h});
  }
  device.synchronize();
  const double one_way = kBytes / p.h2d_rate;
  EXPECT_NEAR(machine.host().now() - begun, two.at_once ? one_way / p.d2h_duplex_rate : 2 * one_way, 0.07 * one_way);
}

constexpr auto kFree = StreamKind::nonblocking;
constexpr auto kDefault = StreamKind::legacy_default;

INSTANTIATE_TEST_SUITE_P(TwoCopies, SideBySide,
                         testing::Values(TwoCopies{"h200", Direction::d2h, kFree, kFree, true},
                                         TwoCopies{"h200", Direction::h2d, kFree, kFree, false},
                                         TwoCopies{"h200-one-engine", Direction::d2h, kFree, kFree, false},
                                         TwoCopies{"h200", Direction::d2h, kDefault, kFree, true},
                                         TwoCopies{"h200", Direction::d2h, kDefault, StreamKind::blocking, false},
                                         TwoCopies{"h200", Direction::d2h, StreamKind::blocking, kDefault, false}));

TEST_F(SimDeviceTest, AStreamRunsInOrderAndCarriesTheData) {
  const DeviceBuffer other = device_.allocate_device(kBytes);
  prepare();
  stream_.copy(in());
  stream_.copy({other.data, gpu_.data, kBytes, Direction::d2d});
  stream_.copy({out_.data, other.data, kBytes, Direction::d2h});
  EXPECT_TRUE(came_back());
}

TEST_F(SimDeviceTest, DataStaysPutWhileItIsNotCarried) {
  prepare();
  machine_.set_data_movement(false);
  stream_.copy(in());
  stream_.copy(out());
  device_.synchronize();
  EXPECT_EQ(out_.data[0], pattern::kPoison);
}

TEST_F(SimDeviceTest, PageableCopiesBlockTheHostAndPinnedOnesDoNot) {
  const HostBuffer ordinary = device_.allocate_host(kBytes, HostMemory::pageable);
  const std::vector<std::byte> from_elsewhere(kBytes);
  EXPECT_LT(blocked_by(in()), 10e-6);
  for (const std::byte* source : {static_cast<const std::byte*>(ordinary.data), from_elsewhere.data()}) {
    EXPECT_GT(blocked_by({gpu_.data, source, kBytes, Direction::h2d}), kBytes / profile_.pageable_h2d_rate);
  }
  constexpr std::size_t kMostInlined = 64 * 1024;
  const double inlined = blocked_by({gpu_.data, ordinary.data, kMostInlined, Direction::h2d});
  const double staged = blocked_by({gpu_.data, ordinary.data, kMostInlined + 1, Direction::h2d});
  EXPECT_LT(inlined, staged - profile_.pageable_overhead) << "little to the GPU returns early";
}

TEST_F(SimDeviceTest, BlockingCopyReturnsWithTheData) {
  prepare();
  device_.copy_blocking(in());
  EXPECT_EQ(std::memcmp(gpu_.data, in_.data, kBytes), 0);
}

// As with cudaMemcpy of little pageable memory: a stream that does not synchronise with the default stream may still
// see the old bytes.
TEST_F(SimDeviceTest, ABlockingCopyOfLittlePageableMemoryReturnsBeforeTheDataArrives) {
  constexpr std::size_t kLittle = 1024;
  const HostBuffer ordinary = device_.allocate_host(kLittle, HostMemory::pageable);
  const Copy little{gpu_.data, ordinary.data, kLittle, Direction::h2d};
  const auto arrived = [&] { return pattern::check_bytes({gpu_.data, kLittle}, 4) == std::nullopt; };
  const auto put_in_place = [&] {
    pattern::poison({gpu_.data, kLittle});
    pattern::fill_bytes({ordinary.data, kLittle}, 4);
  };
  put_in_place();
  device_.copy_blocking(little);
  EXPECT_FALSE(arrived());
  pattern::poison({ordinary.data, kLittle});  // the source may be reused at once
  device_.synchronize();
  EXPECT_TRUE(arrived());

  put_in_place();
  device_.copy_and_wait(little);
  EXPECT_TRUE(arrived());
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

// --- Kernels --------------------------------------------------------------------------------------------------------

TEST_F(SimDeviceTest, AKernelReadsItsInputsWhenItStarts) {
  constexpr std::size_t kElements = kBytes / sizeof(float);
  const DeviceBuffer results = device_.allocate_device(kBytes);
  const Copy back{out_.data, results.data, kBytes, Direction::d2h};
  pattern::fill_elements({reinterpret_cast<float*>(in_.data), kElements}, 2);
  const Elementwise kernel(ElementwiseOp::fma, {reinterpret_cast<float*>(gpu_.data), nullptr,
                                                reinterpret_cast<float*>(results.data), kElements, 3});
  stream_.copy(in());
  stream_.launch(kernel);
  stream_.copy(back);
  device_.synchronize();
  const auto right = [](std::size_t i) { return kernels::expected(ElementwiseOp::fma, pattern::element(2, i), i, 3); };
  const std::span<const float> result(reinterpret_cast<const float*>(out_.data), kElements);
  EXPECT_FALSE(pattern::check_elements(result, right).has_value());

  // Without a wait between copy and kernel, the kernel sees the old bytes.
  stream_.fill(gpu_, std::byte{0});
  device_.synchronize();
  const Stream other = stream();
  stream_.copy(in());
  other.launch(kernel);
  device_.synchronize();
  other.copy(back);
  device_.synchronize();
  EXPECT_EQ(result[0], 3.0F);
}

TEST_F(SimDeviceTest, AKernelTakesTheLongestOfWhatItDoesOnItsPartOfTheGpu) {
  const sim::Profile& p = profile_;
  constexpr std::uint64_t kManyBytes = 10'000'000'000;
  constexpr std::size_t kElements = kBytes / sizeof(float);
  const unsigned all = 8 * p.multiprocessors;  // blocks that fill the GPU
  const auto elementwise = [&](std::uint32_t work) {
    auto* gpu = reinterpret_cast<float*>(gpu_.data);
    return Elementwise(ElementwiseOp::fma, {gpu, nullptr, gpu, kElements, work}).cost();
  };
  const double in = p.kernel_link_overhead + kManyBytes / p.kernel_h2d_rate;
  const std::vector<std::pair<KernelCost, double>> kernels{
      {elementwise(1), 2 * kBytes / p.kernel_traffic_rate},
      {elementwise(10'000), kElements * 10'000.0 / p.fma_rate},
      {{.seconds = 1e-3}, 1e-3},
      {{.fma = 1e11, .blocks = all / 2}, 2e11 / p.fma_rate},
      {{.fma = 1e11, .blocks = 50 * all}, 1e11 / p.fma_rate},
      {{.bytes = kManyBytes, .blocks = all / 2}, kManyBytes / p.kernel_traffic_rate},  // a quarter of the GPU is enough
      {{.bytes = kManyBytes, .blocks = all / 8}, 2 * kManyBytes / p.kernel_traffic_rate},
      {{.h2d_bytes = kManyBytes}, in},
      {{.h2d_bytes = kManyBytes, .d2h_bytes = 1}, in},  // a few bytes of output do not contend
  };
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const auto& [cost, seconds] = kernels[i];
    EXPECT_NEAR(makespan([&, &c = cost] { stream_.launch(Priced(c)); }), seconds, 20e-6) << "kernel " << i;
  }
  const double both = makespan([&] { stream_.launch(Priced({.h2d_bytes = kManyBytes, .d2h_bytes = kManyBytes})); });
  EXPECT_NEAR(both, in / p.kernel_duplex_ratio, 0.01 * in) << "it contends with itself";
}

TEST_F(SimDeviceTest, KernelsThatOccupyAQuarterOfTheGpuRunBesideEachOther) {
  const Priced kernel({.fma = 1e10, .blocks = profile_.multiprocessors * 2});
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

// --- The gate -------------------------------------------------------------------------------------------------------

TEST_F(SimDeviceTest, GateHoldsItsStreamUntilOpened) {
  const Gate gate = machine_.make_gate();
  const Event before = event(EventKind::timing);
  const Event after = event(EventKind::timing);
  stream_.record(before);
  gate.close(stream_);
  stream_.record(after);
  work(1e-3);
  gate.open();
  after.synchronize();
  EXPECT_FALSE(gate.timed_out());
  EXPECT_NEAR(elapsed(before, after), 1e-3, 10e-6);
}

TEST_F(SimDeviceTest, GateHidesSubmissionFromATimedRegion) {
  const auto timed = [&](bool gated) {
    const Gate gate = machine_.make_gate();
    const Event start = event(EventKind::timing);
    const Event stop = event(EventKind::timing);
    if (gated) gate.close(stream_);
    stream_.record(start);
    for (int i = 0; i < 50; ++i) {
      stream_.copy({gpu_.data, in_.data, 64, Direction::h2d});
      stop.synchronize();  // not recorded yet: returns at once
    }
    stream_.record(stop);
    gate.open();
    stop.synchronize();
    return elapsed(start, stop);
  };
  EXPECT_LE(timed(true), timed(false) + profile_.gate_to_copy);
}

TEST_F(SimDeviceTest, ForgottenGateTimesOut) {
  const Gate gate = machine_.make_gate(0.25);
  gate.close(stream_);
  const double before = now();
  device_.synchronize();
  EXPECT_TRUE(gate.timed_out());
  EXPECT_NEAR(now() - before, 0.25, 1e-3);
}

TEST_F(SimDeviceTest, OneGateHoldsSeveralStreamsAndIsArmedAnew) {
  const Gate gate = machine_.make_gate(0.25);
  const std::array<Stream, 2> streams{stream(), stream()};
  const std::array<Event, 2> passed{event(EventKind::timing), event(EventKind::timing)};
  for (const bool in_time : {true, false, true}) {
    for (std::size_t i = 0; i < streams.size(); ++i) {
      gate.close(streams[i]);
      streams[i].record(passed[i]);
    }
    work(in_time ? 0.1 : 0.3);
    const double opened = now();
    gate.open();
    device_.synchronize();
    EXPECT_EQ(gate.timed_out(), !in_time);
    if (!in_time) continue;
    EXPECT_GE(now(), opened);
    EXPECT_NEAR(elapsed(passed[0], passed[1]), 0, 10e-6) << "one word lets go of both";
  }
}

// --- Events ---------------------------------------------------------------------------------------------------------

enum class HandOver { none, once, and_recorded_again };

class TwoStreamHandOver : public SimTest, public testing::WithParamInterface<HandOver> {};

TEST_P(TwoStreamHandOver, IsRightWithAnEventAndCaughtAsWrongDataWithout) {
  prepare();
  const Stream producer = stream();
  const Stream consumer = stream();
  const Event arrived = event();
  producer.copy(in());
  producer.record(arrived);
  if (GetParam() != HandOver::none) consumer.wait(arrived);
  if (GetParam() == HandOver::and_recorded_again) consumer.record(arrived);  // must not affect the wait above
  consumer.copy(out());
  EXPECT_EQ(came_back(), GetParam() != HandOver::none);
}

INSTANTIATE_TEST_SUITE_P(WaitingOrNot, TwoStreamHandOver,
                         testing::Values(HandOver::none, HandOver::once, HandOver::and_recorded_again));

TEST_F(SimDeviceTest, ElapsedRefusesEventsThatCannotTell) {
  const Event ordering = event(EventKind::ordering);
  const Event never = event(EventKind::timing);
  stream_.record(ordering);
  device_.synchronize();
  EXPECT_THROW(static_cast<void>(elapsed(ordering, ordering)), DeviceError);
  EXPECT_THROW(static_cast<void>(elapsed(never, never)), DeviceError);
}

TEST_F(SimDeviceTest, AnOrderingEventDoesNotDelayItsOwnStreamAndATimingEventDoes) {
  const auto with_events = [&](EventKind kind, int events) {
    return makespan([&] {
      stream_.launch(kernels::Delay(1e-3));  // hides the calls that follow
      for (int i = 0; i < events; ++i) stream_.record(event(kind));
      stream_.launch(kernels::Delay(1e-3));
    });
  };
  const double none = with_events(EventKind::ordering, 0);
  EXPECT_NEAR(with_events(EventKind::ordering, 50), none, 1e-9);
  EXPECT_NEAR(with_events(EventKind::timing, 50), none + 50 * profile_.event_cost, 1e-9);
}

TEST_F(SimDeviceTest, AnOrderingEventIsSeenByOthersALittleLater) {
  const Stream other = stream();
  const auto chain = [&](bool across) {
    const Event done = event();
    return makespan([&] {
      stream_.launch(kernels::Delay(1e-3));
      stream_.record(done);
      if (across) other.wait(done);
      (across ? other : stream_).launch(kernels::Delay(1e-3));
    });
  };
  EXPECT_NEAR(chain(true), chain(false) + profile_.order_cost, 1e-9);
}

// --- Duplex ---------------------------------------------------------------------------------------------------------

/// Only contention between directions costs anything, as each test sets it.
class DuplexOnSim : public testing::Test {
 protected:
  static constexpr std::size_t kBytes = 16U << 20;

  /// Seconds until H2D and D2H end, started together with 16 MiB each, in so many copies.
  std::array<double, 2> both(std::size_t in_copies, std::size_t out_copies) {
    sim::SimMachine machine(profile_);
    Device& device = machine.device();
    const auto stream = [&] { return device.make_stream(StreamKind::nonblocking); };
    const auto event = [&] { return device.make_event(EventKind::timing); };
    const HostBuffer host = device.allocate_host(2 * kBytes, HostMemory::pinned);
    const DeviceBuffer gpu = device.allocate_device(2 * kBytes);
    const std::array<Stream, 2> s{stream(), stream()};
    const std::array<Event, 3> events{event(), event(), event()};
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
    p.h2d_overhead = p.d2h_overhead = p.gate_to_copy = 0;
    p.h2d_duplex_rate = p.d2h_duplex_rate = p.h2d_duplex_overhead = p.d2h_duplex_overhead = 1;
    return p;
  }

  sim::Profile profile_ = without_overheads();
  double alone_ = kBytes / 50e9;
};

TEST_F(DuplexOnSim, EachDirectionMaySufferAlone) {
  struct Rates {
    double in;
    double out;
    double in_takes;  // relative to the duration alone
    double out_takes;
  };
  for (const Rates& r : {Rates{1, 1, 1, 1}, Rates{1, 0.5, 1, 1.5}, Rates{0.8, 1, 1.2, 1}}) {
    profile_.h2d_duplex_rate = r.in;
    profile_.d2h_duplex_rate = r.out;
    const auto [in, out] = both(1, 1);
    EXPECT_NEAR(in, r.in_takes * alone_, 1e-9);
    EXPECT_NEAR(out, r.out_takes * alone_, 1e-9);
  }
}

TEST_F(DuplexOnSim, OverheadsGrowWhileTheOtherDirectionMoves) {
  profile_.h2d_overhead = profile_.d2h_overhead = 4e-6;
  profile_.d2h_duplex_overhead = 2;
  const auto [in, out] = both(1, 16);
  EXPECT_NEAR(in, alone_ + 4e-6, 1e-9);
  // H2D overlaps all D2H copies except the last, which runs alone.
  const double undisturbed = alone_ + 16 * 4e-6;
  EXPECT_GT(out, undisturbed + 10 * 4e-6);
  EXPECT_LT(out, undisturbed + 16 * 4e-6);
}

// --- Batches of copies ----------------------------------------------------------------------------------------------

class BatchOnSim : public SimDeviceTest {
 protected:
  static constexpr std::size_t kCopies = 64;

  /// Parts in reverse order: the order of a batch does not matter.
  static std::vector<Copy> parts_of(const Copy& whole) {
    constexpr std::size_t kPart = kBytes / kCopies;
    std::vector<Copy> all;
    for (std::size_t at = kBytes; at > 0;) {
      at -= kPart;
      all.push_back({whole.destination + at, whole.source + at, kPart, whole.direction});
    }
    return all;
  }
  void multiply_and_undo() {
    stream_.copy_batch(parts_of(in()));
    stream_.copy_batch(parts_of(out()));
  }
};

TEST_F(BatchOnSim, MovesAllOfTheDataAlsoInAGraph) {
  prepare();
  multiply_and_undo();
  EXPECT_TRUE(came_back());
  prepare(3);
  const Graph graph = stream_.capture([&] { multiply_and_undo(); });
  EXPECT_FALSE(came_back(3));
  stream_.replay(graph);
  EXPECT_TRUE(came_back(3));
}

TEST_F(BatchOnSim, TakesAsLongAsOneCopyAndItsDescriptors) {
  const double before = now();
  stream_.copy_batch(parts_of(in()));
  EXPECT_NEAR(now() - before, profile_.copy_call + kCopies * profile_.batch_copy_call, 1e-12);
  const double batch = makespan([&] { stream_.copy_batch(parts_of(in())); });
  const double one = makespan([&] { stream_.copy(in()); });
  const double descriptors = kCopies * profile_.batch_copy_call + (kCopies - 1) * profile_.batch_copy;
  EXPECT_NEAR(batch, one + descriptors, 1e-9);
  const double each = makespan([&] {
    for (const Copy& c : parts_of(in())) stream_.copy(c);
  });
  EXPECT_NEAR(each, one + (kCopies - 1) * profile_.h2d_overhead, 1e-6);
}

TEST_F(BatchOnSim, RefusesWhatItCannotDo) {
  const HostBuffer ordinary = device_.allocate_host(kBytes, HostMemory::pageable);
  const std::vector<Copy> mixed{in(), out()};
  const std::vector<Copy> pageable{in(), {gpu_.data, ordinary.data, kBytes, Direction::h2d}};
  EXPECT_THROW(stream_.copy_batch(std::vector<Copy>()), DeviceError);
  EXPECT_THROW(stream_.copy_batch(mixed), DeviceError);
  EXPECT_THROW(stream_.copy_batch(pageable), DeviceError);
  EXPECT_NO_THROW(stream_.copy_batch(parts_of(in()))) << "the stream works on";
  device_.synchronize();
}

TEST(SimulatedProfiles, UnknownNameIsAUsageError) { EXPECT_THROW(open_simulated("h2000"), UsageError); }

}  // namespace

}  // namespace xferbench::test
