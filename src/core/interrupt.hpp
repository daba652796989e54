// Signal handling: Ctrl-C and SIGTERM set a flag, which the sampling loop polls between samples.
#pragma once

#include <thread>

namespace xferbench {

/// What SIGHUP (the terminal was closed) does to the program.
enum class HangUp {
  ends,     ///< ends the program like SIGTERM, because its output has no reader any more
  ignored,  ///< has no effect, because the program writes a file that can be read later
};

/// Whether the signal handler prints at once that the signal has arrived and what a second signal does. A child process
/// leaves the message to its parent.
enum class Acknowledge { no, yes };

/// Installs handlers for SIGINT, SIGTERM and SIGHUP. The first signal requests a stop after the current sample, and a
/// second one ends the process at once. Two SIGTERMs within a second count as one, because `timeout` sends SIGTERM to a
/// process and to its group, and a parent process forwards it to its child.
void install_interrupt_handlers(HangUp hang_up, Acknowledge acknowledge = Acknowledge::no);

/// Returns the number of the signal that has arrived; 0: none.
int interrupted();

/// While an object of this class exists, a thread reinstalls the handlers of SIGINT and SIGTERM every millisecond.
/// NVRTC replaces them while it compiles, and its handlers would end the process with exit code 4.
class SavedSignalHandlers {
 public:
  SavedSignalHandlers();

 private:
  std::jthread thread_;
};

}  // namespace xferbench
