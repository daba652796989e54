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

/// Pairs of case index and result, ascending by index.
using KnownResults = std::vector<std::pair<std::size_t, Result>>;

/// Writes a report in the format of one file.
using Writer = std::function<void(const Report&, const Sink&)>;

/// One output file of a report.
struct LiveFile {
  ResultsFile file;
  Writer writer;
  bool follows;                        ///< updated after each case, not only at the end
  std::optional<OutputError> error{};  ///< error of the last attempt to write; absent if it succeeded
  std::uint64_t bytes = 0;             ///< size of the file when it was last written
  std::size_t changes = 0;             ///< Record::changes() when the file was last written
  /// Small enough to be written whole after each case.
  [[nodiscard]] bool is_small() const { return bytes < (256 << 10); }
};

using LiveClock = std::chrono::steady_clock;

/// The results so far, in memory and in the journal of the results file. Functions that return strings return messages
/// for the user.
class Record {
 public:
  explicit Record(Report begun) : report(std::move(begun)) {}

  Report report;  ///< results are in the order of their cases

  /// Adds the result of case `index`, or updates it as keep_more_samples() does.
  [[nodiscard]] std::vector<std::string> insert(std::size_t index, Result result);
  void replace(std::vector<Result> results);
  [[nodiscard]] bool has(std::size_t index) const;
  /// How many results were inserted or replaced so far.
  [[nodiscard]] std::size_t changes() const { return changes_; }
  /// Drops the samples of new results: called if no output file contains samples.
  void forget_samples() { needs_samples_ = false; }
  /// Writes the whole report with ResultsFile::update or finish (`how`). An error goes to `file.error`.
  void write(LiveFile& file, void (ResultsFile::*how)(const TextWriter&)) const;
  /// Writes JSON; samples that are not in memory come from the journal.
  void write_json_to(const Report& whole, const Sink& sink) const;

  /// Allows a journal next to `json`, which must be an ordinary file and must not move.
  void allow_journal(LiveFile& json);
  void begin_journal();
  /// Appends new results to the journal, which it begins once one is needed.
  [[nodiscard]] std::vector<std::string> keep_journal();
  [[nodiscard]] bool has_whole_journal() const;
  /// Another program changed the journal. Then no whole file can be written: the lost samples exist nowhere else.
  [[nodiscard]] bool has_changed_journal() const { return journal_ && journal_->is_changed(); }
  [[nodiscard]] std::string measured_again() const;
  /// At the end of the run: removes the journal or, if the file could not be written, adds advice to the file's error.
  void end_journal();

 private:
  [[nodiscard]] std::size_t place_of(std::size_t index) const;
  [[nodiscard]] std::vector<std::string> mark_failed(Result& known, Result result, std::size_t index);
  [[nodiscard]] bool needs_journal() const;
  void append_to_journal();

  std::vector<std::size_t> indexes_;  // case index of each result, ascending
  std::size_t changes_ = 0;
  bool needs_samples_ = true;
  LiveFile* json_ = nullptr;
  std::optional<Journal> journal_;      // journal of `json_`; absent if that file cannot have one
  std::set<std::size_t> unsaved_;       // case indexes whose current result is not in the journal
  LiveClock::time_point next_journal_;  // when the journal is synchronized to the disk, or begun again
  std::optional<OutputError> journal_error_;
};

/// The result to keep for a case that is measured again: never with fewer samples than before, unless the case has now
/// run to its end.
[[nodiscard]] Result keep_more_samples(const Result& before, const Result& now);

using ToDocument = std::function<Document(const Report&)>;

/// The state of an interrupted run: its file, locked before it was read, and its results.
struct ResumedRun {
  ResultsFile json;
  KnownResults known;
};

/// How new results change the file.
enum class WriteMode {
  append_cases,  ///< earlier results stay as they are: only new ones need be written
  rewrite_all,   ///< later results change earlier ones: the whole file is written again
};

/// All files except the timeline and OpenMetrics are updated during the run; those two are written at the end. A file
/// that cannot be written never ends the run: the table still shows the results. The error is reported at once and
/// again at the end.
///
/// A small file is written whole after each case. A long run writes a file whole when a third of its results are new,
/// and appends each result at once to a journal next to the JSON file (results/journal.hpp). So the total written grows
/// linearly with the results. Samples that are in the journal, or that no file needs, are dropped from memory.
///
/// A previous file of the same name is replaced when the first case has ended, and kept as FILE~.
class LiveReport {
 public:
  /// `document` is the content of Markdown and HTML files. Throws OutputError if a file cannot be written, UsageError
  /// if two are the same or both are standard output. Missing files are created at once, so that a run that is killed
  /// in its first case can be resumed. The files always hold at least the results of `continued`.
  LiveReport(Report report, const cli::OutputFiles& files, const ToDocument& document,
             std::optional<ResumedRun> continued = std::nullopt, WriteMode write_mode = WriteMode::append_cases);

  [[nodiscard]] const Report& report() const { return record_.report; }
  /// Whether a file is standard output, where the table must not go then.
  [[nodiscard]] bool owns_standard_output() const;
  /// Whether results go to a file that can be read later.
  [[nodiscard]] bool has_file() const;

  // Called by the measuring thread and by the watchdog's thread:

  /// Stores a case's result, or what is known of it so far. Returns messages for the user about the files.
  [[nodiscard]] std::vector<std::string> put(std::size_t index, const Result& result);
  /// Stores several results and writes the files once.
  [[nodiscard]] std::vector<std::string> put(KnownResults results);
  /// Changes the report as a whole; it is written with the next results.
  void edit(const std::function<void(Report&)>& change);
  /// Replaces all results, for runs whose later results change earlier ones.
  [[nodiscard]] std::vector<std::string> replace(std::vector<Result> results);
  /// `cut_off`: some cases have no result.
  void finish(std::vector<Finding> findings, bool cut_off = false);
  /// Ends the run from another thread while the measuring thread is blocked. Adds the results of `last` that are
  /// failures or whose cases have no result yet, and writes all files. From then on put() does not return. False if the
  /// measuring thread is writing the files and does not finish in time.
  [[nodiscard]] bool abandon(const KnownResults& last);

  /// Throws the error of a file whose last write failed.
  void rethrow() const;

 private:
  [[nodiscard]] bool is_due(const LiveFile& file) const;
  [[nodiscard]] std::string recovery_hint(const LiveFile& file) const;
  [[nodiscard]] std::vector<std::string> update();
  void write_final();
  /// Locks for the measuring thread. Once the run is abandoned, this blocks forever: the process is about to end, and a
  /// later write would destroy its final files.
  [[nodiscard]] std::unique_lock<std::mutex> locked();

  std::mutex mutex_;  // guards all members below
  Record record_;
  std::deque<LiveFile> files_;  // the requested files; a deque keeps their addresses
  LiveFile* json_ = nullptr;    // points into files_
  LiveClock::time_point next_update_;
  bool abandoned_ = false;
};

}  // namespace xferbench::app
