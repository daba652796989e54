// What the driver and NVTX call when a program starts to use them, because the environment names this library
// (CUDA_INJECTION64_PATH, NVTX_INJECTION64_PATH). Nothing here prints, throws or ends the process: whatever goes wrong,
// the program goes on as if this were not there.
#include <pthread.h>

#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "inject/activities.hpp"
#include "inject/nvtx.hpp"
#include "inject/recorder.hpp"

namespace xferbench::inject {

namespace {

/// Hands over what is complete every half second, so that a process that is killed leaves what it did until then.
class Flusher {
 public:
  /// All signals are the program's: its threads take them, not this one.
  void start() {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      std::thread([this] { run(); }).detach();
    } catch (const std::exception&) {  // no more threads: what is recorded is written when buffers are full
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  /// Returns when it does not run any more.
  void stop() {
    const std::lock_guard running(running_);
    stopped_ = true;
  }

 private:
  void run() {
    constexpr auto kPeriod = std::chrono::milliseconds(500);
    for (;;) {
      std::this_thread::sleep_for(kPeriod);
      const std::lock_guard running(running_);
      if (stopped_) return;
      flush_once();
    }
  }

  static void flush_once() {
    Recorder* const recorder = Recorder::instance();
    Activities* const activities = Activities::instance();
    if (recorder == nullptr) return;
    if (activities != nullptr) {
      activities->flush(false);
      if (recorder->wanted().is_over(now())) recorder->stop(recording::EndReason::window);
      if (!recorder->is_live()) activities->disable();
    }
    recorder->writer().flush();
  }

  std::mutex running_;
  bool stopped_ = false;
};

/// Never destroyed: its thread may outlive everything else.
Flusher& flusher() {
  static auto* const one = new Flusher;  // NOLINT(cppcoreguidelines-owning-memory): see above
  return *one;
}

void at_exit() {
  Recorder* const recorder = Recorder::instance();
  if (recorder == nullptr) return;
  flusher().stop();
  if (Activities* const activities = Activities::instance()) activities->finish();
  write_open_ranges(*recorder);
  recorder->stop(recording::EndReason::exit);
}

/// What the first of the entry points does. CUPTI is loaded before the handler is registered, so that its own run
/// after this one.
void start_once(bool with_cuda) {
  static std::once_flag cuda;
  static std::once_flag handler;
  Recorder* const recorder = Recorder::instance();
  if (recorder == nullptr) return;
  if (with_cuda && !recorder->request().only_ranges) std::call_once(cuda, [recorder] { Activities::start(*recorder); });
  std::call_once(handler, [] {
    std::atexit(&at_exit);
    flusher().start();
  });
}

}  // namespace

}  // namespace xferbench::inject

/// By the driver, when it is initialised. What is returned is not looked at.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  try {
    xferbench::inject::start_once(true);
  } catch (const std::exception&) {  // out of memory: nothing is recorded
  }
  return 1;
}

/// By NVTX, at its first call. 0 where it is not to call us.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
  try {
    if (xferbench::inject::Recorder::instance() == nullptr) return 0;
    xferbench::inject::start_once(false);
    return xferbench::inject::attach_nvtx(get_table) ? 1 : 0;
  } catch (const std::exception&) {
    return 0;
  }
}
