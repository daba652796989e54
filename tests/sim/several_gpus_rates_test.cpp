// Rates of simulated machines with several GPUs: those with two reproduce measurements, those with eight are a thought
// experiment.
#include <array>
#include <limits>
#include <numeric>

#include "kernels/copy.hpp"
#include "kernels/delay.hpp"
#include "sim/sim_fixture.hpp"

namespace xferbench::test {

namespace {

constexpr double kGB = 1e9;

/// Endless copies in one stream.
struct Flow {
  enum class By { copy_engine, kernel };
  std::size_t stream = 0;  // device of the stream
  Direction direction = Direction::h2d;
  std::size_t from = 0;  // devices; for the host's side, the device on whose socket the memory is
  std::size_t to = 0;
  By by = By::copy_engine;
};

Flow to_gpu(std::size_t gpu) { return {gpu, Direction::h2d, gpu, gpu}; }
Flow to_host(std::size_t gpu) { return {gpu, Direction::d2h, gpu, gpu}; }
Flow sends(std::size_t from, std::size_t to) { return {from, Direction::p2p, from, to}; }
Flow fetches(std::size_t from, std::size_t to) { return {to, Direction::p2p, from, to}; }
Flow by_kernel(Flow flow) {
  flow.by = Flow::By::kernel;
  return flow;
}

enum class Peers { reach_each_other, staged };

/// Several GPUs of a profile, with peer access if wanted. No data is moved.
class SomeGpus {
 public:
  static constexpr std::size_t kBytes = 256 * MiB;

  SomeGpus(std::string_view of_profile, std::vector<int> gpus, Peers peers = Peers::reach_each_other)
      : machine_(profile(of_profile), std::move(gpus)) {
    machine_.set_data_movement(false);
    for (Device* device : machine_.devices()) {
      sources_.push_back(device->allocate_device(kBytes));
      destinations_.push_back(device->allocate_device(kBytes));
      hosts_.push_back(device->allocate_host(kBytes, HostMemory::pinned));
      for (Device* peer : machine_.devices()) {
        if (peers == Peers::reach_each_other && peer != device) device->set_peer_access(*peer, true);
      }
    }
  }

  [[nodiscard]] sim::SimMachine& machine() { return machine_; }
  [[nodiscard]] Device& device(std::size_t number) { return machine_.device(number); }

  void submit(const Flow& flow, StreamView stream, std::size_t bytes) const {
    std::byte* destination = flow.direction == Direction::d2h ? hosts_[flow.to].data : destinations_[flow.to].data;
    std::byte* source = flow.direction == Direction::h2d ? hosts_[flow.from].data : sources_[flow.from].data;
    if (flow.by == Flow::By::kernel) {
      return stream.launch(kernels::MemoryCopy({destination, source, bytes, flow.direction}));
    }
    stream.copy({destination, source, bytes, flow.direction});
  }

  /// GPU time of one copy in seconds.
  double seconds(const Flow& flow, std::size_t bytes) {
    Device& device = machine_.device(flow.stream);
    const Stream stream = device.make_stream(StreamKind::nonblocking);
    const std::array<Event, 2> marks{device.make_event(EventKind::timing), device.make_event(EventKind::timing)};
    stream.launch(kernels::Delay(1e-3));  // hides the calls that follow
    stream.record(marks[0]);
    submit(flow, stream, bytes);
    stream.record(marks[1]);
    device.synchronize();
    return elapsed(marks[0], marks[1]) - machine_.simulation().profile.event_cost;
  }

  /// Bytes per second of each flow while all of them run, that is, until the first one ends.
  std::vector<double> rates(const std::vector<Flow>& flows) {
    constexpr std::size_t kCopies = 12;
    const Gate gate = machine_.make_gate();
    std::vector<Stream> streams;
    std::vector<std::vector<Event>> marks(flows.size());
    for (std::size_t i = 0; i < flows.size(); ++i) {
      Device& device = machine_.device(flows[i].stream);
      const StreamView stream = streams.emplace_back(device.make_stream(StreamKind::nonblocking));
      const auto mark = [&] { stream.record(marks[i].emplace_back(device.make_event(EventKind::timing))); };
      gate.close(stream);
      mark();
      for (std::size_t n = 0; n < kCopies; ++n) submit(flows[i], stream, kBytes), mark();
    }
    EXPECT_TRUE(gate.wait_until_held(1));
    gate.open();
    for (Device* device : machine_.devices()) device->synchronize();
    double until = std::numeric_limits<double>::infinity();
    for (const auto& m : marks) until = std::min(until, elapsed(m.front(), m.back()));
    std::vector<double> rates;
    for (const auto& m : marks) rates.push_back(arrived_until(until, m) / until);
    return rates;
  }
  double rate(const Flow& flow) { return rates({flow}).front(); }
  double sum(const std::vector<Flow>& flows) {
    const auto each = rates(flows);
    return std::accumulate(each.begin(), each.end(), 0.0);
  }

 private:
  /// Bytes of the copies between the marks that have arrived by `until` (seconds); a copy in progress counts in part.
  static double arrived_until(double until, const std::vector<Event>& marks) {
    double copies = 0;
    for (std::size_t n = 1; n < marks.size(); ++n) {
      const double begun = elapsed(marks.front(), marks[n - 1]);
      const double took = elapsed(marks[n - 1], marks[n]);
      copies += std::clamp((until - begun) / took, 0.0, 1.0);
    }
    return copies * kBytes;
  }

  sim::SimMachine machine_;
  std::vector<DeviceBuffer> sources_;
  std::vector<DeviceBuffer> destinations_;
  std::vector<HostBuffer> hosts_;
};

// --- Two GPUs, as measured ------------------------------------------------------------------------------------------

/// The expected sum of all flows' rates, in GB/s.
struct Figure {
  const char* name;
  std::vector<Flow> flows;
  double rate;
  Peers peers = Peers::reach_each_other;
  double tolerance = 0.015;
};

std::vector<Figure> figures() {
  const auto sm = by_kernel;
  return {
      {"HostToOne", {to_gpu(0)}, 55.4},
      {"HostToBoth", {to_gpu(0), to_gpu(1)}, 110.6},
      {"BothToHost", {to_host(0), to_host(1)}, 110.5},
      {"OneGpuBothWays", {to_gpu(0), to_host(0)}, 52.4 + 50.6},
      {"HostToBothByKernels", {sm(to_gpu(0)), sm(to_gpu(1))}, 102.6},
      {"BothToHostByKernels", {sm(to_host(0)), sm(to_host(1))}, 104.6},
      {"Read", {fetches(0, 1)}, 390.3},
      {"Write", {sends(0, 1)}, 394.9},
      {"ReadBothWays", {fetches(0, 1), fetches(1, 0)}, 771.9},
      {"WriteBothWays", {sends(0, 1), sends(1, 0)}, 780.9},
      {"OneGpuSendsAndFetches", {sends(0, 1), fetches(1, 0)}, 776},
      {"ReadByKernel", {sm(fetches(0, 1))}, 375.1},
      {"WriteByKernel", {sm(sends(0, 1))}, 369.5},
      {"ReadByKernelsBothWays", {sm(fetches(0, 1)), sm(fetches(1, 0))}, 675},
      {"WriteByKernelsBothWays", {sm(sends(0, 1)), sm(sends(1, 0))}, 731},
      {"ThroughTheHost", {sends(0, 1)}, 36.9, Peers::staged},
      {"ThroughTheHostBothWays", {sends(0, 1), sends(1, 0)}, 52, Peers::staged},
  };
}

class TwoGpus : public testing::TestWithParam<Figure> {};

TEST_P(TwoGpus, ReachWhatWasMeasured) {
  SomeGpus gpus("h200-x2", {0, 1}, GetParam().peers);
  EXPECT_NEAR(gpus.sum(GetParam().flows) / kGB, GetParam().rate, GetParam().tolerance * GetParam().rate);
}

INSTANTIATE_TEST_SUITE_P(Measured, TwoGpus, testing::ValuesIn(figures()),
                         [](const auto& tested) { return tested.param.name; });

TEST(TwoGpusBothWays, ShareTheHostWhichLeavesTheDirectionToThemTheLess) {
  SomeGpus gpus("h200-x2", {0, 1});
  const auto rates = gpus.rates({to_gpu(0), to_gpu(1), to_host(0), to_host(1)});
  EXPECT_GE(rates[0] + rates[1], 60 * kGB);
  EXPECT_LE(rates[0] + rates[1], 68.5 * kGB);
  EXPECT_NEAR(rates[0], rates[1], 1e-3 * rates[0]);
  EXPECT_NEAR(rates[2] + rates[3], 105 * kGB, 0.05 * 105 * kGB);
  // H2D on one GPU and D2H on the other do not contend.
  const auto crossed = gpus.rates({to_gpu(0), to_host(1)});
  EXPECT_NEAR(crossed[0], gpus.rate(to_gpu(0)), 0.001 * crossed[0]);
  EXPECT_NEAR(crossed[1], gpus.rate(to_host(1)), 0.001 * crossed[1]);
}

TEST(TwoGpusAlone, CopyLittleInNextToNoTime) {
  EXPECT_NEAR(SomeGpus("h200-x2", {0, 1}).seconds(sends(0, 1), 8), 2.3e-6, 0.1e-6);
  EXPECT_NEAR(SomeGpus("h200-x2", {0, 1}, Peers::staged).seconds(sends(0, 1), 8), 16e-6, 0.2e-6);
}

/// Makespan in seconds of one pipeline per GPU, all at once: a payload arrives in chunks, and each chunk is copied back
/// when it has arrived.
double pipelines_on(SomeGpus& gpus, const std::vector<std::size_t>& which) {
  constexpr std::size_t kChunks = 64;
  const double begun = gpus.machine().host().now();
  std::vector<Stream> streams;
  const auto stream_of = [&](std::size_t gpu) -> StreamView {
    return streams.emplace_back(gpus.device(gpu).make_stream(StreamKind::nonblocking));
  };
  std::vector<std::array<StreamView, 2>> of_gpu;
  for (const std::size_t gpu : which) of_gpu.push_back({stream_of(gpu), stream_of(gpu)});
  for (std::size_t chunk = 0; chunk < kChunks; ++chunk) {
    for (std::size_t i = 0; i < which.size(); ++i) {
      const Event arrived = gpus.device(which[i]).make_event(EventKind::ordering);
      gpus.submit(to_gpu(which[i]), of_gpu[i][0], SomeGpus::kBytes / kChunks);
      of_gpu[i][0].record(arrived);
      of_gpu[i][1].wait(arrived);
      gpus.submit(to_host(which[i]), of_gpu[i][1], SomeGpus::kBytes / kChunks);
    }
  }
  for (const std::size_t gpu : which) gpus.device(gpu).synchronize();
  return gpus.machine().host().now() - begun;
}

TEST(TwoGpusInPipelines, TakeLongerThanOneAsMeasured) {
  SomeGpus gpus("h200-x2", {0, 1});
  EXPECT_NEAR(pipelines_on(gpus, {0}), 5.52e-3, 0.03 * 5.52e-3);
  EXPECT_NEAR(pipelines_on(gpus, {0, 1}), 7.0e-3, 0.03 * 7.0e-3);
}

// --- Eight GPUs, as a thought experiment ----------------------------------------------------------------------------

/// Each flow's rate while all run, relative to its rate alone.
std::vector<double> kept(SomeGpus& gpus, const std::vector<Flow>& flows, const std::vector<Flow>& alone) {
  const double one = gpus.sum(alone) / static_cast<double>(alone.size());
  std::vector<double> all = gpus.rates(flows);
  for (double& rate : all) rate /= one;
  return all;
}

TEST(EightGpus, ContendWithinASocketAndNotAcross) {
  SomeGpus gpus("h200-x8", {0, 1, 2, 3, 4, 5, 6, 7});
  const double alone = gpus.sum({to_gpu(0), to_host(0)});
  for (std::size_t a = 0; a < 8; ++a) {
    for (std::size_t b = a + 1; b < 8; ++b) {
      const double both = gpus.sum({to_gpu(a), to_host(a), to_gpu(b), to_host(b)}) / (2 * alone);
      if (a / 4 == b / 4) {
        EXPECT_LT(both, 0.9) << a << " " << b;
      } else {
        EXPECT_NEAR(both, 1, 0.001) << a << " " << b;
      }
      EXPECT_NEAR(gpus.sum({to_gpu(a), to_gpu(b)}), 2 * gpus.rate(to_gpu(0)), 0.1 * kGB) << "one way";
    }
  }
}

TEST(EightGpus, ReachNoMoreOfASocketThanItHas) {
  SomeGpus gpus("h200-x8", {0, 1, 2, 3, 4, 5, 6, 7});
  const sim::Profile& p = profile("h200-x8");
  std::vector<Flow> in;
  for (std::size_t gpu = 0; gpu < 8; ++gpu) in.push_back(to_gpu(gpu));
  EXPECT_NEAR(gpus.sum(in), 2 * p.socket_memory.in, 0.005 * 2 * p.socket_memory.in);
  const std::vector<double> parts = kept(gpus, in, {to_gpu(0)});
  for (const double part : parts) EXPECT_NEAR(part, parts.front(), 1e-6) << "all alike";
}

TEST(EightGpus, CrossTheLinkBetweenSocketsToMemoryOfTheOther) {
  SomeGpus gpus("h200-x8", {0, 4, 5, 6, 7});
  const sim::Profile& p = profile("h200-x8");
  const auto far = [](std::size_t gpu, Direction direction) {
    return direction == Direction::h2d ? Flow{gpu, direction, 0, gpu} : Flow{gpu, direction, gpu, 0};
  };
  const std::vector<Flow> in{far(1, Direction::h2d), far(2, Direction::h2d), far(3, Direction::h2d)};
  EXPECT_NEAR(gpus.sum(in), p.between_sockets.in, 0.005 * p.between_sockets.in);
  const std::vector<Flow> out{far(1, Direction::d2h), far(2, Direction::d2h), far(3, Direction::d2h)};
  EXPECT_NEAR(gpus.sum(out), p.between_sockets.out, 0.005 * p.between_sockets.out);
  EXPECT_NEAR(gpus.rate(far(1, Direction::h2d)), gpus.rate(to_gpu(1)), 0.01 * kGB) << "one alone finds room";
  // The two directions of the link between the sockets are independent.
  const double both = gpus.sum({in[0], in[1], in[2], {0, Direction::h2d, 1, 0}});
  EXPECT_GT(both, gpus.sum(in) + 0.8 * gpus.rate(to_gpu(0)));
}

TEST(EightGpus, ShareThePortOfOneThatAllSendToOrFetchFrom) {
  SomeGpus gpus("h200-x8", {0, 1, 2, 3, 4, 5, 6, 7});
  std::vector<Flow> all_to_one;
  std::vector<Flow> one_to_all;
  std::vector<Flow> from_one;
  std::vector<Flow> ring;
  std::vector<Flow> all_to_all;
  for (std::size_t i = 0; i < 8; ++i) {
    ring.push_back(sends(i, (i + 1) % 8));
    for (std::size_t k = 0; k < 8; ++k) {
      if (i != k) all_to_all.push_back(sends(i, k));
    }
    if (i == 0) continue;
    all_to_one.push_back(sends(i, 0));
    one_to_all.push_back(sends(0, i));
    from_one.push_back(fetches(0, i));
  }
  const sim::Profile& p = profile("h200-x8");
  const double port = p.peer_write_rate;
  const double several = 0.006 * port;  // tolerance for the overheads of copies
  EXPECT_NEAR(gpus.sum(all_to_one), port, several);
  EXPECT_NEAR(gpus.sum(one_to_all), port, several);
  EXPECT_NEAR(gpus.sum(from_one), p.peer_read_rate, several);
  EXPECT_NEAR(gpus.sum(ring), 8 * port * p.peer_duplex_rate, 8 * several);
  EXPECT_NEAR(gpus.sum(all_to_all), 8 * port * p.peer_duplex_rate, 8 * several);
}

// --- Selected GPUs --------------------------------------------------------------------------------------------------

TEST(ChosenGpus, KeepTheirNumbersAndSockets) {
  const auto machine = open_simulated("h200-x8", {.numbers = {4, 0, 7}});
  const Environment& e = machine->device(1).capabilities().environment;
  const std::array<int, 3> numbers{4, 0, 7};
  const std::array<int, 3> nodes{1, 0, 1};
  ASSERT_EQ(e.gpus.size(), 3U);
  EXPECT_EQ(e.gpu, e.gpus[1]);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(e.gpus[i].index, numbers[i]);
    EXPECT_EQ(e.gpus[i].numa_node, nodes[i]);
    EXPECT_EQ(e.gpus[i].nvlinks, 18U);
    EXPECT_NEAR(e.gpus[i].nvlink_bandwidth, 478.1 * kGB, 0.1 * kGB);
  }
  ASSERT_EQ(e.links.size(), 6U);
  EXPECT_EQ(e.links[3].from, 0);
  EXPECT_EQ(e.links[3].to, 7);
  EXPECT_TRUE(e.links[3].access);
}

TEST(ChosenGpus, ThatAreNotThereMayBeInAnotherProfile) {
  const auto refusal = [](const char* profile, const GpuSelection& gpus) {
    try {
      static_cast<void>(open_simulated(profile, gpus));
    } catch (const NoDeviceError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_TRUE(refusal("h200", {.numbers = {}, .first = 2}).ends_with(": h200-x2, h200-x8, h100-x2"));
  EXPECT_TRUE(refusal("h200-x2", {.numbers = {}, .first = 3}).ends_with(": h200-x8"));
  EXPECT_TRUE(refusal("h200-x2", {.numbers = {7}}).ends_with(": h200-x8"));
  EXPECT_TRUE(refusal("h200-x8", {.numbers = {0, 8}}).ends_with("choose another one")) << "no profile has as many";
}

TEST(ChosenGpus, ContendAsTheirSocketsSay) {
  for (const auto& [gpus, contend] : {std::pair(std::vector{2, 3}, true), std::pair(std::vector{3, 4}, false)}) {
    SomeGpus two("h200-x8", gpus);
    const double part = two.sum({to_gpu(0), to_host(0), to_gpu(1), to_host(1)}) / two.sum({to_gpu(0), to_host(0)});
    EXPECT_EQ(part < 1.8, contend) << part;
  }
}

}  // namespace

}  // namespace xferbench::test
