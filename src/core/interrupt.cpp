#include "core/interrupt.hpp"

#include <atomic>
#include <csignal>

namespace xferbench {

namespace {

// A signal handler can reach nothing but an object of static storage; this is the program's only one that changes. The
// handler may run on any thread, so it is atomic, and lock-free as a handler demands.
std::atomic<int> g_signal = 0;
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void on_signal(int signal) {
  g_signal = signal;
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  if (signal == SIGHUP) std::signal(SIGHUP, SIG_DFL);
}

/// Leaves a signal ignored that whoever started the program wants ignored (nohup, background jobs).
void handle(int signal) {
  if (std::signal(signal, on_signal) == SIG_IGN) std::signal(signal, SIG_IGN);
}

}  // namespace

void install_interrupt_handlers(HangUp hang_up) {
  handle(SIGINT);
  handle(SIGTERM);
  if (hang_up == HangUp::ends) {
    handle(SIGHUP);
  } else {
    std::signal(SIGHUP, SIG_IGN);
  }
}

int interrupted() { return g_signal; }

}  // namespace xferbench
