// Scenario storage on several simulated GPUs: every byte arrives on each, the file is read as often as its way to share
// says, and what is passed on too soon is found.
#include <fmt/ranges.h>

#include <map>

#include "run/finding_text.hpp"
#include "scenarios/storage/parts.hpp"
#include "scenarios/storage/shares.hpp"
#include "sim/sim_fixture.hpp"

namespace xferbench::test {

namespace {

/// Bandwidths by the way to share.
std::map<std::string, double> bandwidths(std::span<const Result> results) {
  std::map<std::string, double> all;
  for (const Result& r : results) all[r.config.word("sharing")] = metric(r, "bandwidth");
  return all;
}

class StorageOnTwo : public testing::Test {
 protected:
  std::vector<Result> run(Words flags, bool verify = true) {
    flags.insert(flags.begin(), "storage");
    return run_on_gpus(machine_, flags, verify);
  }

  sim::SimMachine machine_{profile("h200-x2"), {0, 1}};
};

TEST_F(StorageOnTwo, EveryWayAndShareLoadsEveryByteOnEveryGpu) {
  const std::string flags = "storage --threads 3 --request 256K --slots 2 ";
  for (const std::string size : {"1", "4095", "1000001", "5M"}) {
    expect_all(
        run_on_gpus(machine_, flags + "--way read,threads,direct,mmap,mmap-threads,mmap-register,uring --size " + size),
        Status::ok, "", 3 * 13);
  }
  expect_all(
      run_on_gpus(
          machine_,
          flags +
              "--way read,threads,direct,mmap,mmap-threads,mmap-register,uring --layout tensors,placed --size 1000001"),
      Status::ok, "", 3 * 2 * 13);
  expect_all(run_on_gpus(machine_, flags + "--way threads,mmap-threads --crew all --size 5M"), Status::ok, "",
             3 * 3 * 4);
}

TEST_F(StorageOnTwo, KeysOfOneGpuAreAsBefore) {
  const std::string line = "storage --way read --cache cold --size 1M";
  const std::string key = "storage/path=./size=1MiB/cache=cold/way=read/request=2MiB";
  sim::SimMachine one(profile("h200"));
  EXPECT_EQ(keys_of(cases_on(one, line)), Words{key});
  const auto not_asked = expanded(cases_of_line(line), {machine_.device().capabilities().environment});
  EXPECT_EQ(keys_of(not_asked), Words{key});
  const Words on_two{key + "/sharing=each/gpus=0+1", key + "/sharing=split/gpus=0+1",
                     key + "/sharing=broadcast/gpus=0+1"};
  EXPECT_EQ(keys_of(cases_on(machine_, line)), on_two);
  EXPECT_EQ(keys_of(cases_on(machine_, line + " --sharing split")), Words{on_two[1]});
  const std::string usual_size = "storage --way read --cache cold";
  EXPECT_EQ(keys_of(cases_on(machine_, usual_size)),
            keys_of(cases_on(machine_, usual_size + " --sharing each,split,broadcast")));
}

TEST_F(StorageOnTwo, TheDiskIsReadOnceUnlessEachGpuHasDirectReads) {
  for (const Result& r : run({"--way", "threads,direct,mmap", "--cache", "cold", "--size", "16M", "--threads", "1"})) {
    const bool twice = r.config.is("sharing", "each") && r.config.is("way", "direct");
    EXPECT_EQ(metric(r, "from_device"), twice ? 2 : 1) << r.config.key();
    EXPECT_TRUE(r.warnings.empty()) << r.config.key();
  }
}

TEST_F(StorageOnTwo, NothingIsAboveItsLimit) {
  for (const Words& flags :
       {Words{"--way", "read,threads,direct,mmap,mmap-threads,mmap-register,uring", "--size", "16M", "--threads",
              "1,4"},
        Words{"--way", "threads,mmap-threads", "--cache", "warm", "--size", "256M", "--threads", "8,12"}}) {
    for (const Result& r : run(flags, false)) EXPECT_LE(metric(r, "of_limit"), 1.001) << r.config.key();
  }
}

TEST_F(StorageOnTwo, ABroadcastPassesOnMeanwhileAndWaitsForTheLastCopy) {
  // Seconds that a broadcast takes longer than loading to one GPU.
  const auto added_by = [this](const char* way) {
    const Words words{"storage", "--way", way, "--cache", "warm", "--size", "256M"};
    Words on_two = words;
    on_two.insert(on_two.end(), {"--sharing", "broadcast"});
    const Result one = run_on(machine_.device(), words, false).back();
    return median(run_on_gpus(machine_, on_two, false).back(), "storage") - median(one, "storage");
  };
  const double whole = (256 << 20) / profile("h200-x2").peer_write_rate;
  EXPECT_LT(added_by("threads"), 0.2 * whole) << "each slot is passed on while later ones are filled";
  EXPECT_NEAR(added_by("mmap") / whole, 1, 0.1) << "it is passed on as a whole";
}

TEST_F(StorageOnTwo, SharingIsFasterThanReadingTwice) {
  const auto results =
      run({"--way", "direct", "--cache", "cold", "--size", "64M", "--request", "1M", "--threads", "4"}, false);
  auto of = bandwidths(results);
  EXPECT_NEAR(of["broadcast"] / of["each"], 2, 0.1);
  EXPECT_NEAR(of["split"] / of["broadcast"], 1, 0.05);
  const std::string factor = fmt::format(": {} times as fast as each", factor_text(of["broadcast"] / of["each"]));
  const auto said = sentences(results);
  EXPECT_TRUE(std::ranges::any_of(said, [&](const std::string& text) {
    return text.starts_with("cold, GPUs 0,1: ") && text.find(factor) != std::string::npos;
  })) << fmt::format("{}; expected {}", fmt::join(said, "; "), factor);
}

TEST_F(StorageOnTwo, TuneRefuses) {
  for (const PlannedCase& c : cases_on(machine_, "tune storage --size 1M --way threads")) {
    EXPECT_TRUE(c.scenario->reason_against_tuning(c.config).has_value()) << c.config.key();
  }
}

TEST_F(StorageOnTwo, NeedsTheMemoryOfItsLargestShare) {
  for (const PlannedCase& c :
       cases_on(machine_, "storage --way threads --threads 1 --cache warm --size 20M --layout all --sharing all")) {
    const std::uint64_t most = most_device_memory(c);
    EXPECT_GE(c.scenario->needs(c.config).device, most) << c.config.key();
    EXPECT_LE(c.scenario->needs(c.config).device, most + 5 * MiB) << c.config.key();
  }
}

TEST(StorageOnSeveral, SharesTileTheFile) {
  for (const std::size_t gpus : {2U, 3U, 8U}) {
    for (const std::uint64_t bytes : {1UL, 4097UL, 1'000'001UL, 1UL << 30}) {
      StorageCase c{.path = ".", .size = bytes, .share = FileShare::split, .gpus = std::vector<int>(gpus)};
      for (const FileLayout layout : {FileLayout::whole, FileLayout::tensors}) {
        c.layout = layout;
        const std::vector<std::uint64_t> sizes = part_sizes(c);
        const std::uint64_t grain = layout == FileLayout::whole ? 4096 : *std::ranges::max_element(sizes);
        EXPECT_LE(largest_share(c), bytes / gpus + 1 + grain);
        std::uint64_t end = 0;
        for (const PartTable& share : shares_of(c)) {
          ASSERT_FALSE(share.parts().empty());
          EXPECT_EQ(share.parts().front().first, end);
          EXPECT_EQ(share.parts().front().place, 0U);
          if (layout == FileLayout::whole) {
            EXPECT_EQ(end % 4096, 0U);
          }
          end += share.bytes();
        }
        EXPECT_EQ(end, bytes);
      }
    }
  }
}

TEST(StorageOnSeveral, NeedsSeveralGpusThatReachEachOther) {
  sim::SimMachine one(profile("h200"));
  expect_all(run_on_gpus(one, Words{"storage", "--size", "1M", "--sharing", "each"}), Status::skipped,
             "this run has one");
  sim::SimMachine apart = strangers();
  const Words words{"storage", "--size", "1M", "--way", "read", "--cache", "warm", "--sharing"};
  const auto with = [&words](const char* share) {
    Words all = words;
    all.emplace_back(share);
    return all;
  };
  expect_all(run_on_gpus(apart, with("broadcast")), Status::skipped, "cannot access the memory of GPU 1");
  expect_all(run_on_gpus(apart, with("each,split")), Status::ok, "", 2);
}

TEST(StorageOnSeveral, WhatIsPassedOnBeforeItHasArrivedIsWrongData) {
  const Override how{.wait = [](sim::SimStream&, EventImpl&) {}};
  sim::SimMachine hasty = machine_that(how, "h200-x2", {0, 1});
  const Words words{"storage", "--size", "16M",       "--cache",   "warm",      "--way", "threads,mmap-register",
                    "--crew",  "all",    "--sharing", "broadcast", "--threads", "2"};
  expect_all(run_on_gpus(hasty, words), Status::failed, "wrong result", 4);
}

TEST(StorageOnSeveral, WhatTheSecondGpuDoesNotGetIsMissed) {
  const auto copy = [](sim::SimStream& stream, const Copy& c) {
    const bool to_second =
        c.direction == Direction::p2p || (c.direction == Direction::h2d && stream.device().number() == 1);
    if (!to_second) stream.SimStream::copy(c);
  };
  const Override how{.copy = copy};
  sim::SimMachine forgetful = machine_that(how, "h200-x2", {0, 1});
  expect_all(
      run_on_gpus(forgetful, Words{"storage", "--size", "1M", "--cache", "warm", "--way", "threads,mmap-register"}),
      Status::failed, "on GPU 1");
}

}  // namespace

}  // namespace xferbench::test
