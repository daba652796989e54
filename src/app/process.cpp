#include "app/process.hpp"

#include <cxxabi.h>
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <exception>
#include <initializer_list>
#include <new>
#include <typeinfo>

#include "core/error.hpp"
#include "core/standard_error.hpp"

namespace xferbench {

namespace {

/// Returns a reference to the flag that says whether an allocation of this thread has ever failed.
bool& allocation_failed() {
  thread_local bool refused = false;
  return refused;
}

[[noreturn]] void note_and_throw() {
  allocation_failed() = true;
  throw std::bad_alloc();
}

/// Returns whether the program ends because of std::bad_alloc. If optimized code inlines a noexcept function, the type
/// of an exception that leaves the function cannot be read; then a failed allocation of this thread is the only
/// evidence.
bool is_out_of_memory() {
  const std::type_info* caught = abi::__cxa_current_exception_type();
  if (caught != nullptr) return *caught == typeid(std::bad_alloc);
  return std::uncaught_exceptions() > 0 && allocation_failed();
}

/// The terminate handler. It is needed because main cannot catch std::bad_alloc from an allocation in a noexcept
/// function of a library (such as CLI11's get_option_no_throw).
[[noreturn]] void exit_out_of_memory() {
  if (!is_out_of_memory()) {
    __gnu_cxx::__verbose_terminate_handler();
    std::abort();
  }
  tell("out of memory");
  _exit(static_cast<int>(ExitCode::usage));
}

}  // namespace

ProcessSetup::ProcessSetup() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) >= 0) continue;
    // open() returns the lowest free descriptor number, which is `descriptor`. The file is opened in the wrong mode on
    // purpose, so that every use of the missing descriptor fails.
    const int mode = descriptor == STDOUT_FILENO ? O_RDONLY : O_WRONLY;
    if (open("/dev/null", mode) < 0) continue;  // NOLINT(cppcoreguidelines-pro-type-vararg)
  }
  pipe_ends_it_ = std::signal(SIGPIPE, SIG_IGN) != SIG_IGN;
  std::signal(SIGXFSZ, SIG_IGN);
  std::set_new_handler(note_and_throw);
  std::set_terminate(exit_out_of_memory);
}

void ProcessSetup::end_by_closed_pipe() const {
  if (!pipe_ends_it_) return;
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
}

}  // namespace xferbench
