// Scenario scatter: every way moves every byte to its place and none beside it, and costs what its calls cost.
#include "run/tuner.hpp"
#include "sim/sim_fixture.hpp"
#include "support/files.hpp"

namespace xferbench::test {

namespace {

class ScatterTest : public OnSim {
 protected:
  std::vector<Result> run(Words flags) {
    flags.insert(flags.begin(), "scatter");
    return OnSim::run(flags);
  }
  Result run_one(const Words& flags) { return run(flags).front(); }
  /// Returns the rows of `tune scatter` with these flags.
  std::vector<Result> tuned(const std::string& flags, SearchMode how) {
    const TuneObserver nobody{.progress = [](const TuneProgress&) {}, .measured = [](const std::vector<Result>&) {}};
    std::vector<Case> space;
    const auto cases = cases_on(machine_, "tune scatter " + flags);
    for (const PlannedCase& c : cases) {
      if (!c.scenario->skip_reason(c.config, &device_.capabilities())) space.push_back(c.config);
    }
    RunContext bench = quick_bench(device_, false);
    bench.policy = {.budget = 6};
    const auto command_of = [](const Case& c) { return c.key(); };
    return tune(*cases.front().scenario, space, bench, command_of, nobody, how).results;
  }
};

TEST_F(ScatterTest, EveryWayMovesEveryByteAndLeavesTheGaps) {
  const Words all{"--dir", "h2d,d2h,bidirectional", "--way", "calls,graph,batch,batch-3d,kernel,staged,packed"};
  const Words with_gaps{"--dir", "h2d,d2h,bidirectional", "--way", "calls,graph,batch,kernel,packed"};
  const std::vector<std::pair<Words, Words>> commands{
      {all, {"--size", "1M", "--piece", "4K,60001"}},
      {all, {"--size", "1000001", "--piece", "4097", "--align", "1"}},
      {with_gaps, {"--size", "1000001", "--piece", "4097", "--align", "1", "--pitch", "5001"}},
      {with_gaps, {"--size", "1M", "--piece", "4K", "--layout", "runs:7", "--pitch", "8K", "--merge"}},
      {all, {"--piece", "1", "--pieces", "100"}},
      {all, {"--piece", "100", "--pieces", "1"}},
      {all, {"--size", "1M", "--piece", "16K", "--host-layout", "contiguous", "--gpu-layout", "strided"}},
  };
  for (const auto& [ways, shape] : commands) {
    Words command = ways;
    command.insert(command.end(), shape.begin(), shape.end());
    expect_all(run(command), Status::ok);
  }
  expect_all(run({"--dir", "d2d", "--way", "calls,batch,kernel,bulk", "--size", "1M", "--piece", "4K"}), Status::ok);
  expect_all(
      run({"--dir", "h2d,d2h,d2d", "--way", "strided,bulk", "--layout", "strided", "--size", "1M", "--piece", "4K"}),
      Status::ok);
  expect_all(run({"--way", "calls,packed", "--host", "pageable", "--pieces", "64"}), Status::ok);
  expect_all(run({"--way", "kernel,staged,packed", "--list", "mapped,resident", "--size", "1M"}), Status::ok);
}

TEST_F(ScatterTest, PiecesOfMixedSizesAndOfACacheArriveWithEveryWayThatIsLegal) {
  const Words ways{"--dir", "h2d,d2h", "--way", "calls,batch,kernel,bulk,staged,packed"};
  const auto with = [&](Words shape) {
    shape.insert(shape.end(), ways.begin(), ways.end());
    return run(shape);
  };
  expect_all(with({"--size", "1M", "--piece", "1K", "--piece-to", "64K"}), Status::ok);
  const auto cache = with({"--size", "1M", "--kv", "layers:4,heads:2,dim:64,tokens:16,dtype:bf16"});
  expect_all(cache, Status::ok);
  EXPECT_EQ(cache.front().value("pieces_moved"), 256) << "32 blocks of 4 layers and 2 tensors";
  const TemporaryFolder folder;
  const std::string file = folder / "sizes.txt";
  write_file(file, "48\n4096\n100000\n");
  expect_all(run({"--size", "1M", "--piece-sizes", file, "--way", "calls,batch,kernel,staged,packed"}), Status::ok);
}

TEST_F(ScatterTest, AByteInAGapIsFound) {
  sim::SimMachine careless = machine_that({.copy = [](sim::SimStream& stream, Copy c) {
    if (c.bytes == 4096) ++c.bytes;
    stream.SimStream::copy(c);
  }});
  expect_all(
      run_on(careless.device(), {"scatter", "--way", "calls", "--size", "64K", "--piece", "4K", "--pitch", "8K"}),
      Status::failed, "wrong result");
}

TEST_F(ScatterTest, ASpreadOrCopyThatDoesNotWaitForItsChunkIsWrongData) {
  sim::SimMachine hasty = machine_that({.wait = [](sim::SimStream&, EventImpl&) {}});
  expect_all(run_on(hasty.device(), {"scatter", "--way", "staged", "--dir", "h2d,d2h", "--size", "16M"}),
             Status::failed, "wrong result");
  sim::SimMachine reckless = machine_that({.synchronize_event = [] {}});
  expect_all(
      run_on(reckless.device(), {"scatter", "--way", "packed", "--dir", "d2h", "--size", "16M", "--threads", "1"}),
      Status::failed, "wrong result");
}

TEST_F(ScatterTest, WaysCostWhatTheirCallsAndEnginesCost) {
  verify_ = false;  // times only: no data is moved
  const auto& p = profile("h200");
  const auto at = [&](const char* way) { return run_one({"--dir", "h2d", "--size", "64M", "--way", way}); };
  constexpr double kPieces = 4096;
  const Result batch = at("batch");
  const double inlined = p.batch_inline_call + 16384 / p.batch_inline_rate;
  EXPECT_NEAR(median(batch, "submit"), p.copy_call + kPieces * (p.batch_copy_call + inlined), 1e-6)
      << "the driver copies small sources itself";
  EXPECT_LT(median(batch, "scatter") - median(batch, "submit"), 60e-6) << "the engine moves them meanwhile";
  const Result behind = run_one({"--dir", "h2d", "--size", "64M", "--way", "batch", "--behind-kernel", "5us"});
  EXPECT_NEAR(median(behind, "submit"), p.launch_call + p.copy_call + kPieces * p.batch_copy_call, 1e-6)
      << "the driver does so only if the stream is idle";
  const Result larger = run_one({"--dir", "h2d", "--size", "64M", "--piece", "28K", "--way", "batch"});
  EXPECT_NEAR(metric(larger, "submit_per_piece"), p.batch_copy_call, 1e-8) << "from 28 KiB on it does not";
  const double bytes = 64e0 * 1024 * 1024;
  EXPECT_NEAR(median(larger, "on-gpu"), bytes / p.h2d_rate + bytes / (28 * 1024) * p.batch_copy, 10e-6);
  const Result calls = run_one({"--dir", "h2d", "--size", "64M", "--piece", "64K", "--way", "calls"});
  EXPECT_NEAR(metric(calls, "submit_per_piece"), p.copy_call, 1e-9);
  const double engine = p.h2d_overhead + 16384 / p.h2d_rate;
  EXPECT_NEAR(median(at("calls"), "submit"), (kPieces - p.stream_room) * engine, 10e-6)
      << "with more pieces than a stream has room for, calls wait for the engine";
  EXPECT_LT(median(at("kernel"), "submit"), 10e-6) << "whatever the number of pieces";
  EXPECT_GT(metric(at("staged"), "of_limit"), 0.97);
  EXPECT_EQ(metric(at("batch"), "occupied_multiprocessors"), 0);
  EXPECT_EQ(metric(at("batch"), "multiprocessor_share"), 0);
  EXPECT_EQ(metric(at("kernel"), "occupied_multiprocessors"), 33);
  EXPECT_NEAR(metric(at("kernel"), "multiprocessor_share"), 0.25, 0.01) << "33 of 132, for the whole pass";
  EXPECT_LT(metric(at("staged"), "multiprocessor_share"), 0.05)
      << "more, but only while GPU memory is read and written";
  const Result one = run_one({"--dir", "h2d", "--size", "64M", "--way", "kernel", "--blocks", "1"});
  EXPECT_NEAR(metric(one, "bandwidth"), 15.3, 0.4);
}

TEST_F(ScatterTest, MergingLeavesOneCopyForEachRun) {
  const Result r =
      run_one({"--dir", "h2d", "--size", "1M", "--piece", "4K", "--layout", "runs:16", "--pitch", "8K", "--merge"});
  EXPECT_EQ(metric(r, "pieces_moved"), 16);
}

TEST_F(ScatterTest, BothWaysOverlapBecauseTheListOfD2hGoesFirst) {
  verify_ = false;
  const Result r = run_one({"--dir", "bidirectional", "--way", "staged"});
  EXPECT_GT(metric(r, "of_limit"), 0.95);
}

TEST_F(ScatterTest, ThreadsOfBothDirectionsPackAtTheSameTime) {
  verify_ = false;
  const auto results = run({"--dir", "h2d,d2h,bidirectional", "--way", "packed", "--size", "16M"});
  const double in_turn = median(results[0], "scatter") + median(results[1], "scatter");
  EXPECT_LT(median(results[2], "scatter"), 0.9 * in_turn);
}

TEST_F(ScatterTest, AKernelBesideTellsWhatItLosesAndWhetherThePiecesHadToWait) {
  verify_ = false;
  const auto beside = [&](const char* way) {
    return run_one({"--dir", "h2d", "--size", "4M", "--way", way, "--beside", "compute"});
  };
  const Result copies = beside("batch");
  EXPECT_EQ(copies.label("pieces_begin"), "beside it");
  EXPECT_NEAR(metric(copies, "kernel_loss"), 0, 0.01);
  const Result kernel = beside("kernel");
  EXPECT_EQ(kernel.label("pieces_begin"), "after it") << "there is no multiprocessor left for it";
}

TEST_F(ScatterTest, WhatIsIllegalSaysWhy) {
  const auto refused = [&](const Words& flags, std::string_view reason) {
    try {
      expect_all(run(flags), Status::skipped, reason);
    } catch (const UsageError& error) {
      EXPECT_TRUE(std::string_view(error.what()).find(reason) != std::string_view::npos) << error.what();
    }
  };
  refused({"--way", "bulk", "--piece", "4100"}, "multiples of 16");
  refused({"--way", "kernel", "--layout", "runs:x"}, "runs:16");
  refused({"--way", "kernel", "--pitch", "1K"}, "smaller than a piece");
  refused({"--way", "kernel", "--piece", "128M"}, "larger than --size");
  refused({"--way", "kernel", "--piece", "8K", "--piece-to", "4K"}, "smaller than --piece");
  refused({"--way", "kernel", "--piece", "8K", "--piece-to", "16K", "--pieces", "8"}, "need --size");
  refused({"--way", "kernel", "--kv", "layers:32"}, "heads is missing; write a shape like layers:32,heads:8,dim:128");
  refused({"--way", "kernel", "--piece-to", "64K"}, "--piece-to does nothing here: it belongs to --piece; give that");
  refused({"--way", "kernel", "--piece-sizes", "/missing"}, "cannot read /missing");
  refused({"--way", "kernel", "--piece", "1", "--size", "1T"}, "4,000,000 pieces");
  refused({"--way", "strided", "--layout", "strided", "--piece", "60001"}, "multiple of --piece");
  refused({"--way", "staged", "--pitch", "32K"}, "without gaps");
  refused({"--way", "batch", "--host", "pageable"}, "calls and packed only");
  refused({"--way", "kernel", "--beside", "memory"}, "does not model");
  refused({"--way", "batch", "--prefer-overlap"}, "leave it out");
}

TEST_F(ScatterTest, TheFastestWayIsNamedWithItsFactorOverCalls) {
  verify_ = false;
  const auto results = run({"--dir", "h2d", "--way", "calls,batch,staged"});
  const auto findings = conclude(scenarios(), results);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_TRUE(findings[0].text.starts_with("h2d, pieces of 16 KiB: staged is the fastest: 5")) << findings[0].text;
  EXPECT_TRUE(findings[0].text.ends_with("times as fast as calls")) << findings[0].text;
}

TEST_F(ScatterTest, TuneFindsWhatAnExhaustiveSearchFinds) {
  for (const char* shape : {"--dir h2d --piece 4K", "--dir bidirectional --piece 64K", "--dir d2h --layout strided",
                            "--dir h2d --piece 64K --size 16M"}) {
    const auto best_of = [&](SearchMode how) {
      double best = 0;
      for (const Result& r : tuned(shape, how)) best = std::max(best, r.value("bandwidth"));
      return best;
    };
    EXPECT_GT(best_of(SearchMode::guided), 0.98 * best_of(SearchMode::exhaustive)) << shape;
  }
}

TEST_F(ScatterTest, TuneSaysWhatEachConfigurationCostsTheHostAndTheMultiprocessors) {
  for (const Result& r : tuned("--dir h2d --way batch,kernel --blocks 16", SearchMode::exhaustive)) {
    const bool by_kernel = r.config.is("way", "kernel");
    EXPECT_EQ(r.value("occupied_multiprocessors"), by_kernel ? 16 : 0);
    EXPECT_GT(r.value("host_blocked"), 0);
    EXPECT_LT(r.value("host_blocked"), by_kernel ? 20e-6 : r.value("makespan")) << "the calls, not the wait";
  }
}

}  // namespace

}  // namespace xferbench::test
