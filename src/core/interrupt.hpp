// Ctrl-C as a question that the sampling loop asks between samples.
#pragma once

#include <thread>

namespace xferbench {

/// What the end of the terminal that a program was started from is to it.
enum class HangUp {
  ends,     ///< as SIGTERM: nobody is left to read what it would print
  ignored,  ///< it writes a file, which can be read later
};

/// Whether standard error says at once that the signal has come, and what a second one would do. A process that another
/// one looks after leaves that to the other.
enum class Acknowledge { no, yes };

/// Installs handlers for SIGINT, SIGTERM and SIGHUP: the first asks the run to stop after the current sample, a second
/// one ends the process at once. SIGTERMs within a second are one: timeout sends it to a process and to its group, and
/// a process that has started another one passes it on.
void install_interrupt_handlers(HangUp hang_up, Acknowledge acknowledge = Acknowledge::no);

/// The number of the signal that has come; 0 while none has.
int interrupted();

/// While one lives, SIGINT and SIGTERM keep their handlers: a thread puts them back each millisecond. NVRTC installs
/// handlers of its own while it compiles, and these end the process with exit code 4.
class KeptHandlers {
 public:
  KeptHandlers();

 private:
  std::jthread thread_;
};

}  // namespace xferbench
