// Setup of the process at program start: standard descriptors, memory errors and signals.
#pragma once

namespace xferbench {

/// Turns conditions that would end or mislead the process into errors:
/// - a missing standard descriptor is filled, so that no file that is opened later becomes standard error and receives
///   messages; what is written to a missing standard output still fails;
/// - running out of memory, anywhere, ends the program with a message and its exit code;
/// - a pipe without a reader and a file at its size limit (SIGPIPE, SIGXFSZ) fail the write.
class ProcessSetup {
 public:
  ProcessSetup();

  /// Ends the process silently by SIGPIPE, as programs end when the reader of standard output has gone. Returns if the
  /// parent process had SIGPIPE ignored.
  void end_by_closed_pipe() const;

 private:
  bool pipe_ends_it_ = true;
};

}  // namespace xferbench
