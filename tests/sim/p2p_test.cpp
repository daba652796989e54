// Scenario p2p on simulated machines with several GPUs: cases, results, refusals, broken devices, and findings about
// pairs.
#include <map>

#include "model/pcie.hpp"
#include "results/metric_names.hpp"
#include "scenarios/common/chase.hpp"
#include "scenarios/common/peer_access.hpp"
#include "sim/faulty_device.hpp"
#include "sim/sim_fixture.hpp"

namespace xferbench::test {

namespace {

/// The cases for these flags on this machine.
std::vector<PlannedCase> peer_cases(const std::string& flags, const Machine& machine) {
  return cases_on(machine, "p2p " + flags);
}

std::vector<Result> run_peers(const std::string& flags, Machine& machine, bool verify = true) {
  return run_all(peer_cases(flags, machine), quick_bench(machine.device(), verify));
}

class P2pOnSim : public testing::Test {
 protected:
  std::vector<Result> run(const std::string& flags) { return run_peers(flags, machine_, verify_); }
  Result run_one(const std::string& flags) { return run(flags).front(); }
  [[nodiscard]] std::vector<std::string> keys(const std::string& flags) const {
    return keys_of(peer_cases(flags, machine_));
  }

  bool verify_ = true;
  const sim::Profile& profile_ = profile("h200-x2");
  sim::SimMachine machine_{profile_, {0, 1}};
};

// --- Cases -----------------------------------------------------------------------------------------------------------

TEST_F(P2pOnSim, EveryOrderedPairIsACaseUnlessPairsAreGiven) {
  const std::string rest = "/op=copy/dir=write/engine=ce/access=peer/size=256MiB";
  const std::vector<std::string> all{"p2p/from=0/to=1" + rest, "p2p/from=1/to=0" + rest};
  EXPECT_EQ(keys("--dir write"), all);
  EXPECT_EQ(keys("--dir write --pairs 0-1,1-0"), all);
  EXPECT_EQ(keys("--dir write --pairs 1-0"), std::vector{all[1]});
  EXPECT_EQ(keys("--dir write --pairs 1-0,all"), (std::vector{all[1], all[0]})) << "each once, as they were written";
  EXPECT_EQ(keys("--dir write --from 0"), std::vector{all[0]});
  EXPECT_EQ(keys("--dir write --to 0"), std::vector{all[1]});
  EXPECT_EQ(keys("--dir write --from 1 --to 0"), std::vector{all[1]});
  EXPECT_EQ(keys("--dir write --from 0,1 --to 0,1"), all) << "without what leads back to itself";
  EXPECT_EQ(keys("--dir write --from all --to 1"), std::vector{all[0]});
  EXPECT_EQ(keys("").size(), 6U) << "write, read and both ways at once of two pairs";
  EXPECT_EQ(keys("--op latency --from 0"), (std::vector<std::string>{"p2p/from=0/to=1/op=latency/lies-in=memory",
                                                                     "p2p/from=0/to=1/op=latency/lies-in=l2"}));
}

TEST_F(P2pOnSim, NumbersAreThoseOfTheGpusOfTheRun) {
  Environment two;
  two.gpus.resize(2);
  two.gpus[0].index = 5;
  two.gpus[1].index = 2;
  const auto cases = expanded(cases_of_line("p2p --dir read"), {two});
  ASSERT_EQ(cases.size(), 2U);
  EXPECT_TRUE(cases[0].config.key().starts_with("p2p/from=5/to=2/"));
  EXPECT_TRUE(cases[1].config.key().starts_with("p2p/from=2/to=5/"));
  const auto places = cases[1].scenario->takes_part(cases[1].config, two);
  EXPECT_EQ(places, (std::vector<std::size_t>{1, 0}));
}

TEST(P2pCases, ThatMakeNoSenseAreMistakesOfTheCommand) {
  const std::pair<const char*, const char*> kRefused[]{
      {"--pairs 0-1-2", "--pairs 0-1"},    {"--pairs 0-0", "numbers of different GPUs"},
      {"--pairs 0", "--pairs 0-1"},        {"--from 0+1", "the number of a GPU"},
      {"--pairs 0-1 --from 0", "--pairs"}, {"--op latency --size 4K", "--size"}};
  for (const auto& [flags, why] : kRefused) expect_refused(std::string("p2p ") + flags, why);
}

TEST_F(P2pOnSim, WhatWasAskedForAndMakesNoSenseIsSkippedWithTheRule) {
  expect_all(run("--from 1 --to 1 --dir write --size 4K"), Status::skipped, "cannot be a pair with itself", 1);
  expect_all(run("--pairs 0-1 --engine sm --access staged --dir write --size 4K"), Status::skipped, "--engine ce", 1);
}

TEST_F(P2pOnSim, AKernelIsNotCombinedWithStagingUnlessNothingElseIsLeft) {
  const auto all = keys("--pairs 0-1 --dir write --engine ce,sm --access peer,staged");
  EXPECT_EQ(all.size(), 3U);
}

// --- Results ---------------------------------------------------------------------------------------------------------

TEST_F(P2pOnSim, EveryWayVerifiesWithOddSizes) {
  for (const char* flags : {"--size 1,3,4097,1M --dir write,read,bidirectional,bidirectional-read --engine ce,sm",
                            "--size 1,4095,1M --dir write,read,bidirectional --access staged", "--size 4718604"}) {
    expect_all(run(flags), Status::ok);
  }
}

TEST_F(P2pOnSim, RatesAreThoseOfTheProfile) {
  verify_ = false;  // times only: no data is moved
  EXPECT_NEAR(metric(run_one("--pairs 0-1 --dir write --size 1G"), "bandwidth"), profile_.peer_write_rate / 1e9, 1);
  EXPECT_NEAR(metric(run_one("--pairs 0-1 --dir read --size 1G"), "bandwidth"), profile_.peer_read_rate / 1e9, 1);
  EXPECT_NEAR(metric(run_one("--pairs 0-1 --dir write --engine sm --size 1G"), "bandwidth"),
              profile_.kernel_peer_write_rate / 1e9, 1);
  EXPECT_NEAR(metric(run_one("--pairs 1-0 --dir write --access staged"), "bandwidth"), profile_.staged_peer_rate / 1e9,
              0.5);
}

TEST_F(P2pOnSim, AccessEndsWithTheCaseThatNeedsIt) {
  verify_ = false;  // times only: no data is moved
  const auto rates = [this](const char* access) {
    std::vector<double> all;
    for (const Result& r : run(std::string("--pairs 0-1 --dir write,read --access ") + access)) {
      all.push_back(metric(r, "bandwidth"));
    }
    return all;
  };
  const auto staged = rates("staged");
  const auto direct = rates("peer");
  const auto staged_again = rates("staged");  // the case before must have disabled its peer access
  for (const std::size_t i : {0U, 1U}) {
    EXPECT_GT(direct[i], 5 * staged[i]);
    EXPECT_NEAR(staged_again[i], staged[i], 1e-3 * staged[i]);
  }
}

TEST_F(P2pOnSim, BothWaysAreTheSumOverTheMakespanWithEachBesideIt) {
  verify_ = false;  // times only: no data is moved
  for (const char* dir : {"bidirectional", "bidirectional-read"}) {
    const Result r = run_one(std::string("--pairs 1-0 --size 1G --dir ") + dir);
    ASSERT_EQ(r.status, Status::ok) << r.reason;
    const double bytes = 2 * 1024. * MiB;
    EXPECT_NEAR(metric(r, "bandwidth"), bytes / median(r, "copy") / 1e9, 1e-6);
    const double forward = metric(r, "forward_bandwidth");
    const double backward = metric(r, "backward_bandwidth");
    EXPECT_GT(forward, 0.9 * profile_.peer_read_rate / 1e9);
    EXPECT_NEAR(forward, backward, 0.02 * forward) << "two alike";
    EXPECT_LE(metric(r, "bandwidth"), forward + backward);
    EXPECT_GT(metric(r, "bandwidth"), 0.98 * (forward + backward));
    const double one_way = metric(run_one("--pairs 1-0 --size 1G --dir write"), "limit");
    EXPECT_DOUBLE_EQ(metric(r, "limit"), 2 * one_way);
  }
}

TEST_F(P2pOnSim, BothWaysTellWhatEachGpuDid) {
  const Result r = run_one("--pairs 1-0 --dir bidirectional");
  std::map<std::string, std::vector<std::optional<int>>> gpus;
  for (const Measurement& m : r.measurements) gpus[m.name].push_back(m.gpu);
  EXPECT_EQ(gpus.at(kGpuTime), (std::vector<std::optional<int>>{1, 0})) << "the one that sends forward first";
  EXPECT_EQ(gpus.at(kGpuEnd), (std::vector<std::optional<int>>{1, 0}));
  EXPECT_EQ(gpus.at(kSinceOpening).size(), 1U);
  EXPECT_EQ(r.gpus, (std::vector<int>{1, 0}));
}

Environment::Pcie gen5_x16() { return {.generation = 5, .width = 16}; }

TEST_F(P2pOnSim, TheLimitIsThatOfTheNvlinksOrOfTheBus) {
  EXPECT_DOUBLE_EQ(metric(run_one("--pairs 0-1 --dir write"), "limit"), 18 * profile_.nvlink_rate / 1e9);
  EXPECT_DOUBLE_EQ(metric(run_one("--pairs 0-1 --dir write --access staged"), "limit"),
                   model::pcie_limits(gen5_x16()).d2h / 1e9);
  EXPECT_DOUBLE_EQ(metric(run_one("--pairs 0-1 --dir bidirectional --access staged"), "limit"),
                   model::pcie_limits(gen5_x16()).both / 1e9);
}

TEST_F(P2pOnSim, ShortCopiesShareASample) {
  for (const char* dir : {"write", "bidirectional"}) {
    const Result r = run_one(std::string("--pairs 0-1 --size 4K --dir ") + dir);
    ASSERT_NE(r.measurement("copy"), nullptr) << r.reason;
    EXPECT_GT(r.measurement("copy")->batch, 1U) << dir;
  }
}

// --- Refusals --------------------------------------------------------------------------------------------------------

TEST(P2pWithoutPeers, OfOneGpuIsSkippedWithTheReason) {
  sim::SimMachine one(profile("h200"));
  for (const char* flags : {"--size 4K", "--pairs 0-1 --size 4K", "--from 0 --op latency"}) {
    expect_all(run_peers(flags, one), Status::skipped, "this run has one");
  }
  EXPECT_EQ(run_peers("--size 4K --dir write", one).size(), 1U) << "of pairs that are not there, one says so";
}

TEST_F(P2pOnSim, AGpuThatIsMissingIsNamedWithThoseThatAreThere) {
  expect_all(run("--pairs 0-7 --dir write"), Status::skipped, "GPUs 0, 1 only", 1);
  expect_all(run("--from 3 --dir write"), Status::skipped, "GPUs 0, 1 only", 1);
}

TEST_F(P2pOnSim, ReadsAreNotModelled) {
  expect_all(run("--op latency"), Status::skipped, "does not model memory latency");
}

TEST(P2pWithoutPeers, WithoutAccessOnlyStagedCopiesRun) {
  sim::SimMachine machine = strangers();
  expect_all(run_peers("--size 1M --dir write --engine ce,sm", machine), Status::skipped, "--access staged");
  const auto staged = run_peers("--size 64M --dir write,bidirectional --access staged", machine);
  expect_all(staged, Status::ok, "", 4);
  EXPECT_DOUBLE_EQ(metric(staged[0], "limit"), model::pcie_limits(gen5_x16()).d2h / 1e9);
}

// --- Broken devices --------------------------------------------------------------------------------------------------

TEST(P2pBroken, ACorruptedCopyFailsWhateverItsWay) {
  for (const char* engine : {"ce", "sm"}) {
    for (const char* dir : {"write", "read", "bidirectional"}) {
      // The first copies of a case fill its sources. The next one is the copy between the GPUs, or the copy back.
      const std::size_t fills = std::string_view(dir) == "bidirectional" ? 2 : 1;
      const bool by_kernel = std::string_view(engine) == "sm";
      InterceptedSim<CorruptingObserver> sim(
          std::make_unique<sim::SimMachine>(profile("h200-x2"), std::vector{0, 1}),
          CorruptingObserver::Which{
              .what = by_kernel ? CorruptingObserver::What::kernels : CorruptingObserver::What::copies,
              .nth = by_kernel ? fills : 2 * fills,
              .offset = 4097});
      const std::string flags = fmt::format("--pairs 0-1 --size 64K --dir {} --engine {}", dir, engine);
      expect_all(run_peers(flags, sim.machine()), Status::failed, "byte offset 4097", 1);
    }
  }
}

TEST(P2pBroken, ACopyThatGoesElsewhereOrNowhereFails) {
  const auto to_other_memory = [](sim::SimStream& stream, Copy c) {
    const auto& device = static_cast<sim::SimDevice&>(stream.device());
    std::optional<DeviceBuffer> other;
    if (c.direction == Direction::p2p) {
      const auto owner = device.simulation().data.memory.device_of(c.destination);
      other = device.machine().device(owner.value()).allocate_device(c.bytes);
      c.destination = other->data;
    }
    stream.SimStream::copy(c);
    stream.SimStream::synchronize();
  };
  const auto nowhere = [](sim::SimStream& stream, const Copy& c) {
    if (c.direction != Direction::p2p) stream.SimStream::copy(c);
  };
  for (const Override& how : {Override{.copy = to_other_memory}, Override{.copy = nowhere}}) {
    sim::SimMachine machine = machine_that(how, "h200-x2", {0, 1});
    expect_all(run_peers("--size 64K --dir write,read,bidirectional", machine), Status::failed, "byte offset 0", 6);
  }
  sim::SimMachine lazy = machine_that({.launch = [](sim::SimStream&, const Kernel&) {}}, "h200-x2", {0, 1});
  expect_all(run_peers("--size 64K --dir write --engine sm", lazy), Status::failed, "copy from GPU ", 2);
}

// --- Reads (latency) -------------------------------------------------------------------------------------------------

TEST_F(P2pOnSim, AChaseIsThroughMemoryOfTheOtherGpuAndSeesALostPointer) {
  Device& reader = machine_.device(0);
  Device& owner = machine_.device(1);
  const PeerAccess access(machine_.devices());
  for (const bool cached : {false, true}) {
    const std::uint64_t of_reader = reader.memory().free_bytes;
    const std::uint64_t of_owner = owner.memory().free_bytes;
    PointerChase chase(reader, owner, 1 * MiB, 3, cached);
    EXPECT_EQ(reader.memory().free_bytes, of_reader);
    EXPECT_EQ(owner.memory().free_bytes, of_owner - 1 * MiB);
    for (int i = 0; i < 40; ++i) EXPECT_NO_THROW(chase.pass());  // more than one full cycle
    auto* end = const_cast<kernels::ChaseLine*>(chase.pass().last);
    end->next = end;
    EXPECT_THROW(chase.pass(), VerificationError);
  }
}

/// Every other multiprocessor has a longer way to the other GPU's memory.
TEST(P2pReads, AreThoseOfAllMultiprocessors) {
  unsigned walks = 0;
  Override how;
  how.launch = [&walks](sim::SimStream& stream, const Kernel& kernel) {
    kernel.compute(kernel.output());  // compute in timed passes too, although they move no data
    stream.SimStream::synchronize();
    auto& log = *reinterpret_cast<kernels::ChaseLog*>(kernel.output().data());
    log.multiprocessor = walks % 132;
    log.nanoseconds = kernels::kChaseHops * (walks++ % 2 == 0 ? 800 : 850);
    log.cycles = 2 * log.nanoseconds;
  };
  sim::SimMachine machine = machine_that(how, "h200-x2", {0, 1});
  const PeerAccess access(machine.devices());
  PointerChase chase(machine.device(0), machine.device(1), 1 * MiB, 3, false);
  EXPECT_EQ(chase.multiprocessors(), 0U);
  const RunContext bench = quick_bench(machine.device());
  const Series series = bench.sample({chase.region_of_all_multiprocessors()}).front();
  EXPECT_EQ(walks % 132, 0U);
  EXPECT_EQ(chase.multiprocessors(), 132U);
  EXPECT_NEAR(chase.clock_rate(), 2e9, 1);
  EXPECT_NEAR(series.part(kLatency).median, 825e-9, 1e-12);
  EXPECT_NEAR(series.part(PointerChase::kNearest).median, 800e-9, 1e-12);
  EXPECT_NEAR(series.part(PointerChase::kFarthest).median, 850e-9, 1e-12);
}

// --- Findings --------------------------------------------------------------------------------------------------------

/// Made-up results of p2p, with relative intervals.
class P2pFindings : public testing::Test {
 protected:
  void add(const std::string& flags, double seconds) {
    const auto cases = cases_of_line("p2p " + flags);
    scenario_ = cases.front().scenario;
    const bool latency = flags.find("latency") != std::string::npos;
    Result& r = results_.emplace_back(cases.front().config);
    Measurement m;
    m.name = latency ? "latency" : "copy";
    m.samples = {seconds};
    m.median = seconds;
    m.ci95 = Interval{(1 - doubt_) * seconds, (1 + doubt_) * seconds};
    r.measurements.push_back(m);
    if (latency) return;
    r.add("bandwidth", 0.256 / seconds, "GB/s");
    r.add("limit", limit_, "GB/s");
  }

  /// All pairs of four GPUs, with equal times except for one pair.
  void add_four(const std::string& odd, double seconds) {
    for (int from = 0; from < 4; ++from) {
      for (int to = 0; to < 4; ++to) {
        const std::string pair = fmt::format("--from {} --to {}", from, to);
        if (from != to) add("--dir write " + pair, pair == odd ? seconds : 1e-3 + 1e-7 * (from + to));
      }
    }
  }

  [[nodiscard]] std::vector<Finding> conclude(std::string_view kind) const {
    std::vector<const Result*> pointers;
    for (const Result& r : results_) pointers.push_back(&r);
    std::vector<Finding> found = scenario_->conclude(pointers);
    std::erase_if(found, [kind](const Finding& f) { return f.kind != kind; });
    return found;
  }
  [[nodiscard]] std::string text(std::string_view kind) const {
    std::string all;
    for (const Finding& f : conclude(kind)) all += f.text + "\n";
    return all;
  }

  double doubt_ = 0.001;
  double limit_ = 478;

 private:
  std::vector<Result> results_;
  const Scenario* scenario_ = nullptr;
};

TEST_F(P2pFindings, WriteAndReadAreComparedBetweenEachPair) {
  for (const char* pair : {"--from 0 --to 1", "--from 1 --to 0"}) {
    add(std::string("--dir write ") + pair, 1e-3);
    add(std::string("--dir read ") + pair, 1.2e-3);
  }
  EXPECT_EQ(text("winner"), "size 256 MiB: write is 1.2 times as fast as read between both pairs\n");
  const Finding found = conclude("winner").front();
  EXPECT_EQ(found.labels.at(1), (std::pair<std::string, std::string>{"faster", "write"}));
}

TEST_F(P2pFindings, WhatDiffersFromPairToPairIsCounted) {
  add("--dir write --from 0 --to 1 --access peer", 1e-3);
  add("--dir write --from 0 --to 1 --access staged", 9e-3);
  add("--dir write --from 1 --to 0 --access peer", 1e-3);
  add("--dir write --from 1 --to 0 --access staged", 1e-3);
  EXPECT_EQ(text("winner"),
            "write, size 256 MiB: peer is 9.0 times as fast as staged between 1 of 2 pairs and peer and staged are "
            "equally fast (within 1 %) between 1 of 2 pairs\n");
}

TEST_F(P2pFindings, NothingIsSaidThatIntervalsDoNotSay) {
  doubt_ = 0.3;
  add("--dir write --from 0 --to 1 --engine ce", 1e-3);
  add("--dir write --from 0 --to 1 --engine sm", 1.2e-3);
  add("--dir write --from 1 --to 0 --engine ce", 1.3e-3);
  EXPECT_EQ(text("winner"), "write, size 256 MiB: no difference found between ce and sm from 0 to 1\n");
  EXPECT_EQ(text("asymmetry"), "write, ce, size 256 MiB: no pair is significantly faster in one direction\n");
  EXPECT_TRUE(conclude("asymmetry").front().detail);
}

TEST_F(P2pFindings, APairThatIsFasterOneWayIsNamed) {
  add("--dir read --from 0 --to 1", 1e-3);
  add("--dir read --from 1 --to 0", 1.5e-3);
  add("--dir bidirectional --from 0 --to 1", 1e-3);
  add("--dir bidirectional --from 1 --to 0", 1.5e-3);
  EXPECT_EQ(text("asymmetry"), "read, size 256 MiB: 0 to 1 is 1.5 times as fast as 1 to 0\n");
  EXPECT_FALSE(conclude("asymmetry").front().detail);
}

TEST_F(P2pFindings, ReadsHaveDirections) {
  add("--op latency --lies-in l2 --from 0 --to 1", 800e-9);
  add("--op latency --lies-in l2 --from 1 --to 0", 800e-9);
  EXPECT_EQ(text("asymmetry"), "latency, l2: the pair is equally fast in both directions (within 1 %)\n");
}

TEST_F(P2pFindings, AnOddPairIsNamedAmongThoseWithItsLimit) {
  add_four("--from 2 --to 3", 5e-3);
  EXPECT_EQ(text("odd-pair"),
            "write, size 256 MiB: 2 to 3 is an outlier: 51.20 GB/s, the median of 12 pairs is 255.9 GB/s\n");
  EXPECT_EQ(conclude("odd-pair").front().labels.back(), (std::pair<std::string, std::string>{"to", "3"}));
}

TEST_F(P2pFindings, NoPairIsOddThatHasALinkOfItsOwn) {
  add_four("", 0);
  limit_ = 57;
  add("--dir write --from 4 --to 5", 5e-3);
  add("--dir write --from 5 --to 4", 5e-3);
  EXPECT_EQ(text("odd-pair"), "");
}

TEST_F(P2pFindings, OfSeveralSizesLatencyAndRateAreFitted) {
  for (const char* access : {"peer", "staged"}) {
    for (const double mib : {1., 16., 256.}) {
      const double rate = std::string_view(access) == "peer" ? 390e9 : 37e9;
      add(fmt::format("--dir write --from 0 --to 1 --access {} --size {:.0f}M", access, mib),
          3e-6 + mib * 1048576 / rate);
    }
  }
  const std::vector<Finding> fits = conclude("fit");
  ASSERT_GE(fits.size(), 2U);
  EXPECT_NEAR(fits.front().metrics.at(0).value, 3e-6, 1e-9);
  EXPECT_NEAR(fits.front().metrics.at(1).value, 390, 0.1);
  const std::vector<Finding> faster = conclude("winner");
  ASSERT_EQ(faster.size(), 2U);
  EXPECT_TRUE(faster[0].text.starts_with("peer is faster than staged at every size measured")) << faster[0].text;
  EXPECT_TRUE(faster[0].detail);
  EXPECT_TRUE(faster[1].text.starts_with("write, size 256 MiB: peer is 10")) << faster[1].text;
}

TEST_F(P2pOnSim, SaysWhatTheSimulatedMachineIsKnownFor) {
  const std::vector<std::string> said = sentences(run("--access peer,staged --dir write,read"));
  const auto tells = [](const std::string& s) {
    return s.find("as fast as staged between both pairs") != std::string::npos;
  };
  EXPECT_TRUE(std::ranges::any_of(said, tells));
}

TEST(P2pFindingsOfFiles, WithoutWhatTheyAlwaysHaveAreRefused) {
  Result r(cases_of_line("p2p --from 0 --to 1 --dir write").front().config);
  const std::vector<const Result*> results{&r};
  EXPECT_THROW(refuse_unusable(scenarios(), results, "file.json"), InputError);
}

}  // namespace

}  // namespace xferbench::test
