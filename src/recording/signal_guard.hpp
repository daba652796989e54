// An RAII guard against signals, for code that runs on the threads of other programs.
#pragma once

#include <cerrno>
#include <csignal>

#include <pthread.h>

#include "core/non_copyable.hpp"

namespace xferbench {

/// While this object exists, none of the program's signal handlers runs on this thread, and the thread cannot be
/// cancelled. Otherwise a handler that calls exit() could enter our code again and wait for a lock that this thread
/// holds. The destructor restores errno. Signals that report an error of this thread (SIGSEGV) are not blocked.
class SignalGuard : NonCopyable {
 public:
  SignalGuard() noexcept : errno_(errno) {
    sigset_t others;
    sigfillset(&others);
    for (const int ours : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT}) sigdelset(&others, ours);
    pthread_sigmask(SIG_BLOCK, &others, &signals_);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling_);
  }
  ~SignalGuard() {
    int ours = 0;
    pthread_setcancelstate(cancelling_, &ours);
    pthread_sigmask(SIG_SETMASK, &signals_, nullptr);
    errno = errno_;
  }

 private:
  int errno_;
  int cancelling_ = PTHREAD_CANCEL_ENABLE;
  sigset_t signals_{};
};

}  // namespace xferbench
