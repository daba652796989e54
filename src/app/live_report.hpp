// The report of a run in progress, and the files that follow it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/command.hpp"
#include "core/error.hpp"
#include "paper/document.hpp"
#include "results/journal.hpp"
#include "results/output_file.hpp"
#include "results/result.hpp"

namespace xferbench::app {

/// Results by the indexes of their cases, ascending.
using KnownResults = std::vector<std::pair<std::size_t, Result>>;

/// How a report becomes one of its files.
using Writer = std::function<void(const Report&, const Sink&)>;

/// One of the files that follow a report.
struct LiveFile {
  ResultsFile file;
  Writer writer;
  bool follows;                        ///< written after each case
  std::optional<OutputError> error{};  ///< of the last attempt to write
  std::uint64_t bytes = 0;             ///< of the state that was written last ...
  std::size_t changes = 0;             ///< ... and of how many results it was told
  /// Few enough to be written whole after each case.
  [[nodiscard]] bool is_small() const { return bytes < (256 << 10); }
};

using LiveClock = std::chrono::steady_clock;

/// What was measured so far, in memory and in the journal of its results file. What returns words returns what the user
/// must be told.
class Record {
 public:
  explicit Record(Report begun) : report(std::move(begun)) {}

  Report report;  ///< its results stand in the order of their cases

  [[nodiscard]] std::vector<std::string> insert(std::size_t index, Result result);
  void replace(std::vector<Result> results);
  [[nodiscard]] bool has(std::size_t index) const;
  /// Results that were told so far.
  [[nodiscard]] std::size_t changes() const { return changes_; }
  /// No file is to have any.
  void forget_samples() { needs_samples_ = false; }
  /// Writes the whole report, or tries to; `how` as the file has it.
  void write(LiveFile& file, void (ResultsFile::*how)(const TextWriter&)) const;
  /// A writer of JSON that takes samples from the journal.
  void write_json_to(const Report& whole, const Sink& sink) const;

  /// Beside `json`, which can have one and stays where it is.
  void allow_journal(LiveFile& json);
  void begin_journal();
  /// Puts what is new into the journal, once it is needed.
  [[nodiscard]] std::vector<std::string> keep_journal();
  [[nodiscard]] bool has_whole_journal() const;
  /// Then no whole file can be written: what other programs took from the journal is nowhere else.
  [[nodiscard]] bool has_changed_journal() const { return journal_ && journal_->is_changed(); }
  [[nodiscard]] std::string measured_again() const;
  /// The run is over: removes it, or adds to the error of its file what can be done.
  void end_journal();

 private:
  [[nodiscard]] std::size_t place_of(std::size_t index) const;
  [[nodiscard]] std::vector<std::string> let_fail(Result& known, Result result, std::size_t index);
  [[nodiscard]] bool needs_journal() const;
  void put_news_into_journal();

  std::vector<std::size_t> indexes_;  // of the cases of these results, ascending
  std::size_t changes_ = 0;
  bool needs_samples_ = true;
  LiveFile* json_ = nullptr;
  std::optional<Journal> journal_;      // of that, where it can have one
  std::set<std::size_t> news_;          // indexes of cases that are not in the journal as they are now
  LiveClock::time_point next_journal_;  // when it is brought to the disk, or begun once more
  std::optional<OutputError> journal_error_;
};

/// Of a case that is measured again, what the report has from then on: never fewer samples than it had, unless the case
/// has now run to its end.
[[nodiscard]] Result without_loss(const Result& before, const Result& now);

using ToDocument = std::function<Document(const Report&)>;

/// What a run that was stopped has left: its file, locked since before it was read, and what is in it.
struct Continued {
  ResultsFile json;
  KnownResults known;
};

/// How a run adds to what it has.
enum class Growth {
  by_cases,    ///< a case's result stays as it is while others come: only what is new need be written
  as_a_whole,  ///< later results change what was said of earlier ones: the whole file is written again
};

/// All files but the timeline and what monitoring reads follow the report; those are written at the end. Losing a file
/// never ends the run: the table still shows the results, and the error is told at once and comes last once more.
///
/// While a file is small it is written whole after each case. A long run writes it whole when a third of what it has is
/// new, and has a journal beside its JSON that gets each result at once (results/journal.hpp): so all that is written
/// grows as the results do. Samples that are in the journal, or that no file is to have, are not held any more.
///
/// What was there under a file's name is replaced when the first case has ended, and kept as FILE~.
class LiveReport {
 public:
  /// `document` is what the command's table shows, as Markdown and pages have it. Throws OutputError if a file cannot
  /// be written, UsageError if two are the same or standard output. A file that was not there is from now on, so that a
  /// run that is killed in its first case can be resumed, too. There is no moment without what is `continued` in the
  /// files.
  LiveReport(Report report, const cli::OutputFiles& files, const ToDocument& document,
             std::optional<Continued> continued = std::nullopt, Growth growth = Growth::by_cases);

  [[nodiscard]] const Report& report() const { return record_.report; }
  [[nodiscard]] bool owns_standard_output() const;
  /// Whether there is a file that whoever comes later can read.
  [[nodiscard]] bool has_file() const;

  // From the thread that measures, and from the one that watches it.

  /// A case's result, or what is known of it so far; results stand in the order of the cases. Returns what the user
  /// must be told of the files.
  [[nodiscard]] std::vector<std::string> put(std::size_t index, const Result& result);
  /// Those of several cases, which are written together.
  [[nodiscard]] std::vector<std::string> put(KnownResults results);
  /// Changes what is said of all together; it is written with the next results.
  void edit(const std::function<void(Report&)>& change);
  /// All results anew, where later ones change what was said of earlier ones.
  [[nodiscard]] std::vector<std::string> replace(std::vector<Result> results);
  /// `cut_off`: there are cases of which nothing is known.
  void finish(std::vector<Finding> findings, bool cut_off = false);
  /// Ends the run for good from another thread, while the one that measures does not come back: puts `last` where the
  /// report has nothing yet (what failed, anywhere), and writes all files. From then on put() does not return. False if
  /// that thread is writing them right now and does not end.
  [[nodiscard]] bool abandon(const KnownResults& last);

  /// Throws the error of a file that could not be written in the end.
  void rethrow() const;

 private:
  [[nodiscard]] bool is_due(const LiveFile& file) const;
  [[nodiscard]] std::string what_now(const LiveFile& file) const;
  [[nodiscard]] std::vector<std::string> update();
  void write_all_the_last_time();
  /// Locked for the thread that measures. Once the process is about to end, whoever comes back would only write over
  /// its last words, and stays here.
  [[nodiscard]] std::unique_lock<std::mutex> locked();

  std::mutex mutex_;  // of all that follows
  Record record_;
  std::deque<LiveFile> files_;  // those that were asked for, which stay where they are
  LiveFile* json_ = nullptr;    // one of them
  LiveClock::time_point next_update_;
  bool abandoned_ = false;
};

}  // namespace xferbench::app
