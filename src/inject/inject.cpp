// What the driver and NVTX call when a program starts to use them, because the environment names this library
// (CUDA_INJECTION64_PATH, NVTX_INJECTION64_PATH). Nothing here prints, throws or ends the process: whatever goes wrong,
// the program goes on as if this were not there.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "inject/activities.hpp"
#include "inject/nvtx.hpp"
#include "inject/recorder.hpp"
#include "recording/undisturbed.hpp"

namespace xferbench::inject {

using recording::Time;

namespace {

/// Once, by whoever comes first: the thread below or the one that ends the process.
void end_recording(Recorder& recorder) {
  static std::atomic_flag begun;
  if (!recorder.is_live() || begun.test_and_set()) return;
  write_open_ranges(recorder);
  recorder.stop(recording::EndReason::exit, now());
}

/// Has CUPTI hand over what is complete, every half second, on a thread of its own.
class Flusher {
 public:
  Flusher(Recorder& recorder, Activities& activities) : recorder_(recorder), activities_(activities) {}

  /// All signals are the program's: its threads take them, not this one.
  void start() {
    const Undisturbed undisturbed;  // which the thread inherits
    try {
      std::thread([this] { run(); }).detach();
      runs_ = true;
    } catch (const std::exception&) {  // no more threads: what is recorded is written when CUPTI's buffers are full
    }
  }

  /// At the end of the process: has CUPTI hand over all there is, and ends the recording. By that thread, too: the one
  /// that ends the process may be in the middle of CUPTI or of malloc, interrupted by a signal whose handler calls
  /// exit(), and would wait for itself.
  /// While records come it is waited for, and some seconds without.
  void finish() {
    constexpr auto kPatience = std::chrono::seconds(3);
    constexpr int kMostTimes = 20;  // other threads may go on for ever
    if (!runs_) return activities_.flush(true);
    std::unique_lock lock(mutex_);
    ends_ = true;
    wake_.notify_all();
    for (int i = 0; i < kMostTimes; ++i) {
      const std::uint64_t before = recorder_.writer().records();
      if (wake_.wait_for(lock, kPatience, [this] { return ended_; })) return;
      if (recorder_.writer().records() == before) return;
    }
  }

 private:
  void run() {
    constexpr auto kPeriod = std::chrono::nanoseconds(kFlushPeriod);
    std::unique_lock lock(mutex_);
    bool goes_on = true;
    while (goes_on && !wake_.wait_for(lock, kPeriod, [this] { return ends_; })) {
      lock.unlock();
      goes_on = flush_once();
      lock.lock();
    }
    lock.unlock();
    if (goes_on) {
      activities_.flush(true);
      end_recording(recorder_);
    }
    lock.lock();
    ended_ = true;
    wake_.notify_all();
  }

  /// False where nothing is recorded any more.
  bool flush_once() {
    // Records of what began within the window come when it has ended.
    constexpr Time kPatience = 2'000'000'000;
    activities_.flush(false);
    const bool can_write = recorder_.flush();
    const bool over = now() > recorder_.wanted().end() && now() - recorder_.wanted().end() > kPatience;
    if (can_write && recorder_.is_live() && !over) return true;
    activities_.disable();
    activities_.flush(true);
    if (over) recorder_.stop(recording::EndReason::window, recorder_.wanted().end());
    return false;
  }

  Recorder& recorder_;
  Activities& activities_;
  std::mutex mutex_;  // never held where CUPTI is called
  std::condition_variable wake_;
  bool runs_ = false;
  bool ends_ = false;
  bool ended_ = false;
};

/// Null where CUPTI is not on. Never destroyed: its thread may outlive everything else.
Flusher*& the_flusher() {
  static Flusher* one = nullptr;
  return one;
}

/// In a child of fork there is nothing to end.
void at_exit() {
  const Undisturbed undisturbed;
  Recorder* const recorder = Recorder::instance();
  if (recorder == nullptr || !recorder->is_live()) return;
  if (the_flusher() != nullptr) the_flusher()->finish();
  end_recording(*recorder);  // where there is no such thread, or where CUPTI does not answer it
}

/// The last handler that is registered runs first. CUPTI registers its own when it is loaded: ours is registered anew
/// then, as it has to run before that, and does nothing the second time.
void record_cuda(Recorder& recorder) {
  recorder.expect_cupti();
  if (Activities* const activities = Activities::start(recorder)) {
    the_flusher() = new Flusher(recorder, *activities);  // NOLINT(cppcoreguidelines-owning-memory): see there
    the_flusher()->start();
  }
  std::atexit(&at_exit);
}

void record_ranges() {
  static std::once_flag once;
  std::call_once(once, [] { std::atexit(&at_exit); });
}

}  // namespace

}  // namespace xferbench::inject

/// By the driver, when it is initialised. What is returned is not looked at.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  using namespace xferbench;
  const Undisturbed undisturbed;
  static std::once_flag once;
  inject::Recorder* const recorder = inject::Recorder::instance();
  if (recorder == nullptr || recorder->request().only_ranges) return 1;
  try {
    std::call_once(once, [recorder] { inject::record_cuda(*recorder); });
  } catch (const std::exception&) {  // out of memory: nothing is recorded
  }
  return 1;
}

/// By NVTX, at its first call, of each library that has it. 0 where it is not to call us.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
  using namespace xferbench;
  const Undisturbed undisturbed;
  try {
    if (inject::Recorder::instance() == nullptr) return 0;
    inject::record_ranges();
    return inject::attach_nvtx(get_table) ? 1 : 0;
  } catch (const std::exception&) {
    return 0;
  }
}
