// The journal of a long run: results that its results file does not contain yet.
//
// Rewriting the whole file after each case would take longer and longer. So FILE.journal holds the beginning of the
// file and each result as soon as it is known, in the text format of the file. The journal only grows, and is valid up
// to its last complete result: followed by kEndOfUnfinished, it is a results file. It is removed when the file itself
// has all results. Samples of results in the journal need not stay in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "results/replaced_file.hpp"
#include "results/result.hpp"

namespace xferbench {

/// Returns the path of a results file's journal; resolves links to the results file first.
std::string journal_of(const std::string& results_file);

/// Numbers of readable bytes of a journal: `beginning` up to its first result (0 if that is not found), `whole` up to
/// the end of its last complete result.
struct ValidPrefix {
  std::uint64_t beginning = 0;
  std::uint64_t whole = 0;
};

/// The journal next to a results file, opened for reading. The open file stays readable if the journal is removed or
/// replaced, and shows results that are appended later. Open the journal before the results file, because a journal is
/// removed as soon as its results file has all results.
class AdjacentJournal {
 public:
  explicit AdjacentJournal(const std::string& results_file);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] int file() const { return file_.number(); }
  /// Returns the journal's readable bytes. Returns nothing if the file is missing or is no journal.
  [[nodiscard]] std::optional<ValidPrefix> valid_prefix() const;

 private:
  std::string path_;
  Descriptor file_;  // none if there is no journal
};

/// Whether both reports are of the same run. A resumed run keeps its start time, command, backend and GPU.
bool is_same_run(const Report& a, const Report& b);

/// Returns the total number of samples of all measurements of a case.
std::size_t samples_of(const Result& result);

/// Merges `more` into the results of the report. For each case keeps the result with more information: finished rather
/// than unfinished, then with more samples rather than fewer, then failed rather than skipped.
void apply_entry(Report& report, std::vector<Result> more);

class Journal {
 public:
  /// `file` must outlive this object, and hold the lock on the results file.
  explicit Journal(const ReplacedFile& file) : results_file_(file) {}

  [[nodiscard]] bool has_begun() const { return static_cast<bool>(file_); }
  /// Starts a journal with all results of the report, replacing an existing journal. `cases[i]` is the case number of
  /// result i, ascending. On failure throws OutputError and changes nothing.
  void begin(const Report& report, std::span<const std::size_t> cases);
  /// Appends the result of case `number`, which replaces an earlier result of the case. On failure throws OutputError,
  /// and the journal stays as it was.
  void append(std::size_t number, const Result& result);
  /// Writes the journal to the disk (fsync), so that it survives a crash of the machine.
  void synchronize() const;

  [[nodiscard]] bool has(std::size_t number) const { return number < entries_.size() && entries_[number].bytes > 0; }
  /// Returns the text of the result of case `number`. Throws OutputError if the text is no longer in the journal.
  [[nodiscard]] std::string text(std::size_t number) const;
  /// Whether text() has found that another program cut or overwrote the journal.
  [[nodiscard]] bool is_changed() const { return is_changed_; }
  [[nodiscard]] Result result(std::size_t number) const;
  /// Whether outdated results take more than half of the journal.
  [[nodiscard]] bool needs_compaction() const;

  /// Removes the journal; to be called once the results file has all results.
  void remove();

 private:
  struct Entry {
    std::uint64_t begin = 0;
    std::uint64_t bytes = 0;
  };

  [[nodiscard]] std::string path() const { return results_file_.path() + std::string(kJournalEnding); }

  const ReplacedFile& results_file_;
  Descriptor file_;
  std::vector<Entry> entries_;  // place of each result in the journal, indexed by case number
  std::uint64_t end_ = 0;
  std::uint64_t old_ = 0;  // bytes of results that later results of the same case replace
  bool is_empty_ = true;
  mutable bool is_changed_ = false;
};

}  // namespace xferbench
