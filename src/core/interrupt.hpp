// Signal handling: Ctrl-C and SIGTERM set a flag that the sampling loop polls between samples.
#pragma once

#include <thread>

namespace xferbench {

/// What SIGHUP (the terminal was closed) does to the program.
enum class HangUp {
  ends,     ///< ends it like SIGTERM: nobody could read its output
  ignored,  ///< no effect: the program writes a file, which can be read later
};

/// Whether the handler prints at once that the signal has arrived, and what a second one does. A child process leaves
/// that to its parent.
enum class Acknowledge { no, yes };

/// Installs handlers for SIGINT, SIGTERM and SIGHUP. The first signal asks the run to stop after the current sample, a
/// second one ends the process at once. SIGTERMs within a second count as one: `timeout` sends it to a process and to
/// its group, and a parent process forwards it to its child.
void install_interrupt_handlers(HangUp hang_up, Acknowledge acknowledge = Acknowledge::no);

/// The number of the signal that has arrived; 0: none.
int interrupted();

/// While an object lives, a thread reinstalls the handlers of SIGINT and SIGTERM every millisecond. NVRTC installs its
/// own handlers while it compiles, and those end the process with exit code 4.
class SavedSignalHandlers {
 public:
  SavedSignalHandlers();

 private:
  std::jthread thread_;
};

}  // namespace xferbench
