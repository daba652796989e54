// Pipeline strategies with real data on the simulated device: each gives the right result, and a missing wait is
// noticed.
#include "scenarios/overlap/pipelines.hpp"

#include <array>
#include <map>

#include "cli/command.hpp"
#include "scenarios/overlap/stages.hpp"
#include "sim/sim_fixture.hpp"

namespace xferbench::test {

namespace {

RunContext two_samples(Device& device) {
  RunContext bench = quick_bench(device);
  bench.policy.min_samples = bench.policy.max_samples = 2;
  return bench;
}

// --- Every strategy --------------------------------------------------------------------------------------------------

/// The parameter is the strategy's name in --strategy.
class EveryStrategy : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] static bool has_chunks() {
    const Strategy s = strategy_word(GetParam()).strategy;
    return s != Strategy::serial && s != Strategy::zero_copy;
  }
  static std::string batch() { return GetParam().ends_with("batch") ? " --batch 2" : ""; }
  [[nodiscard]] static bool by_streams() { return strategy_word(GetParam()).strategy == Strategy::streams; }

  /// Runs all combinations of the flags that this strategy has.
  void expect_ok(std::string flags, const std::string& of_chunks, const std::string& of_slots) {
    flags += " --strategy " + GetParam();
    if (strategy_word(GetParam()).strategy != Strategy::zero_copy) flags += " --in-place=no,yes";
    if (has_chunks()) flags += " " + of_chunks;
    if (by_streams()) flags += " --streams 1,3";
    if (has_chunks() && !by_streams()) flags += " " + of_slots;
    const std::vector<PlannedCase> cases = cases_of_line("overlap " + flags);
    ASSERT_FALSE(cases.empty());
    for (const Result& r : run_all(cases, two_samples(device_))) {
      EXPECT_EQ(r.status, Status::ok) << r.config.key() << ": " << r.reason;
    }
  }

  sim::SimMachine machine_{profile("h200")};
  Device& device_ = machine_.device();
};

TEST_P(EveryStrategy, IsRightForUnevenChunksThatGrowOverSeveralRounds) {
  expect_ok("--size 100004 --rounds 3", "--chunks 7 --growth 1.1", "--slots 2,3" + batch());
}

using EveryStrategyLong = EveryStrategy;
TEST_P(EveryStrategyLong, IsRightForUnevenChunksThatGrowOverSeveralRounds) {
  expect_ok("--size 100004 --rounds 1,3", "--chunks 7,33 --growth 1,1.1", "--slots 2,3" + batch());
}

TEST_P(EveryStrategy, IsRightWithAPlaceForEveryChunk) { expect_ok("--size 100004 --rounds 1,3", "--chunks 1,7", ""); }

TEST_P(EveryStrategy, IsRightForALargePayload) { expect_ok("--size 4718604", "--chunks 33 --growth 1.1", ""); }

TEST_P(EveryStrategy, IsRightForTheSmallestPayloads) { expect_ok("--size 4,8,28,508", "--chunks 1", ""); }

TEST_P(EveryStrategy, IsRightForEveryKernel) {
  expect_ok("--size 100004 --kernel fma,vector-add,sincos --blocks 4", "--chunks 5 --kernels-per-chunk 1,3",
            "--slots 4");
}

std::vector<std::string> strategy_words() {
  std::vector<std::string> words;
  for (const StrategyWord& w : kStrategyWords) {
    if (w.strategy != Strategy::multipath)
      words.emplace_back(w.word);  // needs several GPUs: overlap_multipath_test.cpp
  }
  return words;
}

std::string name_of_strategy(const testing::TestParamInfo<std::string>& tested) {
  std::string name = tested.param;
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Words, EveryStrategy, testing::ValuesIn(strategy_words()), name_of_strategy);
INSTANTIATE_TEST_SUITE_P(Words, EveryStrategyLong, testing::ValuesIn(strategy_words()), name_of_strategy);

// --- Missing waits ---------------------------------------------------------------------------------------------------

enum class Forgotten {
  nothing,
  kernel_waits_for_its_copy_in,
  copy_out_waits_for_its_kernel,
  copy_in_waits_for_the_slots_kernel,
  kernel_waits_for_the_slots_copy_out,
  copy_in_waits_for_the_slots_copy_out,  ///< only in place
};

/// A pipeline with one stream per engine that omits one wait.
class Forgetful final : public Pipeline {
 public:
  Forgetful(Device& device, ChunkedWork& work, Forgotten forgotten)
      : Pipeline(5 * work.chunks().size()), work_(work), forgotten_(forgotten) {
    for (Stream& s : streams_) s = device.make_stream(StreamKind::nonblocking);
    for (std::size_t i = 0; i < 3 * work.chunks().size(); ++i)
      events_.push_back(device.make_event(EventKind::ordering));
  }

  void submit() override {
    const std::size_t slots = work_.shape().slots;
    for (std::size_t i = 0; i < work_.chunks().size(); ++i) {
      if (i >= slots && work_.shape().in_place) {
        wait(in, out, i - slots, Forgotten::copy_in_waits_for_the_slots_copy_out);
      } else if (i >= slots) {
        wait(in, kernel, i - slots, Forgotten::copy_in_waits_for_the_slots_kernel);
        wait(kernel, out, i - slots, Forgotten::kernel_waits_for_the_slots_copy_out);
      }
      work_.copy_in(i, streams_[in]);
      streams_[in].record(event(in, i));
      wait(kernel, in, i, Forgotten::kernel_waits_for_its_copy_in);
      work_.launch(i, streams_[kernel]);
      streams_[kernel].record(event(kernel, i));
      wait(out, kernel, i, Forgotten::copy_out_waits_for_its_kernel);
      work_.copy_out(i, streams_[out]);
      streams_[out].record(event(out, i));
    }
  }
  [[nodiscard]] std::vector<StreamView> streams() const override { return {streams_.begin(), streams_.end()}; }

 private:
  enum Stage : std::size_t { in, kernel, out };
  [[nodiscard]] const Event& event(Stage stage, std::size_t chunk) const { return events_[3 * chunk + stage]; }
  void wait(Stage who, Stage before, std::size_t chunk, Forgotten unless) {
    if (forgotten_ != unless) streams_[who].wait(event(before, chunk));
  }

  ChunkedWork& work_;
  Forgotten forgotten_;
  std::array<Stream, 3> streams_;
  std::vector<Event> events_;
};

struct Mistake {
  const char* name;
  Forgotten forgotten;
  bool in_place;
  bool slow_kernel;    ///< otherwise D2H copies are slow
  const char* caught;  ///< part of the message; null: correct
};

class ForgottenWait : public testing::TestWithParam<Mistake> {
 protected:
  static sim::Profile slow_at(const Mistake& m) {
    sim::Profile p = profile("h200");
    (m.slow_kernel ? p.kernel_traffic_rate : p.d2h_rate) /= m.slow_kernel ? 500 : 10;
    return p;
  }

  sim::Profile profile_ = slow_at(GetParam());
  sim::SimMachine machine_{profile_};
  Device& device_ = machine_.device();
};

TEST_P(ForgottenWait, IsCaughtAsWrongData) {
  const Mistake& m = GetParam();
  ChunkedWork work(device_, {.bytes = 8U << 20, .chunks = 16, .slots = 2, .in_place = m.in_place, .seed = 3});
  work.prepare();
  Forgetful pipeline(device_, work, m.forgotten);
  for (const bool at_full_speed : {false, true}) {
    const VerifiedRun run = at_full_speed ? run_at_full_speed : static_cast<VerifiedRun>(run_once);
    run(machine_, region_of(pipeline, "pipeline"), [&work] { work.poison_all(); });
    if (m.caught == nullptr) {
      EXPECT_NO_THROW(work.check("pipeline"));
      continue;
    }
    try {
      work.check("pipeline");
      ADD_FAILURE() << "not caught";
    } catch (const VerificationError& error) {
      EXPECT_NE(std::string(error.what()).find(m.caught), std::string::npos) << error.what();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    EachOfThem, ForgottenWait,
    testing::Values(
        Mistake{"None", Forgotten::nothing, false, true, nullptr},
        Mistake{"NoneWithSlowCopies", Forgotten::nothing, false, false, nullptr},
        Mistake{"NoneInPlace", Forgotten::nothing, true, true, nullptr},
        Mistake{"KernelForItsCopyIn", Forgotten::kernel_waits_for_its_copy_in, false, false, "wrong result"},
        Mistake{"CopyOutForItsKernel", Forgotten::copy_out_waits_for_its_kernel, false, true, "wrong result"},
        Mistake{"CopyInForTheSlotsKernel", Forgotten::copy_in_waits_for_the_slots_kernel, false, true, "wrong result"},
        Mistake{"KernelForTheSlotsCopyOut", Forgotten::kernel_waits_for_the_slots_copy_out, false, false,
                "wrong result"},
        Mistake{"CopyInForTheSlotsCopyOutInPlace", Forgotten::copy_in_waits_for_the_slots_copy_out, true, false,
                "wrong result"}),
    [](const auto& tested) { return std::string(tested.param.name); });

// --- Number of operations --------------------------------------------------------------------------------------------

/// Counts the operations enqueued to each stream.
class Counts {
 public:
  [[nodiscard]] Override counting() {
    using sim::SimStream;
    return {.copy = [this](SimStream& s, const Copy& c) { ++count_[&s], s.SimStream::copy(c); },
            .copy_batch = [this](SimStream& s, const CopyBatch& c) { ++count_[&s], s.SimStream::copy_batch(c); },
            .launch = [this](SimStream& s, const Kernel& k) { ++count_[&s], s.SimStream::launch(k); },
            .record = [this](SimStream& s, EventImpl& e) { ++count_[&s], s.SimStream::record(e); },
            .wait = [this](SimStream& s, EventImpl& e) { ++count_[&s], s.SimStream::wait(e); },
            .replay = [this](SimStream& s, GraphImpl& g) { ++count_[&s], s.SimStream::replay(g); }};
  }
  void start() { count_.clear(); }
  [[nodiscard]] std::size_t busiest() const {
    std::size_t most = 0;
    for (const auto& [stream, n] : count_) most = std::max(most, n);
    return most;
  }

 private:
  std::map<const sim::SimStream*, std::size_t> count_;
};

// The gate relies on this bound: a stream with more operations could fill its queue, and the host would wait for ever.
TEST(PipelineOperations, AreAtLeastWhatTheBusiestStreamGetsAndNotManyMore) {
  Counts counts;
  sim::SimMachine machine = machine_that(counts.counting());
  Device& device = machine.device();
  machine.set_data_movement(false);
  for (const StrategyWord& w : kStrategyWords) {
    if (w.strategy == Strategy::serial) continue;     // blocks the host, never gated
    if (w.strategy == Strategy::multipath) continue;  // tested in overlap_multipath_test.cpp
    for (const std::size_t chunks : {1U, 7U, 32U}) {
      for (const std::size_t slots : {0U, 2U, 4U}) {
        for (const bool in_place : {false, true}) {
          ChunkedWork work(device, {.bytes = 1U << 20,
                                    .chunks = chunks,
                                    .rounds = 2,
                                    .slots = slots,
                                    .in_place = in_place,
                                    .kernels_per_chunk = 2});
          const auto pipeline = make_pipeline(device, work, {.strategy = w.strategy, .graph = w.graph, .streams = 3});
          counts.start();
          pipeline->submit();
          const std::string what =
              std::string(w.word) + ", " + std::to_string(chunks) + " chunks, " + std::to_string(slots) + " slots";
          EXPECT_GE(pipeline->operations(), counts.busiest()) << what;
          EXPECT_LE(pipeline->operations(), 1.5 * static_cast<double>(counts.busiest())) << what;
          device.synchronize();
        }
      }
    }
  }
}

// --- Payloads larger than the device memory --------------------------------------------------------------------------

MemoryNeeds needs(const std::string& flags) {
  const PlannedCase c = cases_of_line("overlap " + flags).front();
  return c.scenario->needs(c.config);
}

TEST(OverlapMemory, OnTheDeviceIsThatOfTheSlotsHoweverLargeThePayload) {
  const std::uint64_t gpu = profile("h200").memory_bytes;
  const std::string large = "--size 200G --chunks 256 ";
  const std::map<std::string, std::uint64_t> slots{
      {"--streams 4", 8},
      {"--streams 4 --in-place", 4},
      {"--strategy engines --slots 3", 6},
      {"--strategy double-buffer", 4},
      {"--strategy double-buffer --in-place", 2},
      {"--strategy graph --slots 8", 16},
  };
  for (const auto& [flags, n] : slots) {
    const MemoryNeeds needed = needs(large + flags);
    EXPECT_LE(needed.device, gpu) << flags;
    EXPECT_EQ(needed.device, n * (200 * GiB / 256)) << flags;
    EXPECT_EQ(needed.host, 400 * GiB) << flags;
  }
  EXPECT_GT(needs(large + "--strategy engines").device, gpu) << "a place for every chunk";
  EXPECT_EQ(needs(large + "--strategy engines --slots 3 --rounds 4").device, 6 * (200 * GiB / 256));
}

TEST(OverlapMemory, OfChunksThatGrowIsThatOfTheLongest) {
  const std::string even = "--size 8G --chunks 64 --strategy double-buffer";
  const std::uint64_t grown = needs(even + " --growth 1.06").device;
  const std::uint64_t longest =
      cut({.bytes = 8 * GiB, .chunks = 64, .growth = 1.06}).back().count * ChunkedWork::kElement;
  EXPECT_GT(grown, needs(even).device);
  EXPECT_GE(grown, 4 * longest);
  EXPECT_LE(grown, 4 * (longest + 256));
}

/// Fails if a copy leaves the buffers of the watched payload.
class Bounds {
 public:
  void watch(const Payload& payload) { payload_ = &payload; }
  [[nodiscard]] Override checking() {
    return {.copy = [this](sim::SimStream& stream, const Copy& c) {
      if (payload_ != nullptr) check(c);
      stream.SimStream::copy(c);
    }};
  }

 private:
  void check(const Copy& c) const {
    const bool in = c.direction == Direction::h2d;
    const auto& [bytes, device_bytes] = std::pair(payload_->shape().bytes, payload_->shape().device_bytes);
    check(c.bytes, in ? c.source : c.destination, in ? payload_->host_in() : payload_->host_out(), bytes);
    check(c.bytes, in ? c.destination : c.source, in ? payload_->device_in() : payload_->device_out(), device_bytes);
  }
  static void check(std::size_t length, const std::byte* at, const std::byte* first, std::size_t bytes) {
    EXPECT_GE(at, first);
    EXPECT_LE(at + length, first + bytes) << length << " bytes";
  }

  const Payload* payload_ = nullptr;
};

TEST(OverlapMemory, IsNeverLeftByACopyHoweverSmallThePayload) {
  for (const std::size_t bytes : {4U, 8U, 28U, 60U, 64U, 252U, 256U, 508U, 512U, 1020U, 100'004U, 1'048'580U}) {
    for (const bool in_place : {false, true}) {
      SCOPED_TRACE(std::to_string(bytes) + (in_place ? " bytes in place" : " bytes"));
      Bounds bounds;
      sim::SimMachine machine = machine_that(bounds.checking());
      Device& device = machine.device();
      ChunkedWork work(device, {.bytes = bytes, .in_place = in_place});
      work.prepare();
      bounds.watch(*work.payload());
      Stages stages(device, work);
      EXPECT_NO_THROW(stages.verify());
      const std::array on_gpu{OnGpu{&device, &work}};
      if (bytes >= kLeastForCosts) {
        static_cast<void>(measure_stage_costs(two_samples(device), on_gpu));
      } else {
        EXPECT_THROW(static_cast<void>(measure_stage_costs(two_samples(device), on_gpu)), std::logic_error);
      }
    }
  }
}

/// A payload that passes through a smaller window of device memory.
class ThroughAWindow : public testing::TestWithParam<bool> {
 protected:
  static constexpr std::size_t kBytes = 1'000'004;

  ChunkedWork work(Device& device, std::size_t device_bytes) {
    ChunkedWork::Shape shape{.bytes = kBytes, .chunks = 33, .slots = 2, .in_place = GetParam(), .seed = 5};
    auto payload = std::make_shared<Payload>(device, Payload::Shape{kBytes, device_bytes, shape.in_place, shape.op, 5});
    return {device, shape, std::move(payload)};
  }
};

TEST_P(ThroughAWindow, StagesAreRightInPieces) {
  for (const std::size_t window : {64U << 10, 100'000U, 700'000U}) {
    sim::SimMachine machine(profile("h200"));
    Device& device = machine.device();
    ChunkedWork w = work(device, window);
    w.prepare();
    Stages stages(device, w);
    EXPECT_NO_THROW(stages.verify()) << window;
  }
}

TEST_P(ThroughAWindow, SoArePipelines) {
  sim::SimMachine machine(profile("h200"));
  Device& device = machine.device();
  ChunkedWork w = work(device, 64U << 10);
  w.prepare();
  for (const Strategy s : {Strategy::engines, Strategy::double_buffer}) {
    const auto pipeline = make_pipeline(device, w, {.strategy = s});
    run_at_full_speed(machine, region_of(*pipeline, "pipeline"), [&w] { w.poison_all(); });
    EXPECT_NO_THROW(w.check("pipeline"));
  }
}

/// Corrupts one byte of the n-th D2H copy after spoil().
class SpoilsOneCopy {
 public:
  void spoil(std::size_t n) { left_ = n + 1; }
  [[nodiscard]] Override spoiling() {
    return {.copy = [this](sim::SimStream& stream, const Copy& c) {
      stream.SimStream::copy(c);
      if (c.direction != Direction::d2h || left_ == 0 || --left_ > 0) return;
      stream.device().synchronize();
      c.destination[c.bytes / 2] ^= std::byte{0x10};
    }};
  }

 private:
  std::size_t left_ = 0;
};

TEST_P(ThroughAWindow, AWrongByteInAnyPieceThatComesBackIsCaught) {
  const std::size_t pieces = GetParam() ? 6 : 3;  // in place, input and output share the window
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    SpoilsOneCopy copies;
    sim::SimMachine machine = machine_that(copies.spoiling());
    ChunkedWork w = work(machine.device(), 400'000);
    w.prepare();
    Stages stages(machine.device(), w);
    copies.spoil(piece);
    EXPECT_THROW(stages.verify(), VerificationError) << piece;
  }
}

std::string name_of_place(const testing::TestParamInfo<bool>& tested) { return tested.param ? "InPlace" : "Apart"; }

INSTANTIATE_TEST_SUITE_P(ApartOrInPlace, ThroughAWindow, testing::Bool(), name_of_place);

}  // namespace

}  // namespace xferbench::test
