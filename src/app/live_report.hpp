// The report of a run in progress, and the output files that are updated with it.
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

/// Pairs of case index and result, in ascending order of the index.
using KnownResults = std::vector<std::pair<std::size_t, Result>>;

/// Writes a report to a sink in the format of one output file.
using Writer = std::function<void(const Report&, const Sink&)>;

/// One output file of a report that is updated during the run.
struct LiveFile {
  ResultsFile file;
  Writer writer;
  bool follows;                        ///< true if updated after each case, false if written only at the end
  std::optional<OutputError> error{};  ///< error of the last attempt to write; absent if it succeeded
  std::uint64_t bytes = 0;             ///< size of the file when it was last written
  std::size_t changes = 0;             ///< value of Record::changes() when the file was last written
  /// Returns whether the file is small enough (256 KiB) to be rewritten after each case.
  [[nodiscard]] bool is_small() const { return bytes < (256 << 10); }
};

using LiveClock = std::chrono::steady_clock;
/// Returns the current time. Tests give a clock that stands still, so that no write is delayed.
using Now = LiveClock::time_point (*)();

/// Stores the results of a run so far, in memory and in the journal of the JSON results file. Returned strings are
/// messages for the user.
class Record {
 public:
  Record(Report begun, Now now) : report(std::move(begun)), now_(now) {}

  Report report;  ///< the report, whose results are in the order of their cases

  /// Adds the result of case `index`. If the case already has a result, merges both by the rule of keep_more_samples().
  [[nodiscard]] std::vector<std::string> insert(std::size_t index, Result result);
  void replace(std::vector<Result> results);
  [[nodiscard]] bool has(std::size_t index) const;
  /// Returns the number of results that were inserted or replaced so far.
  [[nodiscard]] std::size_t changes() const { return changes_; }
  /// From now on, drops the samples of new results. Called if no output file contains samples.
  void forget_samples() { needs_samples_ = false; }
  /// Writes the whole report to the file with ResultsFile::update or ResultsFile::finish (`how`). Stores an error in
  /// `file.error` instead of throwing it.
  void write(LiveFile& file, void (ResultsFile::*how)(const TextWriter&)) const;
  /// Writes the report as JSON. Samples that are no longer in memory are read from the journal.
  void write_json_to(const Report& whole, const Sink& sink) const;

  /// Allows a journal next to the file `json`, which must be a regular file and must not be moved in memory.
  void allow_journal(LiveFile& json);
  void begin_journal();
  /// Appends new results to the journal. Begins the journal as soon as one is needed.
  [[nodiscard]] std::vector<std::string> keep_journal();
  [[nodiscard]] bool has_whole_journal() const;
  /// Returns whether another program has changed the journal. If so, no complete file can be written any more, because
  /// samples that only the journal contained are lost.
  [[nodiscard]] bool has_changed_journal() const { return journal_ && journal_->is_changed(); }
  [[nodiscard]] std::string measured_again() const;
  /// Called at the end of the run. Removes the journal. If the JSON file could not be written, keeps the journal and
  /// adds advice to the error of the JSON file.
  void end_journal();

 private:
  [[nodiscard]] std::size_t place_of(std::size_t index) const;
  [[nodiscard]] std::vector<std::string> mark_failed(Result& known, Result result, std::size_t index);
  [[nodiscard]] bool needs_journal() const;
  void append_to_journal();

  Now now_;
  std::vector<std::size_t> indexes_;  // case indexes of the results in the report, ascending
  std::size_t changes_ = 0;
  bool needs_samples_ = true;
  LiveFile* json_ = nullptr;
  std::optional<Journal> journal_;      // journal next to the file `json_`; absent if the file cannot have one
  std::set<std::size_t> unsaved_;       // case indexes whose current result is not in the journal
  LiveClock::time_point next_journal_;  // earliest time to flush the journal to the disk, or to retry creating it
  std::optional<OutputError> journal_error_;
};

/// Merges the results of a case that was measured twice. Returns `now` if it is complete or has at least as many
/// samples as `before`. Otherwise returns `before`, marked as failed if `now` failed.
[[nodiscard]] Result keep_more_samples(const Result& before, const Result& now);

using ToDocument = std::function<Document(const Report&)>;

/// An interrupted run that is resumed: its results file, which was locked before it was read, and its results.
struct ResumedRun {
  ResultsFile json;
  KnownResults known;
};

/// How new results change the contents of the output files.
enum class WriteMode {
  append_cases,  ///< earlier results stay as they are, so only new ones need to be written
  rewrite_all,   ///< new results change earlier ones, so the whole file is written again
};

/// Owns the report of a run in progress and its output files. All files except the timeline, OpenMetrics and those of
/// --format are updated during the run; these are written at the end. A file that cannot be written never ends the run,
/// because the table still shows the results. The error is reported at once and again at the end.
///
/// A small file is rewritten after each case. A large file is rewritten only when a third of its results are new, and
/// each result is appended at once to a journal next to the JSON file (results/journal.hpp). So the number of bytes
/// written grows linearly with the number of results. Samples that are in the journal, or that no file needs, are
/// dropped from memory.
///
/// A previous file of the same name is replaced when the first case has ended, and kept as FILE~.
class LiveReport {
 public:
  /// `document` makes the content of Markdown and HTML files. Throws OutputError if a file cannot be written, and
  /// UsageError if two of the files are the same. Missing files are created at once, so that a run that is killed in
  /// its first case can be resumed. Every version of the files contains at least the results of `continued`.
  LiveReport(Report report, const cli::OutputFiles& files, const ToDocument& document,
             std::optional<ResumedRun> continued = std::nullopt, WriteMode write_mode = WriteMode::append_cases,
             Now now = LiveClock::now);

  [[nodiscard]] const Report& report() const { return record_.report; }
  /// Returns whether one of the files is standard output, so that the table must not be printed there.
  [[nodiscard]] bool owns_standard_output() const;
  /// Returns whether the results go to a file that can be read after the run.
  [[nodiscard]] bool has_file() const;

  // The following functions may be called by the measuring thread and by the watchdog thread.

  /// Stores the result of a case, which may be incomplete. Returns messages for the user about the files.
  [[nodiscard]] std::vector<std::string> put(std::size_t index, const Result& result);
  /// Stores several results and then writes the files once.
  [[nodiscard]] std::vector<std::string> put(KnownResults results);
  /// Calls `change` to edit the report. The change is written together with the next results.
  void edit(const std::function<void(Report&)>& change);
  /// Replaces all results. Used for runs whose later results change earlier results.
  [[nodiscard]] std::vector<std::string> replace(std::vector<Result> results);
  /// Ends the run and writes all files. `cut_off` says that some cases have no result.
  void finish(std::vector<Finding> findings, bool cut_off = false);
  /// Ends the run from the watchdog thread while the measuring thread is blocked, and writes all files. Adds those
  /// results of `last` that are failures or whose cases have no result yet. From then on put() does not return. Returns
  /// false if the measuring thread is writing the files and does not finish in time.
  [[nodiscard]] bool abandon(const KnownResults& last);

  /// Throws the error of a file whose last write failed.
  void rethrow() const;

 private:
  [[nodiscard]] bool is_due(const LiveFile& file) const;
  [[nodiscard]] std::string recovery_hint(const LiveFile& file) const;
  [[nodiscard]] std::vector<std::string> update();
  void write_final();
  /// Locks the mutex for the measuring thread. Blocks forever once abandon() was called: the process is about to end,
  /// and a later write would destroy its final files.
  [[nodiscard]] std::unique_lock<std::mutex> locked();

  Now now_;
  std::mutex mutex_;  // protects all members below
  Record record_;
  std::deque<LiveFile> files_;  // the requested files; a deque, so that their addresses stay the same
  LiveFile* json_ = nullptr;    // pointer to the JSON file in files_; null if there is none
  LiveClock::time_point next_update_;
  bool abandoned_ = false;
};

}  // namespace xferbench::app
