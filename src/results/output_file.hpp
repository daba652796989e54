// Where results go. The only code that writes files or standard output.
#pragma once

#include <optional>
#include <string>

#include "results/replaced_file.hpp"
#include "results/sink.hpp"

namespace xferbench {

/// Writes to standard output and makes sure that it got there. Throws OutputError (a full disk), ClosedPipeError where
/// its reader has gone.
void write_standard_output(const std::string& text);

/// Whether the path leads to standard output, as /dev/stdout does.
[[nodiscard]] bool leads_to_standard_output(const std::string& path);

/// A results file that is valid at every moment (see ReplacedFile). "-" and /dev/stdout are standard output, and what
/// is no ordinary file (a pipe, /dev/full) cannot be replaced either: both are written once, at the end.
class ResultsFile {
 public:
  /// Throws OutputError if nothing can be written there; called before the run, so that no result is lost to a typo.
  /// Leaves an existing file as it is.
  explicit ResultsFile(std::string path, Previous previous = Previous::dropped);

  [[nodiscard]] bool is_standard_output() const { return path_ == "-"; }
  /// Where it leads: "-" for standard output by any name, else without links and detours.
  [[nodiscard]] std::string target() const;
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Whether there is an ordinary file of that name now.
  [[nodiscard]] bool exists() const { return replaced_ && replaced_->exists(); }

  /// The file where it is an ordinary one, which can have a journal; null: only the last state is written.
  [[nodiscard]] const ReplacedFile* ordinary() const { return replaced_ ? &*replaced_ : nullptr; }

  /// The state after a case. Does nothing where only the last one can be written. Throws OutputError.
  void update(const TextWriter& write);
  /// The last state. Throws OutputError, ClosedPipeError.
  void finish(const TextWriter& write);
  void finish(const std::string& text) {
    finish([&](const Sink& sink) { sink(text); });
  }

 private:
  std::string path_;
  std::optional<ReplacedFile> replaced_;  // none: what is no ordinary file
};

}  // namespace xferbench
