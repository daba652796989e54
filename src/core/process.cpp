#include "core/process.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <initializer_list>

namespace xferbench {

ProcessSetup::ProcessSetup() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) >= 0) continue;
    // The lowest free number is this one. Reading what cannot be read and writing what cannot be written fails.
    const int mode = descriptor == STDOUT_FILENO ? O_RDONLY : O_WRONLY;
    if (open("/dev/null", mode) < 0) continue;  // NOLINT(cppcoreguidelines-pro-type-vararg)
  }
  pipe_ends_it_ = std::signal(SIGPIPE, SIG_IGN) != SIG_IGN;
  std::signal(SIGXFSZ, SIG_IGN);
}

void ProcessSetup::end_by_closed_pipe() const {
  if (!pipe_ends_it_) return;
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
}

}  // namespace xferbench
