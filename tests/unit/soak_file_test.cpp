// The file of a soak: writing, reading, a torn last line, resuming.
#include "results/soak_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "support/file_size_limit.hpp"
#include "support/files.hpp"
#include "support/stored_results.hpp"
#include "words/soak.hpp"

namespace xferbench {
namespace {

namespace fs = std::filesystem;

class SoakFileTest : public testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return folder_ / "soak.jsonl"; }
  [[nodiscard]] std::string text() const { return test::read_file(path()); }

  test::TemporaryFolder folder_;
};

SoakHeader header() {
  SoakHeader h{.started_at = "2026-11-24T12:00:00Z", .command = {"xferbench", "soak"}};
  h.environment.backend = "simulated";
  h.environment.profile = "h200";
  h.environment.gpu.name = "NVIDIA H200";
  h.environment.host.cpu = "a processor";
  h.settings.loads = {SoakLoad::h2d, SoakLoad::kernel};
  return h;
}

SoakInterval interval(double elapsed) {
  SoakInterval i{.at = "2026-11-24T12:01:00Z", .elapsed = elapsed, .memory = 1000};
  i.gpus = {{.gpu = 0,
             .rates = {{SoakLoad::h2d, 55e9, 54e9, 56e9, 10}},
             .health = {.pcie_replays = 3, .temperature = 60},
             .clocks = {.sm = 1.98e9},
             .changes = {"the link resent 3 packets"}}};
  i.so_far.elapsed = elapsed;
  i.so_far.loads = {{.gpu = 0, .load = SoakLoad::h2d, .moved = 1000, .verified = 900, .first = {55e9}}};
  i.so_far.counters = {{.gpu = 0, .pcie_replays = 3, .xids = {79}, .throttle = {"power-cap"}, .hottest = 60}};
  SoakWrong wrong;
  wrong.memory = "host";
  wrong.expected = "0x00000001";
  wrong.found = "0x00000000";
  wrong.pattern = "address inverted";
  wrong.at = "2026-11-24T12:00:30Z";
  wrong.address = 0x7f00'0000'0064;
  i.so_far.wrong = {wrong};
  i.so_far.drops = {{.gpu = 0, .load = SoakLoad::h2d, .at = "2026-11-24T12:00:40Z", .beside = {"hot"}}};
  return i;
}

TEST_F(SoakFileTest, WhatIsWrittenIsReadBack) {
  EXPECT_EQ(parse_soak_header(to_json(header()), "text"), header());
  EXPECT_EQ(parse_soak_interval(to_json(interval(60)), "text"), interval(60));
}

TEST_F(SoakFileTest, EveryRecordIsOneLine) {
  for (const std::string& line : {to_json(header()), to_json(interval(60))}) {
    EXPECT_EQ(line.find('\n'), line.size() - 1) << line;
  }
}

TEST_F(SoakFileTest, ThoseOfTheDocumentationAreRead) {
  for (const char* name : {"h200-soak-20m.jsonl", "h200-soak-flip.jsonl"}) {
    fs::copy_file(test::stored_result(name), path(), fs::copy_options::overwrite_existing);
    fs::permissions(path(), fs::perms::owner_write, fs::perm_options::add);
    StoredSoak stored;
    static_cast<void>(SoakFile::go_on(path(), stored));
    ASSERT_TRUE(stored.last) << name;
    EXPECT_EQ(stored.last->end, SoakEnd::complete) << name;
    std::uint64_t moved = 0;
    for (const SoakLoadTotals& load : stored.last->so_far.loads) moved += load.moved;
    EXPECT_GT(moved, 100'000'000'000U) << name;
  }
}

TEST_F(SoakFileTest, GoesOnFromItsLastLine) {
  {
    SoakFile file = SoakFile::create(path());
    file.append(to_json(header()));
    for (int i = 1; i <= 3; ++i) file.append(to_json(interval(60 * i)));
  }
  StoredSoak stored;
  SoakFile file = SoakFile::go_on(path(), stored);
  EXPECT_EQ(stored.header, header());
  ASSERT_TRUE(stored.last);
  EXPECT_EQ(*stored.last, interval(180));
  const std::string before = text();
  file.append(to_json(interval(240)));
  EXPECT_EQ(text(), before + to_json(interval(240)));
}

/// The intervals are larger than one read buffer.
TEST_F(SoakFileTest, HasItsIntervalsOneByOneWithoutWhatIsStillBeingWritten) {
  constexpr int kMany = 2000;
  {
    std::ofstream file(path());
    file << to_json(header());
    for (int i = 1; i <= kMany; ++i) file << to_json(interval(i));
    file << "{\"at\": \"torn";
  }
  ASSERT_GT(fs::file_size(path()), std::uintmax_t{1} << 20);
  double last = 0;
  for_each_interval(path(),
                    [&last](const SoakInterval& one) { EXPECT_EQ(one.elapsed, std::exchange(last, one.elapsed) + 1); });
  EXPECT_EQ(last, kMany);
}

TEST_F(SoakFileTest, IsDrawnALoadEachWithDropsMarked) {
  SoakInterval last = interval(600);
  last.so_far.drops = {{.gpu = 0, .load = SoakLoad::h2d, .from = 120, .to = 180, .lowest = 20e9, .at = {}}};
  std::vector<RateSample> rates;
  for (int i = 1; i <= 1000; ++i) {
    for (const SoakLoad load : {SoakLoad::h2d, SoakLoad::kernel})
      rates.push_back({i * 0.6, 0, {load, 55e9, 50e9, 56e9, 10}});
  }
  std::vector<Chart> charts;
  for (const Part& part : document_of(header(), last, rates).parts) {
    if (const auto* chart = std::get_if<Chart>(&part.content)) charts.push_back(*chart);
  }
  ASSERT_EQ(charts.size(), 2U);
  EXPECT_EQ(charts[0].title, "h2d");
  ASSERT_EQ(charts[0].marks.size(), 1U);
  EXPECT_EQ(charts[0].marks[0].text, "down to 20.00 GB/s");
  EXPECT_EQ(charts[0].x.ticks.back().second, "0:10:00");
  EXPECT_LE(charts[0].series.at(0).points.size(), 400U) << "neighbours become one";
  EXPECT_DOUBLE_EQ(*charts[0].series[0].points[0].low, 50);
  EXPECT_TRUE(charts[1].marks.empty());
}

TEST_F(SoakFileTest, ALineThatWasTornIsTakenAway) {
  const std::string whole = to_json(header()) + to_json(interval(60));
  const std::string next = to_json(interval(120));
  for (const std::size_t torn : {std::size_t{1}, next.size() / 2, next.size() - 1}) {
    std::ofstream(path()) << whole << next.substr(0, torn);
    StoredSoak stored;
    SoakFile file = SoakFile::go_on(path(), stored);
    ASSERT_TRUE(stored.last);
    EXPECT_DOUBLE_EQ(stored.last->elapsed, 60);
    EXPECT_EQ(text(), whole);
  }
}

TEST_F(SoakFileTest, AHeaderAloneIsASoakFromItsBeginning) {
  std::ofstream(path()) << to_json(header()) << "{\"at\": \"torn";
  StoredSoak stored;
  static_cast<void>(SoakFile::go_on(path(), stored));
  EXPECT_FALSE(stored.last);
  EXPECT_EQ(text(), to_json(header()));
}

TEST_F(SoakFileTest, RefusesWhatIsNoSoak) {
  for (const char* other : {"", "{\"schema\": \"xferbench/1\"}\n", "{}\n", "no JSON\n", "{\"schema\""}) {
    std::ofstream(path()) << other;
    StoredSoak stored;
    EXPECT_THROW(static_cast<void>(SoakFile::go_on(path(), stored)), InputError) << other;
    EXPECT_EQ(text(), other);  // the file is unchanged
  }
  StoredSoak stored;
  EXPECT_THROW(static_cast<void>(SoakFile::go_on((folder_ / "none").string(), stored)), InputError);
}

TEST_F(SoakFileTest, ALineThatIsNoneOfItsOwnIsNotGoneOnFrom) {
  std::ofstream(path()) << to_json(header()) << "{\"something\": \"else\"}\n";
  StoredSoak stored;
  EXPECT_THROW(static_cast<void>(SoakFile::go_on(path(), stored)), InputError);
}

TEST_F(SoakFileTest, WhatWasThereIsKeptBesideANewOne) {
  std::ofstream(path()) << "days of work\n";
  static_cast<void>(SoakFile::create(path()));
  EXPECT_EQ(text(), "");
  EXPECT_TRUE(fs::exists(path() + "~"));
}

TEST_F(SoakFileTest, OnlyOneWritesIt) {
  SoakFile file = SoakFile::create(path());
  file.append(to_json(header()));
  StoredSoak stored;
  EXPECT_THROW(static_cast<void>(SoakFile::go_on(path(), stored)), OutputError);
  EXPECT_THROW(static_cast<void>(SoakFile::create(path())), OutputError);
}

TEST_F(SoakFileTest, AFileThatWasDeletedIsWrittenAgainWithAllItsLines) {
  SoakFile file = SoakFile::create(path());
  file.append(to_json(header()));
  file.append(to_json(interval(60)));
  EXPECT_EQ(file.restore(), "");
  fs::remove(path());
  EXPECT_EQ(file.restore(), path() + " was deleted by another program: all its lines were written again");
  file.append(to_json(interval(120)));
  EXPECT_EQ(text(), to_json(header()) + to_json(interval(60)) + to_json(interval(120)));
  EXPECT_EQ(file.restore(), "");
}

TEST_F(SoakFileTest, AFileThatWasCutGoesOnWithItsFirstLineAndWhatIsLeft) {
  SoakFile file = SoakFile::create(path());
  file.append(to_json(header()));
  const std::string first = to_json(interval(60));
  for (const std::size_t left : {std::size_t{0}, to_json(header()).size() / 2, to_json(header()).size() + 9}) {
    file.append(first);
    fs::resize_file(path(), left);
    EXPECT_EQ(file.restore(), path() + " was truncated by another program: some of its lines are lost") << left;
    EXPECT_EQ(text(), to_json(header())) << left;
  }
}

TEST_F(SoakFileTest, AFullDiskIsTold) {
  SoakFile file = SoakFile::create("/dev/full");
  EXPECT_THROW(file.append(to_json(header())), OutputError);
  EXPECT_TRUE(fs::is_character_file("/dev/full"));  // the device file was not replaced
}

TEST_F(SoakFileTest, ALineThatDoesNotFitLeavesTheWholeOnesBeforeIt) {
  SoakFile file = SoakFile::create(path());
  file.append(to_json(header()));
  const std::string before = text();
  {
    const test::FileSizeLimit limit(before.size() + 10);
    EXPECT_THROW(file.append(to_json(interval(60))), OutputError);
  }
  EXPECT_EQ(text(), before);
}

}  // namespace
}  // namespace xferbench
