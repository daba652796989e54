// The journal of a long run: bytes written, no loss however the run ends, and journals of other runs.
#include "results/journal.hpp"

#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "app/abort_run.hpp"
#include "app/live_report.hpp"
#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "results/json.hpp"
#include "support/file_size_limit.hpp"
#include "unit/report_fixture.hpp"
#include "unit/support.hpp"

namespace xferbench {
namespace {

namespace fs = std::filesystem;
using app::LiveReport;
using test::mentions;
using test::message_of;
using test::read_file;
using test::write_file;

/// Bytes that this process has passed to write(), from /proc/self/io.
std::uint64_t bytes_written() {
  std::ifstream io("/proc/self/io");
  for (std::string word; io >> word;) {
    std::uint64_t bytes = 0;
    if (word == "wchar:" && io >> bytes) return bytes;
  }
  return 0;
}

/// A distinct case for each number; about 4 KiB in a file.
Result sampled(std::uint64_t number, std::size_t samples = 200, Stop stop = Stop::ci) {
  Result result = test::piped((1 << 20) + number, 1, 4, 0.5);
  Measurement m;
  m.name = "pipeline";
  m.stop = stop;
  for (std::size_t i = 0; i < samples; ++i) m.samples.push_back(1e-3 + 1e-9 * static_cast<double>(number * 1000 + i));
  if (samples > 0) m.min = m.median = m.max = m.samples.front();
  result.measurements = {m};
  return result;
}

class LongRun : public testing::Test {
 protected:
  [[nodiscard]] fs::path in_folder(const std::string& name) const { return folder_ / name; }
  [[nodiscard]] fs::path file() const { return in_folder("r.json"); }
  [[nodiscard]] fs::path journal() const { return in_folder("r.json.journal"); }
  [[nodiscard]] static Report begun(const std::string& at = "2026-01-01T00:00:00Z") {
    Report report;
    report.started_at = at;
    report.command = {"xferbench"};
    report.environment.backend = "simulated";
    report.environment.gpu.name = "a GPU";
    return report;
  }
  [[nodiscard]] LiveReport live(const Report& report = begun()) const {
    return {report,       {.json = file().string()},    [](const Report&) { return Document("", Trust::of_facts()); },
            std::nullopt, app::WriteMode::append_cases, [] { return app::LiveClock::time_point(); }};
  }
  /// Leaves the results file and its journal as a run does that is killed after so many cases.
  void kill_after(std::uint64_t cases, const std::string& started_at = "2026-01-01T00:00:00Z") const {
    LiveReport report = live(begun(started_at));
    for (std::uint64_t i = 0; i < cases; ++i) static_cast<void>(report.put(i, sampled(i)));
  }
  [[nodiscard]] Report read_back() const { return read_report(file().string()); }
  /// Number of results in the file itself, without the journal.
  [[nodiscard]] std::size_t results_of_the_file() const {
    return parse_report(read_file(file()), "the file alone").results.size();
  }
  /// Overwrites one byte of a case in the journal in place, so that open descriptors see the damage too.
  void damage_journal_at(std::uint64_t number) const {
    const std::string key = "\"size\":" + std::to_string((1 << 20) + number);
    const std::size_t at = read_file(journal()).find(key);
    ASSERT_NE(at, std::string::npos);
    std::fstream(journal(), std::ios::binary | std::ios::in | std::ios::out).seekp(static_cast<long>(at)) << '\x01';
  }

 private:
  test::TemporaryFolder folder_;
};

Report of_cases(Report report, std::uint64_t cases) {
  for (std::uint64_t i = 0; i < cases; ++i) report.results.push_back(sampled(i));
  return report;
}

constexpr std::uint64_t kMany = 400;  // cases; 1.6 MiB

// --- Bytes written --------------------------------------------------------------------------------------------------

TEST_F(LongRun, WritesAFewTimesItsResultsInAllAndKeepsNoSamples) {
  const std::uint64_t before = bytes_written();
  LiveReport report = live();
  for (std::uint64_t i = 0; i < kMany; ++i) static_cast<void>(report.put(i, sampled(i)));
  EXPECT_TRUE(fs::exists(journal()));
  EXPECT_TRUE(report.report().results.front().has_released_samples());
  EXPECT_EQ(report.report().results.front().measurements.front().samples.size(), 200U) << "their number is known";
  report.finish({});
  const std::uint64_t written = bytes_written() - before;
  // The file is written whole after each case while it is below 256 KiB, 64 cases: 8 MiB at most. Later it is written a
  // few times only.
  EXPECT_LT(written, (8 << 20) + 6 * fs::file_size(file()));
}

TEST_F(LongRun, LeavesTheFileThatItWouldHaveWrittenAtOnceAndNothingBesideIt) {
  LiveReport report = live();
  for (std::uint64_t i = kMany; i-- > 0;) static_cast<void>(report.put(i, sampled(i)));
  report.finish({});
  Report whole = of_cases(begun(), kMany);
  whole.complete = true;
  EXPECT_EQ(read_file(file()), to_json(whole));
  EXPECT_FALSE(fs::exists(journal()));
}

TEST_F(LongRun, OfFewCasesHasNoJournal) {
  LiveReport report = live();
  for (std::uint64_t i = 0; i < 20; ++i) {
    static_cast<void>(report.put(i, sampled(i)));
    EXPECT_FALSE(fs::exists(journal()));
  }
}

TEST_F(LongRun, HoldsNoSamplesWhereNoFileIsToHaveThem) {
  LiveReport report(begun(), {}, [](const Report&) { return Document("", Trust::of_facts()); });
  static_cast<void>(report.put(0, sampled(0)));
  EXPECT_TRUE(report.report().results.front().has_released_samples());
}

TEST_F(LongRun, OfManyTurnsKeepsItsJournalSmall) {
  LiveReport report = live();
  constexpr std::size_t kTurns = 20;
  for (std::size_t turn = 1; turn <= kTurns; ++turn) {
    for (std::uint64_t i = 0; i < 100; ++i) {
      static_cast<void>(report.put(i, sampled(i, 40 * turn, turn == kTurns ? Stop::ci : Stop::interrupted)));
    }
  }
  const auto journal_bytes = fs::file_size(journal());
  report.finish({});
  EXPECT_LT(journal_bytes, 3 * fs::file_size(file()) + (4 << 20));
  Report whole = begun();
  for (std::uint64_t i = 0; i < 100; ++i) whole.results.push_back(sampled(i, 40 * kTurns));
  EXPECT_EQ(read_back().results, parse_report(to_json(whole), "whole").results);
}

// --- However the run ends -------------------------------------------------------------------------------------------

TEST_F(LongRun, ThatIsKilledHasAllCasesWhoseTurnItWas) {
  kill_after(kMany);
  // On a slow machine the file may happen to be written right after the last case: then try again.
  for (int tries = 0; tries < 3 && results_of_the_file() == kMany; ++tries) {
    fs::remove(journal());
    fs::remove(file());
    kill_after(kMany);
  }
  ASSERT_TRUE(fs::exists(journal()));
  EXPECT_LT(results_of_the_file(), kMany);
  const Report found = read_back();
  EXPECT_FALSE(found.complete);
  EXPECT_EQ(found.results, parse_report(to_json(of_cases(begun(), kMany)), "whole").results);
}

TEST_F(LongRun, ThatIsKilledInTheMiddleOfAResultHasThoseBeforeIt) {
  kill_after(kMany);
  const std::string whole = read_file(journal());
  std::size_t before = kMany;
  for (std::size_t cut = 0; cut < 12'000; cut += 997) {
    write_file(journal(), whole.substr(0, whole.size() - cut));
    const std::size_t found = read_back().results.size();
    EXPECT_LE(found, before);
    EXPECT_GE(found + cut / 3000 + 1, kMany);
    before = found;
  }
  for (const std::size_t size : {0U, 1U, 50U, 200U, 400U}) {
    write_file(journal(), whole.substr(0, size));
    EXPECT_EQ(read_back().results, parse_report(read_file(file()), "the file alone").results) << size;
  }
}

TEST_F(LongRun, ThatIsKilledAsItsFileIsWrittenHasNoCaseTwice) {
  kill_after(kMany);
  write_file(file(), to_json(of_cases(begun(), kMany)));  // killed after writing the file, before removing the journal
  EXPECT_EQ(read_back().results.size(), kMany);
}

TEST_F(LongRun, ThatEndsWhileItsFileIsReadIsReadAsItWas) {
  kill_after(kMany);
  const std::string state = to_json(of_cases(begun(), kMany / 2));
  fs::remove(file());
  write_file(file(), state);
  const int opened = inotify_init1(IN_CLOEXEC);
  ASSERT_GE(inotify_add_watch(opened, file().c_str(), IN_OPEN), 0);
  std::thread end([&] {
    std::array<char, 4096> event{};
    EXPECT_GT(::read(opened, event.data(), event.size()), 0);  // returns when the reader opens the file
    fs::remove(journal());                                     // as the run does once its file is complete
    close(opened);
  });
  EXPECT_EQ(read_back().results.size(), kMany);
  end.join();
}

TEST_F(LongRun, WhoseJournalIsDamagedIsReadUpToThereAndSaysWhatIsLost) {
  kill_after(kMany);
  write_file(file(), to_json(of_cases(begun(), kMany / 2)));
  damage_journal_at(kMany - 10);
  testing::internal::CaptureStderr();
  const Report found = read_back();
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(found.results == parse_report(to_json(of_cases(begun(), kMany - 10)), "whole").results);
  for (const char* part : {"r.json.journal:", "is damaged", "lost", "--resume"})
    EXPECT_TRUE(mentions(told, part)) << told;
}

TEST_F(LongRun, WhoseJournalIsDamagedInItsBeginningIsReadWithoutIt) {
  kill_after(kMany);
  std::string text = read_file(journal());
  text.replace(text.find("\"verified\""), 1, "\x01");
  write_file(journal(), text);
  testing::internal::CaptureStderr();
  EXPECT_EQ(read_back().results.size(), results_of_the_file());
  EXPECT_TRUE(mentions(testing::internal::GetCapturedStderr(), "r.json.journal:"));
}

TEST_F(LongRun, IsNotWarnedOfAJournalOnceItsFileIsComplete) {
  kill_after(kMany);
  damage_journal_at(kMany / 2);
  Report whole = of_cases(begun(), kMany);
  whole.complete = true;
  write_file(file(), to_json(whole));
  testing::internal::CaptureStderr();
  EXPECT_EQ(read_back().results.size(), kMany);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

Result not_begun(std::uint64_t number) {
  Result result = sampled(number, 0);
  result.measurements.clear();
  result.status = Status::skipped;
  result.reason = "not begun";
  return result;
}

/// Runs the check in a child process after SIGINT, since the interrupt flag cannot be cleared.
void expect_after_interrupt(const std::function<bool()>& holds) {
  const auto in_child = [&] {
    install_interrupt_handlers(HangUp::ignored, Acknowledge::no);
    static_cast<void>(std::raise(SIGINT));
    std::_Exit(holds() ? 0 : 1);
  };
  EXPECT_EXIT(in_child(), testing::ExitedWithCode(0), "");
}

TEST_F(LongRun, ThatIsInterruptedHasItsLastCaseAtOnce) {
  LiveReport report = live();
  for (std::uint64_t i = 0; i < kMany; ++i) static_cast<void>(report.put(i, sampled(i)));
  expect_after_interrupt([&] {
    static_cast<void>(report.put(kMany, sampled(kMany, 100, Stop::interrupted)));
    return read_back().results.size() == kMany + 1;
  });
}

TEST_F(LongRun, OfFewCasesThatIsInterruptedHasItsLastCaseAtOnce) {
  LiveReport report = live();
  static_cast<void>(report.put(0, sampled(0)));
  expect_after_interrupt([&] {
    static_cast<void>(report.put(1, sampled(1, 100, Stop::interrupted)));
    return read_back().results.size() == 2;
  });
}

TEST_F(LongRun, ThatIsInterruptedDoesNothingForEachCaseThatIsSkipped) {
  LiveReport report = live();
  for (std::uint64_t i = 0; i < kMany; ++i) static_cast<void>(report.put(i, sampled(i)));
  expect_after_interrupt([&] {
    static_cast<void>(report.put(kMany, sampled(kMany, 100, Stop::interrupted)));
    const std::uint64_t before = bytes_written();
    constexpr std::uint64_t kSkipped = 5000;
    for (std::uint64_t i = 1; i <= kSkipped; ++i) static_cast<void>(report.put(kMany + i, not_begun(kMany + i)));
    const bool wrote_nothing = bytes_written() - before == 0;
    report.finish({});
    return wrote_nothing && read_back().results.size() == kMany + 1 + kSkipped;
  });
}

Result failed(std::uint64_t number) {
  Result result = sampled(number, 0);
  result.status = Status::failed;
  result.reason = "a reason";
  return result;
}

TEST_F(LongRun, GoesOnWhereSamplesOfACaseThatFailsCannotBeReadAgain) {
  LiveReport report = live();
  for (std::uint64_t i = 0; i < kMany; ++i) static_cast<void>(report.put(i, sampled(i, 200, Stop::interrupted)));
  damage_journal_at(3);
  std::vector<std::string> told;
  EXPECT_NO_THROW(told = report.put(3, failed(3)));
  ASSERT_EQ(told.size(), 1U);
  EXPECT_TRUE(mentions(told.front(), "r.json.journal")) << told.front();
  report.finish({});
  EXPECT_NO_THROW(report.rethrow());
  EXPECT_EQ(read_back().results.size(), kMany);
  EXPECT_EQ(read_back().results.at(3).reason, "a reason");
}

TEST_F(LongRun, CanBeEndedFromAnotherThreadWhereItsJournalCannotBeReadAgain) {
  LiveReport report = live();
  for (std::uint64_t i = 0; i < kMany; ++i) static_cast<void>(report.put(i, sampled(i, 200, Stop::interrupted)));
  damage_journal_at(3);
  const auto abort_run = [&] {
    app::abort_run({Alarm::Kind::stuck, "synchronize_stream", 30},
                   {.live = report, .cases = {{3, failed(3)}}, .table = [] { return std::string(); }, .clear = [] {}});
  };
  EXPECT_EXIT(abort_run(), testing::ExitedWithCode(6), "the GPU is stuck");
  EXPECT_EQ(read_back().results.size(), kMany);
  EXPECT_EQ(read_back().results.at(3).reason, "a reason");
}

TEST_F(LongRun, WhoseJournalCannotGrowWritesItsFileAsIfThereWereNone) {
  LiveReport report = live();
  constexpr std::uint64_t kCases = 100;
  // Cases are put again with more samples each time, so the journal outgrows the file.
  for (std::size_t turn = 1; turn <= 4; ++turn) {
    for (std::uint64_t i = 0; i < kCases; ++i) {
      static_cast<void>(report.put(i, sampled(i, 100 * turn, Stop::interrupted)));
    }
  }
  ASSERT_GT(fs::file_size(journal()), fs::file_size(file()) + (1 << 18));
  const test::FileSizeLimit limit(fs::file_size(journal()));
  EXPECT_EQ(report.put(kCases, sampled(kCases)).size(), 1U) << "the journal is told once";
  for (std::uint64_t i = 1; i <= 2; ++i) {
    std::this_thread::sleep_for(std::chrono::seconds(1));  // writing the file may take a tenth of the run's time
    static_cast<void>(report.put(kCases + i, sampled(kCases + i)));
    EXPECT_EQ(results_of_the_file(), kCases + i + 1);
  }
}

TEST_F(LongRun, GoesOnAndKeepsTheSamplesOfACaseThatFailsLater) {
  LiveReport report = live();
  for (std::uint64_t i = 0; i < kMany; ++i) static_cast<void>(report.put(i, sampled(i, 200, Stop::interrupted)));
  static_cast<void>(report.put(3, failed(3)));
  report.finish({});
  const Result kept = read_back().results.at(3);
  EXPECT_EQ(kept.reason, "a reason");
  EXPECT_EQ(kept.measurements.front().samples.size(), 200U);
}

TEST_F(LongRun, IsGoneOnWithFromItsJournal) {
  kill_after(kMany);
  const Report stored = read_back();
  app::KnownResults known;
  for (std::size_t i = 0; i < stored.results.size(); ++i) known.emplace_back(i, stored.results[i]);
  {
    LiveReport report(
        begun(), {}, [](const Report&) { return Document("", Trust::of_facts()); },
        app::ResumedRun{ResultsFile(file().string()), std::move(known)});
    EXPECT_TRUE(report.report().results.front().has_released_samples());
    EXPECT_EQ(read_back().results.size(), kMany) << "there is no moment without what was known";
    for (std::uint64_t i = kMany; i < kMany + 10; ++i) static_cast<void>(report.put(i, sampled(i)));
    EXPECT_EQ(read_back().results.size(), kMany + 10);
    report.finish({});
  }
  Report whole = of_cases(begun(), kMany + 10);
  whole.complete = true;
  EXPECT_EQ(read_file(file()), to_json(whole));
  EXPECT_FALSE(fs::exists(journal()));
}

TEST_F(LongRun, OnAFullDiskSaysSoOnceAndKeepsWhatItHas) {
  LiveReport report = live();
  std::vector<std::string> told;
  {
    const test::FileSizeLimit limit(600 << 10);
    for (std::uint64_t i = 0; i < kMany; ++i) {
      for (const std::string& line : report.put(i, sampled(i))) told.push_back(line);
    }
    EXPECT_TRUE(read_back().results.size() >= 100);
  }
  EXPECT_FALSE(told.empty());
  EXPECT_LE(told.size(), 3U) << "not after each case";
  const bool is_named = std::ranges::any_of(told, [](const std::string& line) {
    return mentions(line, "r.json.journal") && mentions(line, "needs disk space");
  });
  EXPECT_TRUE(is_named) << told.front();
  report.finish({});  // the disk has space again
  EXPECT_EQ(read_back().results, parse_report(to_json(of_cases(begun(), kMany)), "whole").results);
}

TEST_F(LongRun, WhoseJournalAnotherProgramCutDoesNotClaimThatItHasTheResults) {
  LiveReport report = live();
  for (std::uint64_t i = 0; i < kMany; ++i) static_cast<void>(report.put(i, sampled(i)));
  fs::resize_file(journal(), fs::file_size(journal()) / 2);
  std::vector<std::string> news;
  for (std::uint64_t i = kMany; news.empty() && i < 100 * kMany; ++i) news = report.put(i, sampled(i));
  ASSERT_EQ(news.size(), 1U) << "when the file is to be written whole";
  EXPECT_TRUE(mentions(news[0], "the run continues, and --resume ")) << news[0];
  EXPECT_EQ(news[0].find("tries again"), std::string::npos) << news[0];
  report.finish({});
  const std::string told = message_of<OutputError>([&] { report.rethrow(); });
  EXPECT_TRUE(mentions(told, "r.json.journal has been changed by another program; --resume ")) << told;
  EXPECT_EQ(told.find("contains all results"), std::string::npos) << told;
}

TEST_F(LongRun, ThatCannotWriteItsFileInTheEndLeavesItsJournal) {
  LiveReport report = live();
  for (std::uint64_t i = 0; i < kMany; ++i) static_cast<void>(report.put(i, sampled(i)));
  {
    const test::FileSizeLimit limit(64 << 10);
    report.finish({});
  }
  EXPECT_TRUE(mentions(message_of<OutputError>([&] { report.rethrow(); }), "r.json.journal contains all results"));
  EXPECT_EQ(read_back().results.size(), kMany);
}

// --- Journals of other runs -----------------------------------------------------------------------------------------

TEST_F(LongRun, DoesNotTakeInTheJournalOfAnother) {
  kill_after(kMany, "2025-01-01T00:00:00Z");
  write_file(file(), to_json(of_cases(begun(), 1)));
  EXPECT_EQ(read_back().results.size(), 1U);
  EXPECT_TRUE(read_stored(file().string()).journal_is_of_another_run);
}

TEST_F(LongRun, OntoTheFileOfAnotherKeepsThatWithItsJournal) {
  kill_after(kMany, "2025-01-01T00:00:00Z");
  {
    LiveReport report = live();
    static_cast<void>(report.put(0, sampled(0)));
    EXPECT_FALSE(fs::exists(journal()));
    EXPECT_EQ(read_report(in_folder("r.json~").string()).results.size(), kMany);
    for (std::uint64_t i = 1; i < kMany; ++i) static_cast<void>(report.put(i, sampled(i)));
    EXPECT_EQ(read_back().results.size(), kMany);
    report.finish({});
  }
  EXPECT_EQ(read_report(in_folder("r.json~").string()).started_at, "2025-01-01T00:00:00Z");
  EXPECT_EQ(read_report(in_folder("r.json~").string()).results.size(), kMany);
}

TEST_F(LongRun, LeavesTheJournalOfTheRunBeforeWhereItIsAsLongAsItCannotReplaceItsFile) {
  kill_after(kMany, "2025-01-01T00:00:00Z");
  const std::string before = read_file(journal());
  LiveReport report = live();
  {
    const test::FileSizeLimit limit(1 << 10);
    for (std::uint64_t i = 0; i < 100; ++i) static_cast<void>(report.put(i, sampled(i)));
  }
  EXPECT_EQ(read_file(journal()), before);
  EXPECT_EQ(read_back().results.size(), kMany) << "still the run before";
  for (std::uint64_t i = 100; i < kMany; ++i) static_cast<void>(report.put(i, sampled(i)));
  EXPECT_EQ(read_back().started_at, begun().started_at);
  EXPECT_EQ(read_back().results.size(), kMany);
  EXPECT_EQ(read_report(in_folder("r.json~").string()).results.size(), kMany);
}

TEST_F(LongRun, WhereThereIsNoFileLeavesTheOneThatIsKeptWithItsJournal) {
  kill_after(kMany, "2025-01-01T00:00:00Z");
  fs::rename(file(), in_folder("r.json~"));
  fs::rename(journal(), in_folder("r.json~.journal"));
  LiveReport report = live();
  static_cast<void>(report.put(0, sampled(0)));
  report.finish({});
  EXPECT_EQ(read_report(in_folder("r.json~").string()).results.size(), kMany);
}

TEST_F(LongRun, GoesOnWithoutAJournalWhereSomethingElseHasItsName) {
  const auto end_beside = [&](const std::function<void()>& plant) {
    plant();
    LiveReport report = live();
    std::size_t told = 0;
    for (std::uint64_t i = 0; i < kMany; ++i) told += report.put(i, sampled(i)).size();
    EXPECT_EQ(told, 1U);
    report.finish({});
    EXPECT_EQ(read_back().results.size(), kMany);
  };
  end_beside([&] { write_file(journal(), "what somebody else keeps here"); });
  EXPECT_EQ(read_file(journal()), "what somebody else keeps here");
  fs::remove(journal());
  write_file(in_folder("victim"), "mine");
  end_beside([&] { fs::create_symlink(in_folder("victim"), journal()); });
  EXPECT_EQ(read_file(in_folder("victim")), "mine");
  fs::remove(journal());
  end_beside([&] { fs::create_directory(journal()); });
}

TEST_F(LongRun, HasItsJournalBesideTheFileThatALinkLeadsTo) {
  fs::create_directory(in_folder("there"));
  fs::create_symlink(in_folder("there/real.json"), file());
  kill_after(kMany);
  EXPECT_TRUE(fs::exists(in_folder("there/real.json.journal")));
  EXPECT_FALSE(fs::exists(journal()));
  EXPECT_EQ(read_back().results.size(), kMany);
}

TEST_F(LongRun, HasAJournalThatWhoMayNotReadItsFileMayNotReadEither) {
  write_file(file(), to_json(of_cases(begun(), 1)));
  fs::permissions(file(), fs::perms::owner_read | fs::perms::owner_write);
  kill_after(kMany);
  EXPECT_EQ(fs::status(journal()).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

// --- Samples that were released from memory -------------------------------------------------------------------------

TEST(Samples, ThatArePutAwayHaveANumberAndNobodyCanMistakeThemForNone) {
  Samples samples{1, 2, 3};
  samples.release();
  EXPECT_EQ(samples.size(), 3U);
  EXPECT_FALSE(samples.empty());
  EXPECT_NE(samples, (Samples{1, 2, 3}));
  const Samples& away = samples;
  EXPECT_THROW(static_cast<void>(away.begin()), std::logic_error);
  EXPECT_THROW(static_cast<void>(away.end()), std::logic_error);
  EXPECT_THROW(static_cast<void>(away.data()), std::logic_error);
  EXPECT_THROW(static_cast<void>(away.held()), std::logic_error);
  EXPECT_THROW(static_cast<void>(away.front()), std::logic_error);
  EXPECT_THROW(static_cast<void>(away[1]), std::logic_error);
  EXPECT_THROW(samples.push_back(4), std::logic_error);
  EXPECT_THROW(samples.append(std::vector<double>{4}), std::logic_error);
}

TEST(Cases, ShareWhatTheyAreUntilOneIsChanged) {
  const Result one = sampled(1);
  Case other = one.config;
  EXPECT_EQ(other, one.config);
  const std::string key = one.config.key();
  StoredCase::key(other) = "another";
  EXPECT_EQ(one.config.key(), key);
  EXPECT_NE(other, one.config);
}

}  // namespace
}  // namespace xferbench
