// What a process inherits from whoever started it, and what it makes of that before anything else.
#pragma once

namespace xferbench {

/// Makes errors of what would otherwise end or mislead the process:
/// - a missing standard descriptor is filled, so that no file that is opened later becomes standard error and receives
///   messages; what is written to a missing standard output still fails;
/// - too little memory, wherever it shows, ends the program with a message and its exit code;
/// - a pipe without a reader and a file at its size limit (SIGPIPE, SIGXFSZ) fail the write.
class ProcessSetup {
 public:
  ProcessSetup();

  /// Ends the process as a reader of standard output that goes away ends any other: without a word, by SIGPIPE.
  /// Returns where whoever started it does not want that.
  void end_by_closed_pipe() const;

 private:
  bool pipe_ends_it_ = true;
};

}  // namespace xferbench
