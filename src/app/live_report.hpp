// The report of a run in progress, and the files that follow it.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/command.hpp"
#include "core/error.hpp"
#include "results/output_file.hpp"
#include "results/result.hpp"

namespace xferbench::app {

/// Results by the indexes of their cases, ascending.
using KnownResults = std::vector<std::pair<std::size_t, Result>>;

/// How a report becomes one of its files.
using Writer = std::function<void(const Report&, const Sink&)>;
using ToText = std::function<std::string(const Report&)>;

/// What a run that was stopped has left: its file, locked since before it was read, and what is in it.
struct Continued {
  ResultsFile json;
  KnownResults known;
};

/// All files but the timeline and what monitoring reads follow the report; those are written at the end. Losing a file
/// never ends the run: the table still shows the results, and the error is told at once and comes last once more.
///
/// What was there under a file's name is replaced when the first case has ended, and kept as FILE~.
class LiveReport {
 public:
  /// `to_markdown` shows what the command's table shows. Throws OutputError if a file cannot be written, UsageError if
  /// two are the same or standard output. A file that was not there is from now on, so that a run that is killed in its
  /// first case can be resumed, too. There is no moment without what is `continued` in the files.
  LiveReport(Report report, const cli::OutputFiles& files, ToText to_markdown,
             std::optional<Continued> continued = std::nullopt);

  [[nodiscard]] const Report& report() const { return report_; }
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
  using Clock = std::chrono::steady_clock;

  struct Output {
    ResultsFile file;
    Writer writer;
    bool follows;                      ///< written after each case
    std::optional<OutputError> error;  ///< of the last attempt to write
  };

  void insert(std::size_t index, Result result);
  [[nodiscard]] std::vector<std::string> update();
  void write(Output& output, void (ResultsFile::*how)(const TextWriter&));
  void write_all_the_last_time();
  /// The process is about to end: whoever comes back now would only write over its last words.
  void wait_if_abandoned() const;

  std::mutex mutex_;  // of all that follows
  Report report_;
  std::vector<std::size_t> indexes_;  ///< of the cases of these results, ascending
  std::vector<Output> outputs_;       ///< those that were asked for
  Clock::time_point next_update_;
  bool abandoned_ = false;
};

/// Of a case that is measured again, what the report has from then on: never fewer samples than it had, unless the case
/// has now run to its end.
[[nodiscard]] Result without_loss(const Result& before, const Result& now);

}  // namespace xferbench::app
