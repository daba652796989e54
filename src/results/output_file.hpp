// Writes results to files and standard output. No other code does so.
#pragma once

#include <optional>
#include <string>

#include "results/replaced_file.hpp"
#include "results/sink.hpp"

namespace xferbench {

/// Writes a text to standard output. Throws OutputError if that fails (a full disk), or ClosedPipeError if the reader
/// has closed the pipe.
void write_standard_output(const std::string& text);

/// Whether the path leads to standard output, as /dev/stdout does.
[[nodiscard]] bool leads_to_standard_output(const std::string& path);

/// A results file that is valid at every moment (see ReplacedFile). Standard output ("-", /dev/stdout) and special
/// files (a pipe, /dev/full) cannot be replaced; they are written once, at the end.
class ResultsFile {
 public:
  /// Throws OutputError if the file cannot be written. Construct it before the run, so that a wrong path is found
  /// before there are results to lose. Does not change an existing file.
  explicit ResultsFile(std::string path, Previous previous = Previous::dropped);

  [[nodiscard]] bool is_standard_output() const { return path_ == "-"; }
  /// Returns the resolved path: "-" for standard output under any name, else an absolute path without links.
  [[nodiscard]] std::string target() const;
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Whether there is a regular file of that name now.
  [[nodiscard]] bool exists() const { return replaced_ && replaced_->exists(); }

  /// Returns the file if it is a regular one, which can have a journal. Null: only the final state is written.
  [[nodiscard]] const ReplacedFile* ordinary() const { return replaced_ ? &*replaced_ : nullptr; }

  /// Writes the state after a case. Does nothing if only the final state can be written. Throws OutputError.
  void update(const TextWriter& write);
  /// Writes the final state. Throws OutputError, ClosedPipeError.
  void finish(const TextWriter& write);
  void finish(const std::string& text) {
    finish([&](const Sink& sink) { sink(text); });
  }

 private:
  std::string path_;
  std::optional<ReplacedFile> replaced_;  // none if the path is no regular file
};

}  // namespace xferbench
