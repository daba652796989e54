// The report of a run in progress, and the files that follow it.
#pragma once

#include <chrono>
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
#include "results/journal.hpp"
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
  /// `to_markdown` shows what the command's table shows. Throws OutputError if a file cannot be written, UsageError if
  /// two are the same or standard output. A file that was not there is from now on, so that a run that is killed in its
  /// first case can be resumed, too. There is no moment without what is `continued` in the files.
  LiveReport(Report report, const cli::OutputFiles& files, ToText to_markdown,
             std::optional<Continued> continued = std::nullopt, Growth growth = Growth::by_cases);

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
    bool follows;                        ///< written after each case
    std::optional<OutputError> error{};  ///< of the last attempt to write
    std::uint64_t bytes = 0;             ///< of the state that was written last ...
    std::size_t changes = 0;             ///< ... and of how many results it was told
    /// Few enough to be written whole after each case.
    [[nodiscard]] bool is_small() const;
  };

  /// Returns what the user must be told, as all of these.
  [[nodiscard]] std::vector<std::string> insert(std::size_t index, Result result);
  [[nodiscard]] std::vector<std::string> let_fail(std::size_t place, Result result);
  /// Puts what is new into the journal, once there is one.
  [[nodiscard]] std::vector<std::string> keep_journal();
  [[nodiscard]] bool needs_journal() const;
  [[nodiscard]] bool has_whole_journal() const;
  [[nodiscard]] bool has_changed_journal() const;
  [[nodiscard]] std::string measured_again() const;
  [[nodiscard]] std::string what_now(const Output& output) const;
  void begin_journal();
  void put_news_into_journal();
  [[nodiscard]] bool is_due(const Output& output) const;
  [[nodiscard]] Result with_samples(std::size_t place) const;
  [[nodiscard]] std::optional<std::string> text_of(const Result& result) const;
  void write_json_to(const Report& report, const Sink& sink) const;
  [[nodiscard]] std::vector<std::string> update();
  void write(Output& output, void (ResultsFile::*how)(const TextWriter&));
  void write_all_the_last_time();
  /// The process is about to end: whoever comes back now would only write over its last words.
  void wait_if_abandoned() const;

  std::mutex mutex_;  // of all that follows
  Report report_;
  std::vector<std::size_t> indexes_;  ///< of the cases of these results, ascending
  std::deque<Output> outputs_;        ///< those that were asked for, which stay where they are
  Output* json_ = nullptr;            ///< one of them
  std::optional<Journal> journal_;    ///< of that, where it can have one
  std::set<std::size_t> news_;        ///< indexes of cases that are not in the journal as they are now
  std::size_t changes_ = 0;           ///< results that were told so far
  Clock::time_point next_update_;
  Clock::time_point next_journal_;  ///< when it is brought to the disk, or begun once more
  std::optional<OutputError> journal_error_;
  bool needs_samples_ = true;  ///< a file is to have them
  bool abandoned_ = false;
};

/// Of a case that is measured again, what the report has from then on: never fewer samples than it had, unless the case
/// has now run to its end.
[[nodiscard]] Result without_loss(const Result& before, const Result& now);

}  // namespace xferbench::app
