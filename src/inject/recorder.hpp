// The recorder of one process, which all entry points of the injection library use.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recording/recording_request.hpp"
#include "recording/recording_writer.hpp"

namespace xferbench::inject {

/// Flush interval in nanoseconds: a killed process loses at most this much of its recording.
inline constexpr recording::Time kFlushPeriod = 500'000'000;

/// Returns the time in nanoseconds of CLOCK_MONOTONIC.
recording::Time now() noexcept;
/// Returns the Linux thread ID (gettid), which CUPTI's records of calls also contain.
std::uint32_t this_thread() noexcept;

/// A filter that selects records by the time at which they began.
class WantedTime {
 public:
  WantedTime(const RecordingRequest& request, recording::Time process_begin);

  /// Called when the requested NVTX range begins. Everything from its first occurrence on is recorded, because the last
  /// occurrence is not known in advance, and the time between occurrences is analysed, too.
  void open(recording::Time begin);
  /// Whether a range is requested that has not begun yet.
  [[nodiscard]] bool awaits_range() const { return by_range_ == ~recording::Time{0}; }
  [[nodiscard]] bool has(recording::Time begin) const;
  /// Returns the time after which nothing is recorded.
  [[nodiscard]] recording::Time end() const { return end_; }

 private:
  recording::Time begin_ = 0;
  recording::Time end_ = ~recording::Time{0};
  /// Start time of the first requested NVTX range; the largest Time until the range begins; 0: no range is requested.
  std::atomic<recording::Time> by_range_ = 0;
};

/// Writes the recording of this process. It is a singleton, because the callbacks of driver and NVTX carry no context.
/// Never destroyed, because threads of CUPTI and of the program may outlive static destruction.
class Recorder {
 public:
  /// Returns the recorder. Returns null if no recording was requested, or in a forked child whose parent uses CUDA,
  /// because such a child must not use CUDA. Other forked children get a recorder of their own.
  static Recorder* instance();
  /// Returns the recorder if instance() has made one in this process, else null.
  static Recorder* existing();

  explicit Recorder(RecordingRequest request);

  [[nodiscard]] const RecordingRequest& request() const { return request_; }
  RecordingWriter& writer() { return writer_; }
  WantedTime& wanted() { return wanted_; }

  [[nodiscard]] bool is_live() const { return live_; }
  /// Records that this process uses CUPTI, so that forked children do not use it. Call it before CUPTI is enabled.
  void expect_cupti() { has_cupti_ = true; }
  /// Adds a record regardless of its time. Used for records to which other records refer.
  template <class Record>
  void add(recording::Type type, const Record& record) {
    if (!live_) return;
    writer_.add(type, record);
    stop_if_full();
  }
  /// Adds a record if its start time is within the requested time.
  template <class Record>
  void add(recording::Type type, recording::Time begin, const Record& record) {
    if (wanted_.has(begin)) add(type, record);
  }
  void count_lost(std::uint64_t records);
  /// Adds a sentence that is shown to the user.
  void note(std::string_view text, bool failure);
  /// Writes buffered records to the file. Returns false if the file can no longer be written.
  bool flush() noexcept;
  /// Flushes if the last flush is at least kFlushPeriod ago. Used if there is no flusher thread.
  void flush_if_due() noexcept;
  /// Writes the end record and stops recording. Has no effect if recording has already stopped.
  void stop(recording::EndReason reason, recording::Time time);

 private:
  void stop_if_full();
  static Recorder* make();
  static void begin_child();

  RecordingRequest request_;
  RecordingWriter writer_;
  recording::Time begin_;  // start time of this program
  WantedTime wanted_;
  std::atomic<recording::Time> flushed_ = 0;
  std::atomic<bool> live_ = true;
  std::atomic<bool> has_cupti_ = false;
};

}  // namespace xferbench::inject
