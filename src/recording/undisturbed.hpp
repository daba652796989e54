// For code that lives in other people's programs and runs on their threads.
#pragma once

#include <cerrno>
#include <csignal>

#include <pthread.h>

namespace xferbench {

/// While one is there: no handler of the program's signals runs on this thread (one that calls exit() would come back
/// to us in the middle of what we do, and wait for our own locks), and nobody cancels the thread. Afterwards errno is
/// what it was. Signals that say that this very thread has gone wrong are not held back.
class Undisturbed {
 public:
  Undisturbed() noexcept : errno_(errno) {
    sigset_t others;
    sigfillset(&others);
    for (const int ours : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT}) sigdelset(&others, ours);
    pthread_sigmask(SIG_BLOCK, &others, &signals_);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling_);
  }
  Undisturbed(const Undisturbed&) = delete;
  Undisturbed& operator=(const Undisturbed&) = delete;
  ~Undisturbed() {
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
