// Setup of the process at program start: standard descriptors, memory errors and signals.
#pragma once

namespace xferbench {

/// Sets up the process, so that some conditions which would end or mislead it become ordinary errors:
/// - A missing standard descriptor is opened, so that no file that is opened later becomes standard error and receives
///   messages. Writing to a missing standard output still fails.
/// - If memory is exhausted anywhere, the program ends with a message and the right exit code.
/// - A write to a pipe without a reader, or to a file at its size limit, fails without a signal (SIGPIPE, SIGXFSZ).
class ProcessSetup {
 public:
  ProcessSetup();

  /// Ends the process silently by SIGPIPE, as is usual when the reader of standard output has gone. Returns if the
  /// parent process had set SIGPIPE to be ignored.
  void end_by_closed_pipe() const;

 private:
  bool pipe_ends_it_ = true;
};

}  // namespace xferbench
