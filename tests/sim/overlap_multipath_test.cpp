// Scenario overlap with --strategy multipath on simulated machines: the payload of one GPU travels through the links of
// all.
#include <map>

#include "scenarios/common/peer_access.hpp"
#include "scenarios/overlap/pipelines.hpp"
#include "sim/sim_fixture.hpp"

namespace xferbench::test {

namespace {

std::vector<PlannedCase> relayed_cases(Machine& machine, const std::string& flags) {
  return cases_on(machine, "overlap --strategy multipath " + flags);
}

std::vector<Result> run_relayed(Machine& machine, const std::string& flags, bool verify = true) {
  return run_all(relayed_cases(machine, flags), quick_bench(machine.device(), verify));
}

class OverlapThroughNeighbours : public testing::Test {
 protected:
  std::vector<Result> run(const std::string& flags) { return run_relayed(machine_, flags, verify_); }

  bool verify_ = true;
  sim::SimMachine machine_{profile("h200-x2"), {0, 1}};
};

TEST_F(OverlapThroughNeighbours, KeysSayHowManyGpusAndNoSplit) {
  const auto cases = relayed_cases(machine_, "--chunks 8 --slots 2");
  ASSERT_EQ(cases.size(), 1U);
  EXPECT_EQ(cases.front().config.key(),
            "overlap/size=256MiB/strategy=multipath/slots=2/chunks=8/kernel=fma/work=64/gpus=0+1");
  // A command may also have strategies that use one link.
  const auto both = cases_on(machine_, std::string("overlap --strategy engines,multipath"));
  ASSERT_EQ(both.size(), 2U);
  EXPECT_TRUE(both[0].config.has("split"));
  EXPECT_FALSE(both[1].config.has("split"));
}

TEST_F(OverlapThroughNeighbours, IsFasterThanThroughOneLinkAndNearlyAsFastAsAllLinksAre) {
  verify_ = false;  // times only: no data is moved
  for (const Result& r : run("--size 64M,256M")) {
    ASSERT_EQ(r.status, Status::ok) << r.reason;
    EXPECT_GT(metric(r, "of_one_gpu"), 1.2) << r.config.key();
    EXPECT_GT(metric(r, "efficiency"), 0.8) << r.config.key();
    EXPECT_LT(metric(r, "efficiency"), 1.005) << r.config.key();
    EXPECT_EQ(r.label("limited_by"), "link");
    EXPECT_EQ(r.gpus, (std::vector{0, 1}));
    EXPECT_EQ(r.metric("modelled"), nullptr) << "no model covers it";
    EXPECT_EQ(metric(r, "helper_memory"), 2 * 4 * r.config.count("size") / MiB / 32) << "four slots each way";
  }
}

TEST_F(OverlapThroughNeighbours, OfAHeavyKernelIsNoFasterThanTheKernel) {
  const Result r = run("--size 64M --work 8000").front();
  ASSERT_EQ(r.status, Status::ok) << r.reason;
  EXPECT_EQ(r.label("limited_by"), "kernel");
  EXPECT_DOUBLE_EQ(metric(r, "bound"), median(r, "kernel"));
  EXPECT_LT(metric(r, "efficiency"), 1.005);
}

TEST_F(OverlapThroughNeighbours, IsRightHoweverThePayloadIsCut) {
  expect_all(run("--size 1000004 --chunks 1,2,3,7,40 --slots 1,2,4 --in-place=no,yes"), Status::ok, "", 5U * 3 * 2);
  expect_all(run("--size 8,4100,4718604 --chunks 1,2"), Status::ok, "", 3U * 2);
  expect_all(run("--size 4194308 --chunks 9 --growth 0.9,1.1 --rounds 1,3 --slots 2"), Status::ok, "", 2U * 2);
  expect_all(run("--size 100004 --kernel fma,vector-add,sincos --kernels-per-chunk 1,3 --chunks 5"), Status::ok, "",
             3U * 2);
}

TEST_F(OverlapThroughNeighbours, SaysWhatTheLinksOfOthersBring) {
  verify_ = false;  // times only: no data is moved
  const Words all = sentences(run("--size 64M"));
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].find("one payload through the links of 2 GPUs: "), 0U) << all[0];
  EXPECT_NE(all[1].find("the model does not cover"), std::string::npos) << all[1];
  EXPECT_NE(all[2].find("time to result: "), std::string::npos) << all[2];
}

TEST_F(OverlapThroughNeighbours, RefusesWhatCannotBe) {
  expect_refused("overlap --strategy multipath --split shared", "--split");
  expect_refused("overlap --strategy multipath --balance 1", "--balance");
  expect_all(run("--size 4 --chunks 1"), Status::skipped, "2 GPUs", 1);
}

/// Eight links, far more than the memory of the payload's socket can feed.
TEST(OverlapThroughManyNeighbours, IsRightAndAsFastAsItsMemoryIs) {
  sim::SimMachine eight(profile("h200-x8"), {0, 1, 2, 3, 4, 5, 6, 7});
  const auto results = run_relayed(eight, "--size 64M --chunks 3,32,64", false);
  expect_all(results, Status::ok, "", 3);
  for (const Result& r : std::span(results).subspan(1)) {
    EXPECT_GT(metric(r, "of_one_gpu"), 1.5) << r.config.key();
    EXPECT_GT(metric(r, "efficiency"), 0.85) << r.config.key();
    EXPECT_LT(metric(r, "efficiency"), 1.005) << r.config.key();
  }
}

TEST(OverlapThroughNoNeighbours, IsSkipped) {
  sim::SimMachine one(profile("h200"));
  expect_all(run_relayed(one, ""), Status::skipped, "needs a second GPU", 1);
  sim::SimMachine machine = strangers();
  expect_all(run_relayed(machine, ""), Status::skipped, "cannot access", 1);
}

// --- Memory ----------------------------------------------------------------------------------------------------------

MemoryNeeds needs_relayed(Machine& machine, const std::string& flags) {
  const PlannedCase c = relayed_cases(machine, flags).front();
  return c.scenario->needs(c.config);
}

TEST_F(OverlapThroughNeighbours, NeedsThePayloadOnOneGpuAndPartsAndSlotsOnAll) {
  // Per direction: the payload of the pipeline, and the parts that the links carry alone.
  EXPECT_EQ(needs_relayed(machine_, "--size 64M").host, 4 * 64 * MiB);
  EXPECT_EQ(needs_relayed(machine_, "--size 64M").device, 2 * 64 * MiB + 2 * 32 * MiB);
  EXPECT_EQ(needs_relayed(machine_, "--size 64M --in-place").device, 64 * MiB + 32 * MiB);
  // With two chunks a helper GPU has one slot per direction in addition to its part.
  EXPECT_EQ(needs_relayed(machine_, "--size 64M --in-place --chunks 2").device, 64 * MiB + 32 * MiB);
  sim::SimMachine eight(profile("h200-x8"), {0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(needs_relayed(eight, "--size 64M --in-place").device, 64 * MiB + 8 * MiB);
}

TEST_F(OverlapThroughNeighbours, TakesNoMoreMemoryThanItSays) {
  for (const char* flags : {"--size 4M --chunks 1", "--size 4M --chunks 5 --slots 1",
                            "--size 4M --chunks 4 --rounds 3 --slots 9 --in-place"}) {
    const PlannedCase c = relayed_cases(machine_, flags).front();
    const std::uint64_t most = most_device_memory(c);
    EXPECT_GT(most, 0U);
    EXPECT_LE(most, c.scenario->needs(c.config).device) << flags;
  }
}

// --- Mistakes --------------------------------------------------------------------------------------------------------

/// Waits in a multipath pipeline.
enum class Wait {
  none,
  other,              ///< between streams of one GPU's own chunks
  helper_to_kernel,   ///< kernel waits for the helper's chunk to arrive
  kernel_to_helper,   ///< helper waits for the kernel before it fetches a chunk
  fill_to_drain_in,   ///< helper's relay waits for the H2D copy
  fill_to_drain_out,  ///< helper's D2H copy waits for the copy from the other GPU
  slot_in,            ///< H2D into a slot waits for the relay of the chunk before
  slot_out,           ///< copy into a slot waits for D2H of the chunk before
};

/// Omits one kind of wait, and delays each copy that empties a slot, as a busy GPU would. It recognises a stream by its
/// first copy, and an event by the stream that recorded it.
class ForgetfulHelpers final {
 public:
  explicit ForgetfulHelpers(Wait forgotten) : forgotten_(forgotten) {}

  /// Switches the omission on or off.
  void forget(bool on) { forgets_ = on; }
  [[nodiscard]] std::size_t times() const { return times_; }

  [[nodiscard]] Override how() {
    Override how;
    how.copy = [this](sim::SimStream& s, const Copy& c) {
      first_copy_.emplace(&s, c.direction);
      if (forgets_ && is_slow(s, c)) s.SimStream::hold(1e-3);
      s.SimStream::copy(c);
    };
    how.record = [this](sim::SimStream& s, EventImpl& e) {
      recorded_in_[&e] = &s;
      s.SimStream::record(e);
    };
    how.wait = [this](sim::SimStream& s, EventImpl& e) {
      if (forgets_ && kind_of(s, e) == forgotten_) {
        ++times_;
      } else {
        s.SimStream::wait(e);
      }
    };
    return how;
  }

 private:
  static bool is_on_helper(const sim::SimStream& s) { return s.device().number() != 0; }
  [[nodiscard]] std::optional<Direction> copies_of(const sim::SimStream* s) const {
    const auto found = first_copy_.find(s);
    return found == first_copy_.end() ? std::nullopt : std::optional(found->second);
  }
  /// The copy to delay, so that the omitted wait shows: the one that empties a slot for slot waits, otherwise H2D.
  [[nodiscard]] bool is_slow(const sim::SimStream& s, const Copy& c) const {
    const Direction late = forgotten_ == Wait::slot_in    ? Direction::p2p
                           : forgotten_ == Wait::slot_out ? Direction::d2h
                                                          : Direction::h2d;
    return is_on_helper(s) && c.direction == late;
  }
  [[nodiscard]] Wait kind_of(const sim::SimStream& waiting, const EventImpl& event) const {
    const auto recorded = recorded_in_.find(&event);
    if (recorded == recorded_in_.end()) return Wait::other;
    const bool here = is_on_helper(waiting);
    const bool there = is_on_helper(*recorded->second);
    if (!here) return there ? Wait::helper_to_kernel : Wait::other;
    if (!there) return Wait::kernel_to_helper;
    const auto by = copies_of(recorded->second);
    if (by == Direction::h2d) return Wait::fill_to_drain_in;
    if (by == Direction::d2h) return Wait::slot_out;
    return copies_of(&waiting) == Direction::h2d ? Wait::slot_in : Wait::fill_to_drain_out;
  }

  Wait forgotten_;
  bool forgets_ = false;
  std::size_t times_ = 0;
  std::map<const EventImpl*, const sim::SimStream*> recorded_in_;
  std::map<const sim::SimStream*, Direction> first_copy_;
};

/// Runs a pass at full speed on poisoned memory with one wait omitted. Throws VerificationError if the data are wrong.
/// Returns the number of omitted waits.
std::size_t run_forgetting(Wait forgotten, bool in_place) {
  ForgetfulHelpers forgetful(forgotten);
  const Override how = forgetful.how();
  sim::SimMachine machine = machine_that(how, "h200-x2", {0, 1});
  std::vector<Device*> gpus{&machine.device(0), &machine.device(1)};
  const std::span all(gpus);
  const PeerAccess access(all.subspan(1), all.first(1));
  ChunkedWork work(machine.device(), {.bytes = 1U << 20, .chunks = 12, .in_place = in_place, .seed = 3});
  work.prepare();
  const auto pipeline = make_pipeline(machine.device(), work, {.strategy = Strategy::multipath, .helper_slots = 2},
                                      std::span(gpus).subspan(1));
  verify(machine, work, *pipeline, run_once);  // without omissions it is right
  Region region = region_of(*pipeline, "pipeline");
  region.submit = [&] {
    forgetful.forget(true);
    pipeline->submit();
    forgetful.forget(false);
  };
  run_at_full_speed(machine, region, [&] {
    work.poison_all();
    pipeline->poison();
  });
  work.check("pipeline");
  return forgetful.times();
}

TEST(OverlapThroughNeighboursForgetting, NothingIsRight) {
  for (const bool in_place : {false, true}) EXPECT_EQ(run_forgetting(Wait::none, in_place), 0U);
}

TEST(OverlapThroughNeighboursForgetting, AnyWaitIsCaught) {
  for (const Wait wait : {Wait::helper_to_kernel, Wait::kernel_to_helper, Wait::fill_to_drain_in,
                          Wait::fill_to_drain_out, Wait::slot_in, Wait::slot_out}) {
    for (const bool in_place : {false, true}) {
      EXPECT_THROW(run_forgetting(wait, in_place), VerificationError) << static_cast<int>(wait) << " " << in_place;
    }
  }
}

/// The same in a whole case, whose check must fail.
TEST(OverlapThroughNeighboursForgetting, ToWaitForAnotherGpuFailsTheCase) {
  const auto hasty = [](sim::SimStream& stream, EventImpl& event) {
    const bool of_another = &event.device() != &stream.device();
    const bool of_the_pipeline = !static_cast<const sim::SimEvent&>(event).timed();
    if (!(of_another && of_the_pipeline)) stream.SimStream::wait(event);
  };
  Override how;
  how.wait = hasty;
  sim::SimMachine machine = machine_that(how, "h200-x2", {0, 1});
  expect_all(run_relayed(machine, "--size 16M"), Status::failed, "wrong result", 1);
}

// The gate relies on this bound: a stream with more operations could fill its queue while the gate is closed.
TEST(OverlapThroughNeighboursOperations, AreWhatTheBusiestStreamGets) {
  std::map<const sim::SimStream*, std::size_t> counts;
  const auto count = [&counts](const sim::SimStream& s) { ++counts[&s]; };
  Override how;
  how.copy = [&](sim::SimStream& s, const Copy& c) { count(s), s.SimStream::copy(c); };
  how.launch = [&](sim::SimStream& s, const Kernel& k) { count(s), s.SimStream::launch(k); };
  how.record = [&](sim::SimStream& s, EventImpl& e) { count(s), s.SimStream::record(e); };
  how.wait = [&](sim::SimStream& s, EventImpl& e) { count(s), s.SimStream::wait(e); };
  sim::SimMachine machine = machine_that(how, "h200-x2", {0, 1});
  std::vector<Device*> gpus{&machine.device(0), &machine.device(1)};
  const std::span all(gpus);
  const PeerAccess access(all.subspan(1), all.first(1));
  machine.set_data_movement(false);
  for (const std::size_t chunks : {1U, 2U, 7U, 32U}) {
    for (const std::size_t slots : {1U, 4U}) {
      ChunkedWork work(machine.device(), {.bytes = 1U << 20, .chunks = chunks, .kernels_per_chunk = 2});
      const auto pipeline = make_pipeline(
          machine.device(), work, {.strategy = Strategy::multipath, .helper_slots = slots}, std::span(gpus).subspan(1));
      counts.clear();
      pipeline->submit();
      std::size_t busiest = 0;
      for (const auto& [stream, n] : counts) busiest = std::max(busiest, n);
      EXPECT_EQ(pipeline->operations(), busiest) << chunks << " chunks, " << slots << " slots";
      machine.device(0).synchronize();
      machine.device(1).synchronize();
    }
  }
}

}  // namespace

}  // namespace xferbench::test
