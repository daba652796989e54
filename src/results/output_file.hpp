// Where results go. The only code that writes files or standard output.
#pragma once

#include <filesystem>
#include <string>

#include "results/sink.hpp"

namespace xferbench {

/// Writes to standard output and makes sure that it got there. Throws OutputError (a full disk, a closed pipe).
void write_standard_output(const std::string& text);

/// A results file that is valid at every moment: each state is written beside it and then renamed over it, so that a
/// reader, a kill -9 or a full disk finds the last complete one. "-" and /dev/stdout are standard output, and what is
/// no ordinary file (a pipe, /dev/full) cannot be replaced either: both are written once, at the end.
class ResultsFile {
 public:
  /// Throws OutputError if nothing can be written there; called before the run, so that no result is lost to a typo.
  /// Leaves an existing file as it is.
  explicit ResultsFile(std::string path);

  [[nodiscard]] bool is_standard_output() const { return path_ == "-"; }
  /// Where it leads: "-" for standard output by any name, else without links and detours.
  [[nodiscard]] std::string target() const;

  /// The state after a case. Does nothing where only the last one can be written.
  void update(const TextWriter& write) const;
  /// The last state.
  void finish(const TextWriter& write) const;
  void finish(const std::string& text) const {
    finish([&](const Sink& sink) { sink(text); });
  }

 private:
  void replace(const TextWriter& write, bool durable) const;

  std::string path_;
  bool replaceable_;
};

}  // namespace xferbench
