// Scenario storage: every way loads every byte, a cold file comes from the disk and a warm one does not, and the
// simulated disk follows its law.
#include <bit>
#include <filesystem>
#include <fstream>

#include "device/file.hpp"
#include "run/tuner.hpp"
#include "scenarios/storage/parts.hpp"
#include "sim/sim_fixture.hpp"
#include "support/files.hpp"
#include "words/answer.hpp"

namespace xferbench::test {

namespace {

class StorageTest : public OnSim {
 protected:
  std::vector<Result> run(Words flags) {
    flags.insert(flags.begin(), "storage");
    return OnSim::run(flags);
  }
  Result run_one(const Words& flags) { return run(flags).front(); }
  /// Returns the highest bandwidth that `tune storage` with these flags finds.
  double best_of_tune(const std::string& flags, SearchMode how) {
    RunContext bench{machine_, device_, {}, 1, false, [](const SamplingProgress&) {}};
    const TuneObserver nobody{[](const TuneProgress&) {}, [](const std::vector<Result>&) {}};
    const auto cases = cases_on(machine_, "tune storage " + flags);
    const std::vector<Case> space = feasible(cases, machine_, false, {});
    const auto command_of = [](const Case& c) { return c.key(); };
    double best = 0;
    for (const Result& r : tune(*cases.front().scenario, space, bench, command_of, nobody, how).results) {
      best = std::max(best, r.value("bandwidth"));
    }
    return best;
  }
};

TEST_F(StorageTest, EveryWayLoadsEveryByte) {
  for (const char* size : {"1", "4095", "1000001", "5M"}) {
    const auto results = run({"--way", "read,threads,direct,mmap,mmap-threads,mmap-register,uring", "--size", size,
                              "--threads", "1,3", "--request", "64K", "--slots", "2"});
    expect_all(results, Status::ok);
    EXPECT_EQ(results.size(), 18U) << "7 ways cold, 6 warm, and 1 or 3 threads where they have slots";
    expect_all(run({"--way", "threads,mmap-threads", "--crew", "all", "--size", size, "--threads", "3"}), Status::ok);
    expect_all(run({"--way", "read,threads,direct,mmap,mmap-threads,mmap-register,uring", "--layout", "tensors,placed",
                    "--size", size, "--threads", "3", "--request", "64K"}),
               Status::ok);
    expect_all(run({"--way", "uring", "--depth", "1,2,5", "--size", size, "--request", "64K"}), Status::ok);
  }
}

TEST_F(StorageTest, CufileNeedsARealGpu) {
  const auto results = run({"--way", "cufile", "--threads", "1", "--size", "1M"});
  ASSERT_EQ(results.size(), 1U) << "cold only";
  expect_all(results, Status::skipped, "cuFile reads real files into real GPUs; leave out --simulate");
}

TEST_F(StorageTest, EveryWaySavesEveryByte) {
  for (const char* size : {"1", "4095", "1000001", "5M"}) {
    const auto results = run({"--dir", "save", "--cache", "cold", "--way", "read,threads,direct", "--size", size,
                              "--threads", "1,3", "--request", "64K", "--slots", "2"});
    expect_all(results, Status::ok);
    EXPECT_EQ(results.size(), 5U);
  }
  expect_all(run({"--dir", "save", "--cache", "cold", "--way", "threads,direct", "--crew", "all", "--size", "1000001",
                  "--threads", "3"}),
             Status::ok);
}

TEST_F(StorageTest, ASlotThatIsWrittenTooSoonIsWrongData) {
  sim::SimMachine reckless = machine_that({.synchronize_event = [] {}});
  expect_all(run_on(reckless.device(), {"storage", "--dir", "save", "--cache", "cold", "--way", "threads", "--threads",
                                        "8", "--size", "16M"}),
             Status::failed, "wrong result");
}

TEST_F(StorageTest, ASavedFileIsOnTheDiskOnlyAfterTheSync) {
  verify_ = false;
  const auto& p = profile("h200");
  std::size_t measured = 0;
  for (const Result& r : run({"--dir", "save", "--cache", "cold", "--way", "threads,direct", "--threads", "4", "--size",
                              "256M", "--slot-memory", "all"})) {
    if (r.status == Status::skipped) continue;
    ++measured;
    const bool direct = r.config.is("way", "direct");
    const bool contiguous = r.config.is("slot-memory", "registered-huge");
    EXPECT_LE(metric(r, "bandwidth"), 1e-9 * p.disk_write_rate) << r.config.key();
    EXPECT_LE(metric(r, "of_limit"), 1) << r.config.key();
    EXPECT_EQ(r.label("bottleneck"), contiguous ? "disk" : "its writes") << r.config.key();
    const double copied = p.disk_write_rate_cached / (p.disk_write_rate_cached + p.file_write_rate);
    EXPECT_NEAR(metric(r, "written_after") / median(r, "storage"), direct ? 1 : copied, 0.02) << r.config.key();
  }
  EXPECT_EQ(measured, 3U) << "through the page cache one kind of slots is enough";
}

TEST_F(StorageTest, TensorsTileTheFileAndHaveAlignedPlaces) {
  for (const std::uint64_t bytes : {1UL, 299UL, 300UL, 1'000'001UL, 1UL << 30}) {
    const StorageCase c{.path = ".", .size = bytes, .layout = FileLayout::tensors};
    const PartTable table(0, part_sizes(c), true);
    EXPECT_EQ(table.bytes(), bytes);
    EXPECT_EQ(table.parts().size(), std::min<std::size_t>(300, bytes));
    std::uint64_t end = 0;
    for (const FilePart& part : table.parts()) {
      EXPECT_EQ(std::exchange(end, part.first + part.count), part.first);
      EXPECT_EQ(part.place % 256, 0U);
    }
  }
}

TEST_F(StorageTest, ASafetensorsHeaderSaysWhereTensorsLie) {
  const TemporaryFolder folder;
  const std::string path = (folder / "model.safetensors").string();
  const auto write = [&](const std::string& header) {
    std::ofstream file(path, std::ios::binary);
    const auto length = std::bit_cast<std::array<char, 8>>(std::uint64_t{header.size()});
    file.write(length.data(), length.size());
    file << header << std::string(1000, 'x');
  };
  const auto sizes = [&] {
    return part_sizes({.path = path, .size = std::filesystem::file_size(path), .layout = FileLayout::tensors});
  };
  const std::string header = R"({"__metadata__":{"a":"b"},"w":{"dtype":"F16","shape":[100],"data_offsets":[0,200]},)"
                             R"("v":{"dtype":"U8","shape":[800],"data_offsets":[200,1000]}})";
  write(header);
  EXPECT_EQ(sizes(), (std::vector<std::uint64_t>{8 + header.size(), 200, 800}));
  for (const char* wrong :
       {"no JSON", R"({"w":{"data_offsets":7}})", R"({"w":[1]})", R"({"w":{"data_offsets":[0,-1]}})"}) {
    write(wrong);
    EXPECT_THROW(sizes(), UsageError) << wrong;
  }
  std::ofstream(path) << "short";
  EXPECT_THROW(sizes(), UsageError);
}

TEST_F(StorageTest, SingleTensorsTakeLongerWhereEachWaitsForItsCopy) {
  verify_ = false;
  const auto results = run({"--way", "read,mmap", "--layout", "all", "--cache", "warm", "--size", "64M"});
  const auto findings = conclude(scenarios(), results);
  const auto time_of = [&](std::string_view layout, std::string_view way) {
    const auto that = std::ranges::find_if(
        results, [&](const Result& r) { return r.config.is("layout", layout) && r.config.is("way", way); });
    return median(*that, "storage");
  };
  for (const char* way : {"read", "mmap"}) {
    EXPECT_GT(time_of("tensors", way), time_of("placed", way)) << way;
    EXPECT_GT(time_of("placed", way), time_of("whole", way)) << way;
  }
  const auto said = std::ranges::find(findings, "tensors", &Finding::kind);
  ASSERT_NE(said, findings.end());
  const std::string factor = fmt::format("read {:.2f} (", time_of("tensors", "read") / time_of("whole", "read"));
  EXPECT_NE(said->text.find(factor), std::string::npos) << said->text << "; expected " << factor;
}

TEST_F(StorageTest, ASlotThatIsFilledAgainTooSoonIsWrongData) {
  sim::SimMachine reckless = machine_that({.synchronize_event = [] {}});
  expect_all(run_on(reckless.device(), {"storage", "--way", "threads,uring", "--threads", "1", "--depth", "1", "--size",
                                        "16M", "--cache", "warm"}),
             Status::failed, "wrong result");
}

TEST_F(StorageTest, AColdFileComesFromTheDiskAndAWarmOneDoesNot) {
  for (const char* way : {"read", "threads", "mmap", "mmap-threads", "mmap-register", "uring"}) {
    const Words flags{"--way", way, "--size", "16M"};
    for (const Result& r : run(flags)) {
      const bool cold = r.config.is("cache", "cold");
      EXPECT_EQ(metric(r, "from_device"), cold ? 1 : 0) << r.config.key();
      EXPECT_EQ(r.metric("device_request") != nullptr, cold) << r.config.key();
      EXPECT_LE(metric(r, "of_limit"), 1) << r.config.key();
      EXPECT_TRUE(r.warnings.empty()) << r.config.key();
      if (cold) {
        EXPECT_LE(metric(r, "limit"), 1e-9 * profile("h200").disk_read_rate + 1e-6);
      }
    }
  }
}

/// Rate of direct reads in GB/s into this kind of slots.
double law(const sim::Profile& p, std::string_view slots, double depth, double request) {
  const double rate = slots == "pinned" ? p.disk_read_rate_scattered : p.disk_read_rate;
  return 1e-9 * std::min(rate, depth * request / (p.disk_latency + request / rate));
}

TEST_F(StorageTest, DirectReadsFollowTheLawOfTheDisk) {
  verify_ = false;  // times only
  const auto& p = profile("h200");
  for (const auto& [request, bytes] : {std::pair("16K", 16384.0), {"128K", 131072.0}, {"1M", 1048576.0}}) {
    for (const unsigned threads : {1U, 2U, 4U, 16U}) {
      for (const Result& r : run({"--way", "direct", "--cache", "cold", "--size", "64M", "--request", request,
                                  "--threads", std::to_string(threads), "--slot-memory", "all"})) {
        const double rate = law(p, r.config.word("slot-memory"), threads, bytes);
        EXPECT_NEAR(metric(r, "read_bandwidth") / rate, 1, 0.02) << r.config.key();
      }
    }
  }
}

TEST_F(StorageTest, ReadsInAQueueFollowTheLawOfTheDisk) {
  verify_ = false;
  const auto& p = profile("h200");
  for (const auto& [request, bytes] : {std::pair("16K", 16384.0), {"128K", 131072.0}, {"1M", 1048576.0}}) {
    for (const unsigned depth : {1U, 2U, 4U, 16U}) {
      const Result r = run_one({"--way", "uring", "--cache", "cold", "--size", "64M", "--request", request, "--depth",
                                std::to_string(depth)});
      const double rate = law(p, "pinned", depth, bytes);
      EXPECT_NEAR(metric(r, "read_bandwidth") / rate, 1, 0.02) << request << " " << depth;
      // Calls for each request take a larger part of the time where requests are short.
      EXPECT_GT(metric(r, "bandwidth") / rate, bytes < 100'000 ? 0.9 : 0.94) << request << " " << depth;
      EXPECT_NEAR(metric(r, "from_device"), 1, 1e-9);
    }
  }
}

TEST_F(StorageTest, WorkersCopyAQueueOfReadsFromThePageCacheAtOnce) {
  verify_ = false;
  const auto& p = profile("h200");
  for (const unsigned depth : {1U, 2U, 4U, 16U}) {
    const Result r = run_one({"--way", "uring", "--cache", "warm", "--size", "512M", "--depth", std::to_string(depth)});
    const double rate = 1e-9 * std::min(depth * p.file_copy_rate, p.host_copy_rate_all);
    EXPECT_NEAR(metric(r, "read_bandwidth") / rate, 1, 0.02) << depth;
    EXPECT_GT(metric(r, "of_limit"), 0.9 * std::min(1.0, rate / metric(r, "limit"))) << depth;
    EXPECT_GE(metric(r, "cpu_per_gb"), 1e9 / p.file_copy_rate) << "of the workers, " << depth;
  }
}

TEST_F(StorageTest, AQueueReadsThroughThePageCacheAsItsCallerDoes) {
  HostRuntime& host = device_.host();
  const auto file = host.files().make_temporary(".", 1 << 20);
  std::vector<std::byte> slots(1 << 20);
  const auto seconds_of = [&](QueueCopies copies) {
    const auto queue = file->make_queue(slots, 2, copies);
    const double begun = host.now();
    queue->start(0, 400'000, 100);
    queue->start(1, 400'000, 500'000);
    EXPECT_NE(queue->finish(), queue->finish());
    return host.now() - begun;
  };
  const double copy = 400'000 / profile("h200").file_copy_rate;
  EXPECT_GT(seconds_of(QueueCopies::by_workers), 800'000 / profile("h200").disk_read_rate_cached) << "from the disk";
  EXPECT_NEAR(seconds_of(QueueCopies::by_workers), copy, 0.02 * copy);
  EXPECT_NEAR(seconds_of(QueueCopies::by_caller), 2 * copy, 0.02 * copy);
  const auto queue = file->make_queue(slots, 2, QueueCopies::by_caller);
  EXPECT_THROW(queue->start(0, 2, (1 << 20) - 1), FileError);
}

TEST_F(StorageTest, TheBottleneckIsNamed) {
  verify_ = false;
  const auto bottleneck = [&](Words flags) {
    if (std::ranges::find(flags, "--size") == flags.end()) flags.insert(flags.end(), {"--size", "256M"});
    return run_one(flags).label("bottleneck");
  };
  EXPECT_EQ(bottleneck({"--way", "direct", "--threads", "4", "--slot-memory", "registered-huge"}), "disk");
  EXPECT_EQ(bottleneck({"--way", "direct", "--threads", "4", "--slot-memory", "pinned"}), "its reads");
  EXPECT_EQ(bottleneck({"--way", "read", "--cache", "warm"}), "reads and copies in turn");
  EXPECT_EQ(bottleneck({"--way", "read", "--cache", "cold"}), "its reads") << "copies take place while it reads ahead";
  EXPECT_EQ(bottleneck({"--way", "mmap", "--cache", "warm"}), "pageable copies");
  EXPECT_EQ(bottleneck({"--way", "mmap", "--cache", "cold"}), "disk, then pageable copies");
  EXPECT_EQ(bottleneck({"--way", "mmap-register", "--cache", "warm"}), "page-locking before the copy");
  EXPECT_EQ(bottleneck({"--way", "threads", "--threads", "12", "--cache", "warm", "--size", "16M", "--request", "8M"}),
            "first and last part");
  EXPECT_EQ(bottleneck({"--way", "threads", "--threads", "1", "--cache", "warm"}), "its reads");
  EXPECT_EQ(bottleneck({"--way", "mmap-threads", "--threads", "8", "--cache", "warm"}), "page cache");
}

TEST_F(StorageTest, CopiesInTurnAreTheBottleneckBesideAFastDisk) {
  sim::Profile fast = profile("h200");
  fast.disk_read_rate = fast.disk_read_rate_scattered = fast.disk_read_rate_cached = 20e9;
  sim::SimMachine machine(fast);
  const auto results =
      run_on(machine.device(), {"storage", "--way", "read", "--cache", "cold", "--size", "256M"}, false);
  EXPECT_EQ(results.front().label("bottleneck"), "disk and copies in turn");
}

TEST_F(StorageTest, MoreThreadsAreFasterUntilTheHostsMemoryIsTheLimit) {
  verify_ = false;
  double slower = 0;
  for (const Result& r : run({"--way", "threads", "--cache", "warm", "--threads", "1:8", "--size", "256M"})) {
    EXPECT_GT(metric(r, "bandwidth"), slower) << r.config.key();
    slower = metric(r, "bandwidth");
  }
}

TEST_F(StorageTest, TheFirstPartArrivesAfterOneReadAndOneCopyWhateverTheNumberOfSlots) {
  verify_ = false;
  const auto& p = profile("h200");
  constexpr double kRequest = 2 << 20;
  const double one = kRequest / p.file_copy_rate + kRequest / p.h2d_rate;
  for (const Result& r :
       run({"--way", "read,threads,uring", "--cache", "warm", "--threads", "1", "--slots", "1,2,12"})) {
    const bool slots = !r.config.is("way", "read");
    EXPECT_NEAR(metric(r, "first_bytes"), slots ? one : one + kRequest / p.pageable_h2d_rate, slots ? 50e-6 : 0.3e-3)
        << r.config.key();
  }
}

TEST_F(StorageTest, ReadsTakeTheirCpuTimeColdAsTheyDoWarm) {
  verify_ = false;
  for (const Result& r : run({"--way", "threads", "--threads", "1", "--size", "256M"})) {
    EXPECT_NEAR(metric(r, "cpu_per_gb"), 1e9 / profile("h200").file_copy_rate, 0.015) << r.config.key();
  }
}

TEST_F(StorageTest, TheAnswerComparesWithTheFastestReadInTurn) {
  verify_ = false;
  const auto text_of = [](const std::vector<Result>& results) {
    std::vector<const Result*> all;
    for (const Result& r : results) all.push_back(&r);
    return answers_of(scenario_named("storage").descriptor(), all).front();
  };
  const auto results =
      run({"--way", "read,threads", "--cache", "warm", "--size", "16M", "--request", "1M,64K", "--threads", "8"});
  const auto time_at = [&](std::size_t i) { return median(results[i], "storage"); };
  ASSERT_TRUE(results[1].config.is("way", "read") && time_at(1) < time_at(0)) << "the second row is the faster";
  const std::string factor = fmt::format("{:.1f} times as fast as way read, with file and link in turn",
                                         time_at(1) / std::min(time_at(2), time_at(3)));
  EXPECT_NE(text_of(results).find(factor), std::string::npos) << text_of(results) << "; expected " << factor;
  const auto reads = run({"--way", "read", "--cache", "cold", "--size", "16M", "--request", "1M,2M"});
  EXPECT_EQ(text_of(reads).find("times as fast"), std::string::npos) << text_of(reads);
}

TEST_F(StorageTest, TuneFindsWhatAnExhaustiveSearchFinds) {
  for (const char* work : {"--cache cold --size 16M", "--cache warm --size 64M", "--cache warm --size 64M --slots 2"}) {
    EXPECT_GT(best_of_tune(work, SearchMode::guided), 0.97 * best_of_tune(work, SearchMode::exhaustive)) << work;
  }
}

TEST_F(StorageTest, WrittenPagesAreDirtyUntilTheyAreOnTheDisk) {
  Files& files = device_.host().files();
  const auto file = files.make_temporary(".", 1 << 20);
  const std::vector<std::byte> bytes(10'000, std::byte{7});
  file->write_at(bytes, 4'000);
  EXPECT_EQ(file->residency()->dirty, 16'384U) << "pages 0 to 3";
  file->sync();
  EXPECT_EQ(file->residency()->dirty, 0U);
  EXPECT_EQ(file->residency()->cached, 16'384U);
  file->make_cold();
  EXPECT_EQ(file->residency()->cached, 0U);
  std::vector<std::byte> found(10'000);
  file->read_at(found, 4'000);
  EXPECT_EQ(found, bytes);
  EXPECT_EQ(*files.bytes_from_device(), 10'000U);
  EXPECT_THROW(file->read_at(found, 1 << 20), FileError);
}

}  // namespace

}  // namespace xferbench::test
