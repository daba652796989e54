#include "app/explain/run_program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <system_error>

#include "core/clock.hpp"
#include "core/descriptor.hpp"
#include "core/error.hpp"
#include "core/non_copyable.hpp"

namespace xferbench::app {

namespace {

/// Runs in the child process. Restores SIGPIPE and SIGXFSZ, which ProcessSetup ignores, and executes the program.
[[noreturn]] void exec_program(std::vector<std::string> words, const Variables& variables, StandardOutput output,
                               const sigset_t& mask, int report) {
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_DFL);
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  if (output == StandardOutput::dropped) {
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);  // NOLINT(cppcoreguidelines-pro-type-vararg)
    if (nowhere >= 0) dup2(nowhere, STDOUT_FILENO);
  }
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execvp(argv.front(), argv.data());
  const int error = errno;
  static_cast<void>(::write(report, &error, sizeof error) == 0);
  _exit(127);  // exit code that shells use for a command that cannot be run
}

/// Returns the errno that the child writes to the pipe if exec fails; 0 if exec succeeded, which closes the pipe.
int exec_error(int pipe) {
  int error = 0;
  ssize_t got = 0;
  do {
    got = read(pipe, &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  return got == sizeof error ? error : 0;
}

sigset_t watched_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&signals, signal);
  return signals;
}

struct WaitResult {
  int status = 0;       ///< the child's wait status, from waitpid()
  int interrupted = 0;  ///< the first signal that asked this process to end
};

/// Calls sigtimedwait(). Stores the first signal that asks this process to end in `waited`, and returns the signal.
int take_signal(const sigset_t& signals, const timespec& timeout, siginfo_t& info, WaitResult& waited) {
  const int signal = sigtimedwait(&signals, &info, &timeout);
  if (signal > 0 && signal != SIGCHLD && waited.interrupted == 0) waited.interrupted = signal;
  return signal;
}

/// Waits for the child and forwards signals to it, except Ctrl-C: the terminal sends it to both processes.
WaitResult wait_for(pid_t child, const sigset_t& signals) {
  WaitResult waited;
  siginfo_t info{};
  // The loop checks at least this often whether the child has ended, because SIGCHLD may not arrive.
  constexpr timespec kTimeout{.tv_sec = 0, .tv_nsec = 200'000'000};
  for (;;) {
    const pid_t ended = waitpid(child, &waited.status, WNOHANG);
    if (ended == child) break;
    if (ended < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category(), "waiting for a program");
    const int signal = take_signal(signals, kTimeout, info, waited);
    const bool from_terminal = info.si_code == SI_KERNEL;
    if (signal > 0 && signal != SIGCHLD && !from_terminal) kill(child, signal);
  }
  // Discard signals for the program that arrive after its end. They would end this process when they are unblocked.
  while (take_signal(signals, {}, info, waited) > 0) {
  }
  return waited;
}

/// RAII guard that blocks the given signals, so that no handler runs and sigtimedwait() receives them.
class BlockedSignals : NonCopyable {
 public:
  explicit BlockedSignals(const sigset_t& signals) { sigprocmask(SIG_BLOCK, &signals, &before_); }
  ~BlockedSignals() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  [[nodiscard]] const sigset_t& before() const { return before_; }

 private:
  sigset_t before_{};
};

}  // namespace

ProgramEnd run_program(const std::vector<std::string>& words, const Variables& variables, StandardOutput output) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "making a pipe");
  const Descriptor from_child(ends[0]);
  Descriptor to_parent(ends[1]);
  // A parent may have set SIGCHLD to be ignored, and then the child's exit code would be lost.
  std::signal(SIGCHLD, SIG_DFL);
  const sigset_t signals = watched_signals();
  const BlockedSignals blocked(signals);
  ProgramEnd end{.begin = nanoseconds_of(CLOCK_MONOTONIC)};
  end.pid = fork();
  if (end.pid < 0) throw std::system_error(errno, std::generic_category(), "starting a program");
  if (end.pid == 0) exec_program(words, variables, output, blocked.before(), to_parent.number());
  to_parent = Descriptor();
  const int error = exec_error(from_child.number());
  const WaitResult waited = wait_for(end.pid, signals);
  end.end = nanoseconds_of(CLOCK_MONOTONIC);
  end.interrupted = waited.interrupted;
  if (error != 0) throw UsageError(fmt::format("cannot run {}: {}", words.front(), std::strerror(error)));
  if (WIFSIGNALED(waited.status)) {
    end.signal = WTERMSIG(waited.status);
  } else {
    end.exit_code = WEXITSTATUS(waited.status);
  }
  return end;
}

}  // namespace xferbench::app
