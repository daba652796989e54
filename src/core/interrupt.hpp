// Ctrl-C as a question that the sampling loop asks between samples.
#pragma once

namespace xferbench {

/// What the end of the terminal that a program was started from is to it.
enum class HangUp {
  ends,     ///< as SIGTERM: nobody is left to read what it would print
  ignored,  ///< it writes a file, which can be read later
};

/// Installs handlers for SIGINT, SIGTERM and SIGHUP: the first asks the run to stop after the current sample, a second
/// one ends the process at once.
void install_interrupt_handlers(HangUp hang_up);

/// The number of the signal that has come; 0 while none has.
int interrupted();

}  // namespace xferbench
