#include "inject/recorder.hpp"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <memory>
#include <sstream>

#include "core/clock.hpp"
#include "core/own_process.hpp"
#include "version.hpp"

namespace xferbench::inject {

using recording::Time;

namespace {

/// Reads a /proc file, whose size is not known before it is read.
std::string text_of(const char* path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Returns the start time of this process in nanoseconds of CLOCK_MONOTONIC; 0 if it cannot be read. /proc/self/stat
/// gives it in ticks since boot, in a field after the process name, which may contain blanks and parentheses (proc(5)).
Time process_begin() {
  const std::string stat = text_of("/proc/self/stat");
  std::istringstream fields(stat.substr(std::min(stat.rfind(')') + 1, stat.size())));
  std::string field;
  constexpr int kStartTime = 22 - 2;  // the first two fields are the PID and the name
  for (int i = 0; i < kStartTime; ++i) fields >> field;
  const long ticks = std::atol(field.c_str());
  const long per_second = sysconf(_SC_CLK_TCK);
  if (ticks <= 0 || per_second <= 0) return 0;
  const Time since_boot = static_cast<Time>(ticks) * (1'000'000'000 / static_cast<Time>(per_second));
  const Time asleep = nanoseconds_of(CLOCK_BOOTTIME) - nanoseconds_of(CLOCK_MONOTONIC);
  return since_boot > asleep ? since_boot - asleep : 0;
}

/// Returns the start time of the program that runs in this process. `number` is 1, and increases with each exec. After
/// an exec the system still reports the start of the process, so the time of loading this library is used.
Time begin_of_life(int number) {
  const Time loaded = now();
  const Time started = number > 1 ? 0 : process_begin();
  return started > 0 && started < loaded ? started : loaded;
}

/// State of the recorder in one process; a forked child gets a new one.
struct ProcessState {
  std::once_flag begun;
  std::atomic<Recorder*> recorder = nullptr;
  bool is_barred = false;
};

/// Returns the pointer to the global state. The state is global because callbacks carry no context. Never destroyed.
ProcessState*& life() {
  static ProcessState* one = new ProcessState;  // NOLINT(cppcoreguidelines-owning-memory): never destroyed
  return one;
}

std::uint32_t& known_thread() {
  thread_local std::uint32_t thread = 0;
  return thread;
}

}  // namespace

Time now() noexcept { return nanoseconds_of(CLOCK_MONOTONIC); }

std::uint32_t this_thread() noexcept {
  std::uint32_t& thread = known_thread();
  if (thread == 0) thread = static_cast<std::uint32_t>(syscall(SYS_gettid));  // NOLINT: glibc 2.29 has no gettid
  return thread;
}

// --- Time filter ----------------------------------------------------------------------------------------------------

WantedTime::WantedTime(const RecordingRequest& request, Time process_begin) {
  const auto nanoseconds = [](double seconds) { return static_cast<Time>(seconds * 1e9); };
  if (request.from > 0) begin_ = process_begin + nanoseconds(request.from);
  if (request.seconds) end_ = std::max(begin_, process_begin) + nanoseconds(*request.seconds);
  if (request.range) by_range_ = ~Time{0};
}

void WantedTime::open(Time begin) {
  Time first = by_range_;
  while (begin < first && !by_range_.compare_exchange_weak(first, begin)) {
  }
}

bool WantedTime::has(Time begin) const { return begin >= begin_ && begin <= end_ && begin >= by_range_; }

// --- The recorder ---------------------------------------------------------------------------------------------------

Recorder* Recorder::instance() {
  ProcessState& own = *life();
  std::call_once(own.begun, [&own] {
    if (!own.is_barred) own.recorder = make();
  });
  return own.recorder;
}

Recorder* Recorder::existing() { return life()->recorder; }

/// Called in a forked child. If the parent has enabled CUPTI, the child inherits CUPTI's state but not its threads, so
/// it must not call CUPTI.
void Recorder::begin_child() {
  const bool is_barred = life()->is_barred || (existing() != nullptr && existing()->has_cupti_);
  life() = new ProcessState;  // the old state is not freed, because its lock may be held for ever
  life()->is_barred = is_barred;
  known_thread() = 0;
}

Recorder* Recorder::make() {
  try {
    std::optional<RecordingRequest> request = recording_request(&std::getenv);
    if (!request) return nullptr;
    auto recorder = std::make_unique<Recorder>(std::move(*request));
    if (recorder->writer().error() != 0) return nullptr;  // without a file, not even the error can be reported
    static std::once_flag once;
    std::call_once(once, [] { pthread_atfork(nullptr, nullptr, &Recorder::begin_child); });
    return recorder.release();       // never destroyed
  } catch (const std::exception&) {  // out of memory: nothing is recorded
    return nullptr;
  }
}

Recorder::Recorder(RecordingRequest request)
    : request_(std::move(request)),
      writer_(request_.folder, static_cast<std::uint32_t>(getpid())),
      begin_(begin_of_life(writer_.number())),
      wanted_(request_, begin_) {
  writer_.add(recording::Type::process, recording::Process{.pid = static_cast<std::uint32_t>(getpid()),
                                                           .parent = static_cast<std::uint32_t>(getppid()),
                                                           .begin = begin_,
                                                           .loaded = now(),
                                                           .clock = nanoseconds_of(CLOCK_REALTIME),
                                                           .executable = writer_.name(own_executable()),
                                                           .command = writer_.name(own_command()),
                                                           .tool = writer_.name(build::kVersion)});
  flush();
}

bool Recorder::flush() noexcept {
  flushed_ = now();
  return writer_.flush();
}

void Recorder::flush_if_due() noexcept {
  if (now() - flushed_ >= kFlushPeriod) flush();
}

void Recorder::count_lost(std::uint64_t records) { writer_.add(recording::Type::lost, recording::Lost{records, 0}); }

void Recorder::note(std::string_view text, bool failure) {
  writer_.add(recording::Type::note, recording::Note{writer_.name(text), failure ? 1U : 0U});
  flush();
}

void Recorder::stop_if_full() {
  if (request_.max_records > 0 && writer_.records() >= request_.max_records)
    stop(recording::EndReason::max_records, now());
}

void Recorder::stop(recording::EndReason reason, Time time) {
  if (!live_.exchange(false)) return;
  writer_.end({.time = time, .reason = reason});
}

}  // namespace xferbench::inject
