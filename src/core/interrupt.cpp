#include "core/interrupt.hpp"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <stop_token>
#include <string_view>
#include <utility>

#include "core/clock.hpp"

namespace xferbench {

namespace {

/// The signal that has arrived (0: none), and its time in milliseconds of CLOCK_MONOTONIC.
struct alignas(8) Asked {  // 8-byte alignment makes the atomic lock-free
  int signal = 0;
  unsigned at = 0;
};

// A signal handler can reach only objects with static storage duration; this one is the only mutable global of the
// program. It is atomic because the handler may run on any thread, and lock-free because signal handlers require that.
std::atomic<Asked> g_asked{};
static_assert(std::atomic<Asked>::is_always_lock_free);

unsigned milliseconds_now() { return static_cast<unsigned>(nanoseconds_of(CLOCK_MONOTONIC) / 1'000'000); }

/// Handles SIGTERM after a first signal. Ends the process, unless the first signal was SIGTERM less than a second ago.
extern "C" void on_further_sigterm(int) {
  constexpr unsigned kSame = 1000;  // milliseconds within which two SIGTERMs count as one
  const Asked first = g_asked;
  if (first.signal == SIGTERM && milliseconds_now() - first.at < kSame) return;
  std::signal(SIGTERM, SIG_DFL);
  raise(SIGTERM);
}

extern "C" void on_signal(int signal) {
  g_asked = {signal, milliseconds_now()};
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, on_further_sigterm);
  if (signal == SIGHUP) std::signal(SIGHUP, SIG_DFL);
}

/// Writes to standard error, using only functions that are allowed in a signal handler. Drops the text if the write
/// would block, as in a paused terminal.
void say(std::string_view text) {
  const int before = errno;
  pollfd error{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  if (poll(&error, 1, 0) == 1 && (error.revents & POLLOUT) != 0) {
    // Ignore a failed write, because a signal handler cannot report it.
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
  }
  errno = before;
}

constexpr std::string_view kAcknowledged = "\nxferbench: stopping after this pass; press Ctrl-C again to stop now\n";

extern "C" void on_signal_in_words(int signal) {
  say(kAcknowledged.substr(1));
  on_signal(signal);
}

/// Signal handler if standard error is a terminal. The message starts with a line break, because the terminal shows ^C
/// or an unfinished progress line.
extern "C" void on_signal_at_terminal(int signal) {
  say(kAcknowledged);
  on_signal(signal);
}

using Handler = void (*)(int);

/// Installs a signal handler. Signals that the parent set to be ignored (nohup, background jobs) stay ignored.
void handle(int signal, Handler handler) {
  if (std::signal(signal, handler) == SIG_IGN) std::signal(signal, SIG_IGN);
}

}  // namespace

void install_interrupt_handlers(HangUp hang_up, Acknowledge acknowledge) {
  const Handler in_words = isatty(STDERR_FILENO) == 1 ? on_signal_at_terminal : on_signal_in_words;
  const Handler handler = acknowledge == Acknowledge::yes ? in_words : on_signal;
  handle(SIGINT, handler);
  handle(SIGTERM, handler);
  if (hang_up == HangUp::ends) {
    handle(SIGHUP, handler);
  } else {
    std::signal(SIGHUP, SIG_IGN);
  }
}

int interrupted() { return g_asked.load().signal; }

SavedSignalHandlers::SavedSignalHandlers() {
  std::array<std::pair<int, struct sigaction>, 2> kept{{{SIGINT, {}}, {SIGTERM, {}}}};
  for (auto& [signal, action] : kept) sigaction(signal, nullptr, &action);
  thread_ = std::jthread([kept](const std::stop_token& stop) {
    for (; !stop.stop_requested(); std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
      // after the first signal, keep the handlers that on_signal() has installed for the second one
      if (interrupted() != 0) continue;
      for (const auto& [signal, action] : kept) sigaction(signal, &action, nullptr);
    }
  });
}

}  // namespace xferbench
