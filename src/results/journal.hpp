// What a long run has measured and its results file does not say yet.
//
// To write the whole file after each case would take longer and longer. FILE.journal therefore has the file's beginning
// and each result from the moment on in which it is known, in the text that the file will have. It only grows, and what
// was written of it is whole up to the last result: kEndOfUnfinished behind that makes it a results file. When the file
// itself says everything the journal is removed. Results that are in it need not keep their samples in memory.
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

/// The journal of the results file of that name: beside the file that links lead to.
std::string journal_of(const std::string& results_file);

/// How many bytes of a journal can be read: up to its first result (0 where that cannot be found), and up to the end of
/// the last that is whole.
struct WholePart {
  std::uint64_t beginning = 0;
  std::uint64_t whole = 0;
};

/// The journal that is beside a results file now: also when it has been removed or another has taken its place, and
/// with what is added to it. Whoever opens it before the file misses nothing, since a journal goes when its file has
/// all of it.
class JournalBeside {
 public:
  explicit JournalBeside(const std::string& results_file);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] int file() const { return file_.number(); }
  /// Nothing where there is none, or something else has its name.
  [[nodiscard]] std::optional<WholePart> whole_part() const;

 private:
  std::string path_;
  Descriptor file_;  // none: there is no journal
};

/// Whether both are of the same run, by what does not change when a run goes on later.
bool is_same_run(const Report& a, const Report& b);

/// Of all measurements of a case together.
std::size_t samples_of(const Result& result);

/// Each case as whichever says more of it: one that has ended before one that has not, then one with more samples, then
/// one that failed before one that was skipped.
void take_in(Report& report, std::vector<Result> more);

class Journal {
 public:
  /// Of that file, which must outlive it, and is held by this process.
  explicit Journal(const ReplacedFile& file) : results_file_(file) {}

  [[nodiscard]] bool has_begun() const { return static_cast<bool>(file_); }
  /// With all results so far, in the place of a journal that is there; `cases` are their numbers, ascending. Throws
  /// OutputError, and then everything is as it was.
  void begin(const Report& report, std::span<const std::size_t> cases);
  /// The same and no less; to be told apart, a later result of a case counts. Throws OutputError, and then it says what
  /// it said before.
  void append(std::size_t number, const Result& result);
  /// Brings it to the disk, where kill -9 need not find it but a crash of the machine must.
  void synchronize() const;

  [[nodiscard]] bool has(std::size_t number) const { return number < entries_.size() && entries_[number].bytes > 0; }
  /// Throws OutputError where it is not there any more.
  [[nodiscard]] std::string text(std::size_t number) const;
  /// Whether text() has found that another program cut it or wrote over it.
  [[nodiscard]] bool is_changed() const { return is_changed_; }
  [[nodiscard]] Result result(std::size_t number) const;
  /// Whether more than half of it is results that later ones have taken the place of.
  [[nodiscard]] bool is_mostly_old() const;

  /// The file says all of it.
  void remove();

 private:
  struct Entry {
    std::uint64_t begin = 0;
    std::uint64_t bytes = 0;
  };

  [[nodiscard]] std::string path() const { return results_file_.path() + std::string(kJournalEnding); }

  const ReplacedFile& results_file_;
  Descriptor file_;
  std::vector<Entry> entries_;  // by the number of the case
  std::uint64_t end_ = 0;
  std::uint64_t old_ = 0;  // bytes of results that do not count any more
  bool is_empty_ = true;
  mutable bool is_changed_ = false;
};

}  // namespace xferbench
