#include "core/interrupt.hpp"

#include <csignal>

namespace xferbench {

namespace {

// A signal handler can reach nothing but an object of static storage; this is the program's only one that changes.
volatile std::sig_atomic_t g_interrupted = 0;

extern "C" void on_signal(int signal) {
  g_interrupted = signal;
  std::signal(signal, SIG_DFL);
}

}  // namespace

void install_interrupt_handlers() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

int interrupted() { return g_interrupted; }

}  // namespace xferbench
