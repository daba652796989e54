// Ctrl-C as a question that the sampling loop asks between samples.
#pragma once

namespace xferbench {

/// Installs handlers for SIGINT and SIGTERM: the first asks the run to stop after the current sample, a second one ends
/// the process at once.
void install_interrupt_handlers();

/// The number of the signal that has come; 0 while none has.
int interrupted();

}  // namespace xferbench
