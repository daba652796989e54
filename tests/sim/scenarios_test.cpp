// The logic of all scenarios, on the simulated device.
#include "paper/writers.hpp"
#include "sim/faulty_device.hpp"
#include "sim/sim_fixture.hpp"
#include "words/run.hpp"

namespace xferbench::test {

namespace {

/// Flips one bit at `offset` after every copy in this direction, as a broken link might.
Override corrupting(Direction direction, std::size_t offset) {
  return {.copy = [direction, offset](sim::SimStream& stream, const Copy& c) {
    stream.SimStream::copy(c);
    if (c.direction != direction || c.bytes <= offset) return;
    stream.device().synchronize();
    c.destination[offset] ^= std::byte{0x10};
  }};
}

/// Launches the kernel in a new stream that waits for nothing: the kind of mistake that the simulated device exists to
/// catch.
void launch_elsewhere(sim::SimStream& stream, const Kernel& kernel) {
  const Stream elsewhere = stream.device().make_stream(StreamKind::nonblocking);
  static_cast<sim::SimStream&>(elsewhere.impl()).SimStream::launch(kernel);
}

/// Copies are right while the host submits them one by one, and lose a byte when they are queued behind a closed gate.
class WrongBehindAGate {
 public:
  [[nodiscard]] Override how() {
    return {.copy =
                [this](sim::SimStream& stream, Copy c) {
                  if (held_ && !held_->done() && c.bytes > 1) --c.bytes;
                  stream.SimStream::copy(c);
                },
            .hold = [this](sim::SimStream& stream, double seconds) { return held_ = stream.SimStream::hold(seconds); }};
  }

 private:
  sim::OperationPtr held_;
};

class ScenariosOnSim : public OnSim {};

/// Counts the allocations of each kind of GPU memory.
class CountsKinds final : public DeviceOverride {
 public:
  CountsKinds(sim::SimMachine& machine, std::map<GpuMemory, int>* counts, std::size_t number = 0)
      : DeviceOverride(machine, {}, number), counts_(*counts) {}
  using Device::allocate_device;
  [[nodiscard]] DeviceBuffer allocate_device(std::size_t bytes, GpuMemory kind) override {
    ++counts_[kind];
    return SimDevice::allocate_device(bytes, kind);
  }

 private:
  std::map<GpuMemory, int>& counts_;
};

using Kinds = std::map<GpuMemory, int>;

TEST(MemcpyOnSim, TakesAllGpuMemoryOfTheKindThatIsAskedFor) {
  Kinds kinds;
  sim::SimMachine machine = machine_with<CountsKinds>(&kinds);
  const auto kinds_of = [&](const std::string& flags) {
    kinds.clear();
    expect_all(run_all(cases_of_line("memcpy --size 64K " + flags), quick_bench(machine.device())), Status::ok);
    return kinds;
  };
  EXPECT_EQ(kinds_of("--dir h2d --host pinned"), (Kinds{{GpuMemory::whole, 1}}));
  EXPECT_EQ(kinds_of("--dir d2h --host pinned --device-memory pool"), (Kinds{{GpuMemory::pooled, 1}}));
  EXPECT_EQ(kinds_of("--dir d2d --device-memory vmm --engine ce,sm"), (Kinds{{GpuMemory::mapped, 4}}));
}

TEST(MemcpyOnSim, PeersCopyBetweenMemoryOfTheKindThatIsAskedFor) {
  Kinds kinds;
  sim::SimMachine machine(profile("h200-x2"), {0, 1}, [&kinds](sim::SimMachine& m, std::size_t number) {
    return std::make_unique<CountsKinds>(m, &kinds, number);
  });
  const auto cases = cases_of_line("p2p --pairs 0-1 --dir bidirectional --device-memory pool,vmm --size 64K");
  expect_all(run_all(cases, quick_bench(machine.device())), Status::ok, "", 2);
  EXPECT_EQ(kinds, (Kinds{{GpuMemory::pooled, 4}, {GpuMemory::mapped, 4}}));
  const auto staged = cases_of_line("p2p --pairs 0-1 --dir write --access staged --device-memory vmm --size 64K");
  expect_all(run_all(staged, quick_bench(machine.device())), Status::skipped, "--device-memory malloc", 1);
}

TEST(MemcpyOnSim, AKeyNamesGpuMemoryOnlyWhereItIsAskedFor) {
  const auto key = [](const std::string& flags) {
    return cases_of_line("memcpy --dir d2d" + flags).front().config.key();
  };
  EXPECT_EQ(key(""), "memcpy/dir=d2d/engine=ce/api=async/size=256MiB");
  EXPECT_EQ(key(" --device-memory vmm"), "memcpy/dir=d2d/engine=ce/api=async/size=256MiB/device-memory=vmm");
}

/// A device that claims to have managed memory. Nothing migrates, but host and kernels access it.
class ManagedDevice final : public CapableDevice {
 public:
  explicit ManagedDevice(sim::SimMachine& machine, Override how = {}) : CapableDevice(machine, std::move(how)) {
    capabilities_.managed_memory = true;
    capabilities_.pageable_access = true;
  }
};

/// More than the GPU's memory is not tried here, but what is done for it is: the GPU reads managed memory in parts.
TEST(MemcpyOnSim, ManagedMemoryThatMayBeLargerThanTheGpuIsReadInParts) {
  const Words command{"memcpy", "--dir",   "h2d,d2h",         "--host", "managed,managed-faults",
                      "--size", "33M,100", "--oversubscribe", "1.2"};
  const Override stays{.prefetch = [](const HostView&) {}};
  sim::SimMachine machine = machine_with<ManagedDevice>(stays);
  expect_all(run_on(machine.device(), command), Status::ok, "", 8);
  Override skips = stays;
  skips.launch = [](sim::SimStream& stream, const Kernel& kernel) {
    if (kernel.output().size() != MiB) stream.SimStream::launch(kernel);  // all but the last part
  };
  sim::SimMachine faulty = machine_with<ManagedDevice>(skips);
  expect_all(run_on(faulty.device(), {"memcpy", "--dir", "h2d", "--host", "managed,managed-faults", "--size", "33M",
                                      "--oversubscribe", "1.2"}),
             Status::failed, "byte offset 33554432", 2);
}

TEST(MemcpyOnSim, ManagedMemoryHasABoundThatIsSaid) {
  sim::SimMachine machine = machine_with<ManagedDevice>();
  for (const std::string& command : {"memcpy --dir h2d --host managed", "alloc --memory managed"}) {
    const auto skipped = [&](const std::string& flags) {
      return run_all(cases_of_line(std::string(command) + flags), quick_bench(machine.device())).front().reason;
    };
    EXPECT_NE(skipped(" --size 50G").find("more than a quarter"), std::string::npos) << skipped(" --size 50G");
    const std::string bound = skipped(" --size 200G --oversubscribe 1.2");
    EXPECT_NE(bound.find("that --oversubscribe 1.2 allows"), std::string::npos) << bound;
    expect_refused(command + " --oversubscribe 1.6", "1.5");
  }
}

TEST_F(ScenariosOnSim, AGraphCopiesAsFastAndIsNotForPageableMemory) {
  const auto time = [&](const char* api) {
    return median(run_one({"memcpy", "--dir", "h2d", "--host", "pinned", "--api", api}), "copy");
  };
  EXPECT_NEAR(time("graph"), time("async"), 20e-6);
  EXPECT_NE(time("graph"), time("async"));
  expect_refused("memcpy --dir h2d --host pageable --api graph", "choose --host pinned");
  sim::SimMachine machine = machine_that({.replay = [](sim::SimStream&, GraphImpl&) {}});
  expect_all(run_on(machine.device(), {"memcpy", "--dir", "h2d,d2d", "--host", "pinned", "--api", "graph"}),
             Status::failed, "byte offset 0", 2);
}

TEST_F(ScenariosOnSim, AllCasesOfAllScenariosVerify) {
  const std::vector<Words> commands{
      {"memcpy", "--size", "1,3,4097,1M"},
      {"memcpy", "--size", "1,100K", "--dir", "h2d,d2h,bidirectional", "--host",
       "pageable,pageable-small,pageable-huge,pinned,portable,mapped,write-combined,registered,registered-huge,"
       "pageable-hugetlb,registered-hugetlb,numa-vmm"},
      {"memcpy", "--size", "1,4095,1M", "--dir", "h2d,d2h", "--host", "pinned,mapped", "--engine", "sm"},
      {"memcpy", "--size", "1,4095,1M", "--dir", "h2d,d2h,bidirectional", "--api", "sync"},
      {"memcpy", "--size", "1,4095,1M", "--host", "pinned", "--api", "graph", "--device-memory", "all"},
      {"overlap", "--size", "100K", "--streams", "1,3", "--chunks", "1,7", "--kernel", "fma,vector-add,sincos",
       "--issue", "depth,breadth", "--stream-kind", "nonblocking,blocking,default"},
      {"overlap", "--size", "4,28", "--chunks", "1"},
      {"overlap", "--size", "100K", "--chunks", "500", "--streams", "40"},
      {"overlap", "--size", "4718604", "--chunks", "7", "--streams", "3"},
  };
  for (const Words& command : commands) expect_all(run(command), Status::ok);
}

TEST_F(ScenariosOnSim, WhatIsNotModelledIsSkippedWithTheReason) {
  const std::vector<std::pair<Words, std::string>> commands{
      {{"memcpy", "--dir", "h2d,d2h,bidirectional", "--host", "managed,managed-faults"}, "page faults"},
      {{"memcpy", "--dir", "h2d", "--touch", "cold,warm"}, "does not model CPU caches"},
      {{"memcpy", "--dir", "h2d", "--host", "pageable", "--engine", "sm"}, "cannot access pageable host memory"},
      {{"memcpy", "--dir", "bidirectional", "--host", "pinned", "--engine", "sm"}, "one kernel at a time"},
      {{"smem", "--size", "1M"}, "does not model which instructions copy faster"},
  };
  for (const auto& [command, reason] : commands) expect_all(run(command), Status::skipped, reason);
}

TEST_F(ScenariosOnSim, AnIllegalCombinationThatWasAskedForIsSkippedWithTheRule) {
  expect_all(run({"smem", "--size", "1M", "--method", "sync", "--stages", "4", "--schedule", "dynamic"}),
             Status::skipped, "sync has no second tile in shared memory; choose --stages 1", 1);
}

TEST_F(ScenariosOnSim, PinningInPlaceIsPartOfAResultForRegisteredMemory) {
  const Result r = run_one({"memcpy", "--dir", "h2d", "--host", "registered", "--size", "64M"});
  const auto& p = profile("h200");
  const double calls = p.register_call + p.unregister_call;
  EXPECT_NEAR(metric(r, "pinning"), calls + 64e0 * MiB / p.register_rate + 64e0 * MiB / p.unregister_rate, 1e-6);
}

TEST_F(ScenariosOnSim, MemcpyReportsTheProfilesRates) {
  const auto rate = [&](const char* dir, const char* host) {
    return metric(run_one({"memcpy", "--dir", dir, "--host", host}), "bandwidth");
  };
  EXPECT_NEAR(rate("h2d", "pinned"), 55.5, 0.2);
  EXPECT_NEAR(rate("d2h", "pinned"), 55.4, 0.2);
  EXPECT_NEAR(rate("h2d", "pageable"), 8.9, 0.1);
  EXPECT_NEAR(rate("d2h", "pageable"), 18.1, 0.1);
}

TEST_F(ScenariosOnSim, OneDirectionBesideABusyOtherHasNeverTheLinkToItself) {
  const Result r = run_one({"memcpy", "--dir", "bidirectional", "--host", "pinned"});
  // The direction that ends first overlapped the other all the time; the one that ends last did not.
  const bool h2d_ends_last = r.value("h2d_bandwidth") < r.value("d2h_bandwidth");
  const std::string first = h2d_ends_last ? "d2h" : "h2d";
  const std::string last = h2d_ends_last ? "h2d" : "d2h";
  EXPECT_NEAR(r.value(first + "_beside_bandwidth"), r.value(first + "_bandwidth"),
              0.002 * r.value(first + "_bandwidth"));
  EXPECT_LE(r.value(last + "_beside_bandwidth"), 1.002 * r.value(last + "_bandwidth"));
  EXPECT_EQ(run_one({"memcpy", "--dir", "h2d", "--host", "pinned"}).metric("d2h_beside_bandwidth"), nullptr);
}

TEST_F(ScenariosOnSim, BidirectionalIsTheSumWithEachDirectionBesideIt) {
  const Result r = run_one({"memcpy", "--dir", "bidirectional", "--host", "pinned"});
  EXPECT_NEAR(metric(r, "bandwidth"), 101.4, 1);
  // H2D slows less and overlaps D2H all the time; D2H finishes alone.
  EXPECT_NEAR(metric(r, "h2d_bandwidth"), profile("h200").h2d_rate * profile("h200").h2d_duplex_rate / 1e9, 0.2);
  EXPECT_NEAR(metric(r, "d2h_bandwidth"), 50.7, 0.5);
}

TEST_F(ScenariosOnSim, CopiesBackToBackAreASampleOfSoManyByTheirMean) {
  verify_ = false;  // times only: no data is moved
  for (const char* dir : {"h2d", "d2h", "bidirectional"}) {
    for (const char* copies : {"1", "16", "64"}) {
      const Result r = run_one({"memcpy", "--dir", dir, "--host", "pinned", "--size", "64M", "--back-to-back", copies});
      const Measurement& copy = r.needed_measurement("copy");
      EXPECT_EQ(std::to_string(copy.batch), copies) << dir;
      EXPECT_EQ(copy.clock, Clock::event_gated) << dir;
      EXPECT_EQ(r.metric("h2d_bandwidth") != nullptr, dir == std::string("bidirectional") && copy.batch == 1) << copies;
    }
  }
  const auto rate = [&](const char* copies) {
    return metric(run_one({"memcpy", "--dir", "h2d", "--host", "pinned", "--size", "1M", "--back-to-back", copies}),
                  "bandwidth");
  };
  EXPECT_GT(rate("16"), rate("1")) << "what a pass takes beside its copies is shared";
}

TEST_F(ScenariosOnSim, WhatIsTimedOneByOneIsNotBackToBack) {
  for (const char* copies :
       {"h2d --api sync", "bidirectional --host pageable", "h2d --host managed", "h2d --touch warm"}) {
    expect_refused(std::string("memcpy --back-to-back 2 --dir ") + copies, "leave out --back-to-back");
  }
  expect_all(run({"memcpy", "--dir", "h2d", "--host", "pageable", "--size", "1M", "--back-to-back", "2"}), Status::ok);
}

/// Runs a copy on a machine whose link counters find `each` more bytes at each query.
Result copied_while_counting(const std::string& direction, const std::string& size, LinkBytes each) {
  InterceptedSim<Counted> sim(std::make_unique<sim::SimMachine>(profile("h200")), each);
  return run_on(sim.device(), {"memcpy", "--host", "pinned", "--dir", direction, "--size", size}).front();
}

TEST_F(ScenariosOnSim, ADirectionThatHasNotSettledSaysSoThoughBothTogetherHave) {
  Override how;
  how.copy = [back = 0](sim::SimStream& stream, const Copy& c) mutable {
    Copy shorter = c;
    if (c.direction == Direction::d2h) shorter.bytes = c.bytes / (++back % 2 == 0 ? 128 : 64);
    stream.SimStream::copy(shorter);
  };
  sim::SimMachine machine = machine_that(how);
  RunContext bench = quick_bench(machine.device());
  bench.policy = {};
  bench.verify = false;
  const std::vector<Result> both =
      run_all(cases_of({"memcpy", "--host", "pinned", "--dir", "bidirectional", "--size", "64M"}), bench);
  const Result& r = both.front();
  EXPECT_EQ(r.needed_measurement("copy").stop, Stop::ci);
  EXPECT_EQ(r.needed_measurement("h2d").stop, Stop::ci);
  EXPECT_EQ(r.needed_measurement("d2h").stop, Stop::others);
  EXPECT_TRUE(std::ranges::any_of(r.warnings, [](const std::string& warning) {
    return warning.starts_with("not steady: ") && warning.find("(d2h)") != std::string::npos &&
           warning.find("--min-samples") != std::string::npos;
  }));
}

TEST_F(ScenariosOnSim, WhatTheLinkCarriedStandsBesideWhatPacketsMake) {
  const double moved = 2048.0 * MiB;  // 8 passes of 256 MiB
  const Result in = copied_while_counting("h2d", "256M", {.sent = 0.1 * moved, .received = 1.08 * moved});
  EXPECT_NEAR(metric(in, "link_to_gpu"), 1.08, 1e-9);
  EXPECT_NEAR(metric(in, "link_to_gpu_model"), 276.0 / 256, 1e-9);
  EXPECT_NEAR(metric(in, "link_to_host"), 0.1, 1e-9);
  EXPECT_NEAR(metric(in, "link_to_host_model"), 24.0 / 256, 1e-9);
  const Result out = copied_while_counting("d2h", "256M", {.sent = 1.1 * moved});
  EXPECT_EQ(metric(out, "link_to_gpu_model"), 0);
  EXPECT_NEAR(metric(out, "link_to_host"), 1.1, 1e-9);
  EXPECT_NEAR(metric(out, "link_to_host_model"), 280.0 / 256, 1e-9);
  EXPECT_NEAR(metric(copied_while_counting("bidirectional", "256M", {}), "link_to_host_model"), 304.0 / 256, 1e-9);
  const double turn = 4096.0 * MiB;
  const Result wrapped = copied_while_counting("h2d", "256M", {.sent = 0.1 * moved - turn, .received = moved - turn});
  EXPECT_NEAR(metric(wrapped, "link_to_host"), 0.1, 1e-9) << "the counters began anew";
  EXPECT_NEAR(metric(wrapped, "link_to_gpu"), 1, 1e-9);
}

TEST_F(ScenariosOnSim, WhatTheLinkCarriedIsLessThanATurnOfItsCountersForEverySize) {
  constexpr double kTimes = 1.375;  // both directions at once, with packets of 128 bytes
  InterceptedSim<CopyCounter> sim(std::make_unique<sim::SimMachine>(profile("h200")), kTimes);
  RunContext bench = quick_bench(sim.device());
  bench.verify = false;  // and without moving data
  for (const char* size : {"64M", "700M", "1000M", "1500M", "1800M", "2000M", "2800M"}) {
    const std::vector<Result> in =
        run_all(cases_of({"memcpy", "--host", "pinned", "--dir", "h2d", "--size", size}), bench);
    EXPECT_NEAR(metric(in.front(), "link_to_gpu"), kTimes, 1e-9) << size;
  }
}

TEST_F(ScenariosOnSim, WhatTheLinkCarriedIsAbsentOfShortCopiesAndWhereNobodyCounts) {
  EXPECT_EQ(copied_while_counting("h2d", "32M", {.sent = 1, .received = 1}).metric("link_to_gpu"), nullptr);
  EXPECT_EQ(copied_while_counting("h2d", "4G", {.sent = 1, .received = 1}).metric("link_to_gpu"), nullptr)
      << "a counter may have gone round more than once";
  EXPECT_EQ(run_one({"memcpy", "--dir", "h2d", "--host", "pinned"}).metric("link_to_gpu"), nullptr);
  InterceptedSim<Counted> sim(std::make_unique<sim::SimMachine>(profile("h200")), LinkBytes{.sent = 1, .received = 1});
  EXPECT_EQ(run_on(sim.device(), {"memcpy", "--dir", "d2d"}).front().metric("link_to_gpu"), nullptr);
}

TEST_F(ScenariosOnSim, CopiesInsideTheGpuCountTheirTrafficTwice) {
  const Result r = run_one({"memcpy", "--dir", "d2d"});
  EXPECT_DOUBLE_EQ(metric(r, "memory_traffic"), 2 * metric(r, "bandwidth"));
  EXPECT_NEAR(metric(r, "limit"), 4814.0 / 2, 1);
}

TEST_F(ScenariosOnSim, CopiesThatFitTheCacheHaveNoMemoryLimit) {
  const Result r = run_one({"memcpy", "--dir", "d2d", "--size", "1M"});
  EXPECT_EQ(r.metric("limit"), nullptr);
  ASSERT_FALSE(r.warnings.empty());
  EXPECT_NE(r.warnings.front().find("L2"), std::string::npos);
}

TEST_F(ScenariosOnSim, PageableCopiesBlockTheHost) {
  const Result r = run_one({"memcpy", "--dir", "h2d", "--host", "pageable", "--size", "16M"});
  EXPECT_GT(metric(r, "host_blocked"), 0.9 * median(r, "copy"));
  EXPECT_EQ(r.measurement("copy")->clock, Clock::event);
}

TEST_F(ScenariosOnSim, OverlapMetricsFollowFromItsMeasurements) {
  const Result r = run_one({"--size", "256M", "--streams", "3", "--chunks", "32"});
  const double makespan = median(r, "pipeline");
  const double serial = median(r, "serial");
  const double bound = std::max(median(r, "kernel"), std::min(median(r, "both"), median(r, "both-at-rates")));
  EXPECT_NEAR(metric(r, "bound"), bound, 1e-9);
  EXPECT_DOUBLE_EQ(metric(r, "makespan"), makespan);
  EXPECT_NEAR(metric(r, "efficiency"), bound / makespan, 1e-9);
  EXPECT_NEAR(metric(r, "speedup"), serial / makespan, 1e-9);
  EXPECT_NEAR(metric(r, "hidden_fraction"), (serial - makespan) / (serial - bound), 1e-9);
  EXPECT_NEAR(metric(r, "bandwidth"), 2 * 268.435456e6 / makespan / 1e9, 1e-6);
  EXPECT_NEAR(metric(r, "duplex_ratio"), 0.915, 0.005);
  // One H200: both payloads take 5.26 ms at the rates that both directions have together.
  EXPECT_NEAR(bound, 5.26e-3, 0.0526e-3);
}

TEST_F(ScenariosOnSim, OverlapHidesTransfersAndOneStreamDoesNot) {
  EXPECT_GT(metric(run_one({"--streams", "3", "--chunks", "32"}), "efficiency"), 0.9);
  EXPECT_LT(metric(run_one({"--streams", "1", "--chunks", "32"}), "speedup"), 1.05);
  EXPECT_LT(metric(run_one({"--streams", "8", "--stream-kind", "default"}), "speedup"), 1.05);
}

TEST_F(ScenariosOnSim, WithOneCopyEngineTheBoundIsBothCopiesInTurn) {
  sim::SimMachine one(profile("h200-one-engine"));
  const Result r = run_on(one.device(), {"--streams", "4"}).front();
  EXPECT_NEAR(metric(r, "bound"), median(r, "h2d") + median(r, "d2h"), 1e-9);
  EXPECT_LE(metric(r, "efficiency"), 1.001);
}

TEST_F(ScenariosOnSim, BalanceMakesTheKernelAsLongAsAsked) {
  verify_ = false;  // times only: no data is moved
  for (const char* kernel : {"fma", "vector-add", "sincos"}) {
    for (const char* balance : {"0.5", "1", "4"}) {
      const Result r = run_one({"--balance", balance, "--kernel", kernel, "--size", "64M"});
      EXPECT_NEAR(metric(r, "kernel_to_h2d") / std::stod(balance), 1, 0.02) << kernel << " " << balance;
      EXPECT_GE(metric(r, "work"), 1) << kernel;
    }
  }
}

TEST_F(ScenariosOnSim, ABalanceThatCannotBeReachedIsSaid) {
  const Result r = run_one({"--balance", "0.001", "--size", "64M"});
  EXPECT_EQ(r.status, Status::ok);
  EXPECT_EQ(metric(r, "work"), 1);
  ASSERT_FALSE(r.warnings.empty());
  EXPECT_NE(r.warnings.front().find("balance"), std::string::npos);
}

TEST_F(ScenariosOnSim, ManyChunksAreTimedWithoutAGate) {
  const auto clock = [&](const char* chunks, const char* streams) {
    return run_one({"--size", "16M", "--chunks", chunks, "--streams", streams}).measurement("pipeline")->clock;
  };
  EXPECT_EQ(clock("32", "4"), Clock::event_gated);
  EXPECT_EQ(clock("128", "4"), Clock::event_gated) << "96 operations in each of 4 streams";
  EXPECT_EQ(clock("128", "1"), Clock::event_gated) << "384 in one";
  EXPECT_EQ(clock("256", "1"), Clock::event);
}

TEST_F(ScenariosOnSim, AWrongByteFailsTheCaseWithOffsetAndBothValues) {
  sim::SimMachine machine = machine_that(corrupting(Direction::h2d, 4100));
  expect_all(run_on(machine.device(), {"memcpy", "--dir", "h2d", "--host", "pinned", "--size", "64K"}), Status::failed,
             "H2D copy: wrong result at byte offset 4100: expected 0x");
  expect_all(run_on(machine.device(), {"overlap", "--size", "64K", "--chunks", "2"}), Status::failed,
             "byte offset 4100");
}

TEST_F(ScenariosOnSim, AWrongByteFailsOnlyItsOwnCase) {
  // Corrupts only copies larger than the offset.
  sim::SimMachine machine = machine_that(corrupting(Direction::d2h, 100'000));
  const auto results =
      run_on(machine.device(), {"memcpy", "--dir", "d2h", "--host", "pinned", "--size", "64K,256K,32K"});
  EXPECT_EQ(results[0].status, Status::ok) << results[0].reason;
  EXPECT_EQ(results[1].status, Status::failed);
  EXPECT_EQ(results[2].status, Status::ok) << results[2].reason;
}

TEST_F(ScenariosOnSim, AMissingWaitIsCaughtAsWrongData) {
  sim::SimMachine hasty = machine_that({.launch = launch_elsewhere});
  expect_all(run_on(hasty.device(), {"overlap", "--size", "1M", "--chunks", "4"}), Status::failed, "wrong result");
}

TEST_F(ScenariosOnSim, AnErrorThatShowsOnlyAtFullSpeedIsCaught) {
  WrongBehindAGate wrong;
  sim::SimMachine machine = machine_that(wrong.how());
  expect_all(run_on(machine.device(), {"memcpy", "--dir", "h2d", "--host", "pinned", "--size", "64K"}), Status::failed,
             "byte offset 65535");
  const auto pipelines = run_on(machine.device(), {"overlap", "--size", "64K", "--chunks", "2"});
  expect_all(pipelines, Status::failed, "pipeline at full speed");
  // The failed case keeps its measurements, as evidence.
  EXPECT_NE(pipelines.front().measurement("pipeline"), nullptr);
}

TEST_F(ScenariosOnSim, ASweepThatChangesItsClockShowsIt) {
  const auto cases = cases_of({"--size", "16M", "--chunks", "32,1024"});
  Report report;
  report.environment = device_.capabilities().environment;
  report.results = run_all(cases, quick_bench(device_));
  const std::array views{&cases[0].scenario->descriptor()};
  EXPECT_NE(to_terminal(document_of(report, views, {.every_row = false}), Style{}).find("event-gated"),
            std::string::npos);
  // A clock that all cases share is not mentioned.
  report.results[1] = report.results[0];
  report.results[1].config = cases[1].config;
  EXPECT_EQ(to_terminal(document_of(report, views, {.every_row = false}), Style{}).find("event-gated"),
            std::string::npos);
}

TEST_F(ScenariosOnSim, WithoutVerificationNoDataIsTouchedAndTimesAreTheSame) {
  const auto cases = cases_of({"--size", "8M"});
  RunContext bench = quick_bench(device_);
  const double verified = metric(run_all(cases, bench).front(), "makespan");
  bench.verify = false;
  EXPECT_NEAR(metric(run_all(cases, bench).front(), "makespan"), verified, 1e-6);
}

}  // namespace

}  // namespace xferbench::test
