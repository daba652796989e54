// Entry points that the CUDA driver and NVTX call when a program first uses them, because environment variables name
// this library (CUDA_INJECTION64_PATH, NVTX_INJECTION64_PATH). Nothing here prints, throws or exits: on any failure
// the program continues as if the library were absent.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "inject/activities.hpp"
#include "inject/nvtx.hpp"
#include "inject/recorder.hpp"
#include "inject/workers.hpp"
#include "recording/signal_guard.hpp"

namespace xferbench::inject {

using recording::Time;

namespace {

/// Writes the last records. The flusher's thread and the exiting thread call it; only the first call has an effect.
void end_recording(Recorder& recorder) {
  static std::atomic_flag begun;
  if (!recorder.is_live() || begun.test_and_set()) return;
  write_open_ranges(recorder);
  recorder.stop(recording::EndReason::exit, now());
}

/// A background thread that makes CUPTI deliver completed records every half second, and samples CPU times.
class Flusher {
 public:
  Flusher(Recorder& recorder, Activities& activities)
      : recorder_(recorder), activities_(activities), workers_(recorder) {}

  /// Starts the thread, which blocks all signals, so that the program's own threads handle them.
  void start() {
    const SignalGuard guard;  // the new thread inherits the signal mask
    try {
      std::thread([this] { run(); }).detach();
      runs_ = true;
    } catch (const std::exception&) {  // without the thread, records are written when CUPTI's buffers are full
    }
  }

  /// Called at process exit: delivers all remaining records and ends the recording. The flusher's thread does the work,
  /// because the exiting thread may have been interrupted inside CUPTI or malloc by a signal handler that calls exit(),
  /// and would deadlock. Waits as long as new records arrive, and up to 3 s without any.
  void finish() {
    constexpr auto kTimeout = std::chrono::seconds(3);
    constexpr int kMostTimes = 20;  // limits the wait, because other threads may produce records for ever
    if (!runs_) return activities_.flush(true);
    std::unique_lock lock(mutex_);
    ends_ = true;
    wake_.notify_all();
    for (int i = 0; i < kMostTimes; ++i) {
      const std::uint64_t before = recorder_.writer().records();
      if (wake_.wait_for(lock, kTimeout, [this] { return ended_; })) return;
      if (recorder_.writer().records() == before) return;
    }
  }

 private:
  void run() {
    constexpr auto kPeriod = std::chrono::nanoseconds(kFlushPeriod);
    workers_.sample();
    std::unique_lock lock(mutex_);
    bool goes_on = true;
    while (goes_on && !wake_.wait_for(lock, kPeriod, [this] { return ends_; })) {
      lock.unlock();
      goes_on = flush_once();
      lock.lock();
    }
    lock.unlock();
    if (goes_on) {
      workers_.sample();
      activities_.flush(true);
      end_recording(recorder_);
    }
    lock.lock();
    ended_ = true;
    wake_.notify_all();
  }

  /// Writes all completed records. Returns false if the recording is over.
  bool flush_once() {
    // Continue for 2 s after the requested time, because CUPTI reports operations only after they have ended.
    constexpr Time kTimeout = 2'000'000'000;
    workers_.sample();
    activities_.flush(false);
    const bool can_write = recorder_.flush();
    const bool over = now() > recorder_.wanted().end() && now() - recorder_.wanted().end() > kTimeout;
    if (can_write && recorder_.is_live() && !over) return true;
    activities_.disable();
    activities_.flush(true);
    if (over) recorder_.stop(recording::EndReason::window, recorder_.wanted().end());
    return false;
  }

  Recorder& recorder_;
  Activities& activities_;
  WorkerSampler workers_;
  std::mutex mutex_;  // never held while calling CUPTI
  std::condition_variable wake_;
  bool runs_ = false;
  bool ends_ = false;
  bool ended_ = false;
};

/// Returns a reference to the pointer to the flusher, which is null if CUPTI is off. The flusher is never destroyed,
/// because its thread may outlive static destruction.
Flusher*& the_flusher() {
  static Flusher* one = nullptr;
  return one;
}

/// Exit handler that ends the recording. Does nothing in a forked child without a recorder.
void at_exit() {
  const SignalGuard guard;
  Recorder* const recorder = Recorder::instance();
  if (recorder == nullptr || !recorder->is_live()) return;
  if (the_flusher() != nullptr) the_flusher()->finish();
  end_recording(*recorder);  // has an effect only if there is no flusher, or the flusher did not finish
}

/// Starts recording with CUPTI. Then registers our exit handler again, so that it runs before the one that CUPTI
/// registers when it is loaded: exit handlers run in reverse order of registration. The second run of our handler has
/// no effect.
void record_cuda(Recorder& recorder) {
  recorder.expect_cupti();
  if (Activities* const activities = Activities::start(recorder)) {
    the_flusher() = new Flusher(recorder, *activities);  // NOLINT(cppcoreguidelines-owning-memory): never destroyed
    the_flusher()->start();
  }
  std::atexit(&at_exit);
}

}  // namespace

}  // namespace xferbench::inject

/// Called by the CUDA driver at its initialization, which ignores the return value.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  using namespace xferbench;
  const SignalGuard guard;
  static std::once_flag once;
  inject::Recorder* const recorder = inject::Recorder::instance();
  if (recorder == nullptr || recorder->request().only_ranges) return 1;
  try {
    std::call_once(once, [recorder] { inject::record_cuda(*recorder); });
  } catch (const std::exception&) {  // out of memory: the program continues without being recorded
  }
  return 1;
}

/// Called by NVTX at its first use, once per library that contains NVTX. Returns 0 to decline.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
  using namespace xferbench;
  const SignalGuard guard;
  try {
    if (inject::Recorder::instance() == nullptr) return 0;
    static std::once_flag once;
    std::call_once(once, [] { std::atexit(&inject::at_exit); });
    return inject::attach_nvtx(get_table) ? 1 : 0;
  } catch (const std::exception&) {
    return 0;
  }
}
