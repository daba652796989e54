// The recorder of one process: what the entry points of the library share.
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

/// A process that is killed loses what it did since then, at the most.
inline constexpr recording::Time kFlushPeriod = 500'000'000;

/// Nanoseconds of CLOCK_MONOTONIC.
recording::Time now() noexcept;
/// As the records of calls have it, too.
std::uint32_t this_thread() noexcept;

/// Which records are wanted, by when they began.
class WantedTime {
 public:
  WantedTime(const RecordingRequest& request, recording::Time process_begin);

  /// A range that was asked for by its name begins. From the first of them on everything is wanted: nobody knows which
  /// is the last, and what is done between them belongs to the stretch from the first to the last.
  void open(recording::Time begin);
  [[nodiscard]] bool has(recording::Time begin) const;
  /// After it nothing is wanted.
  [[nodiscard]] recording::Time end() const { return end_; }

 private:
  recording::Time begin_ = 0;
  recording::Time end_ = ~recording::Time{0};
  std::atomic<recording::Time> by_range_ = 0;  // from then on; the end of time until the first range has begun
};

/// One for the process, from the first entry point that the driver or NVTX calls to its end: their callbacks carry no
/// context. Never destroyed, since threads of CUPTI and of the program may outlive everything else.
class Recorder {
 public:
  /// Null where nobody asks for a recording, or where this is a child of fork whose parent uses CUDA, which is not to
  /// use it. Other children have recorders of their own.
  static Recorder* instance();

  explicit Recorder(RecordingRequest request);

  [[nodiscard]] const RecordingRequest& request() const { return request_; }
  RecordingWriter& writer() { return writer_; }
  WantedTime& wanted() { return wanted_; }

  /// Whether records are still taken.
  [[nodiscard]] bool is_live() const { return live_; }
  /// CUPTI is about to be turned on.
  void expect_cupti() { has_cupti_ = true; }
  /// Adds a record that is wanted at any time, because others are of no use without.
  template <class Record>
  void add(recording::Type type, const Record& record) {
    if (!live_) return;
    writer_.add(type, record);
    stop_if_full();
  }
  /// Adds a record that began then, if it is wanted.
  template <class Record>
  void add(recording::Type type, recording::Time begin, const Record& record) {
    if (wanted_.has(begin)) add(type, record);
  }
  /// So many records are missing.
  void lose(std::uint64_t records);
  /// A sentence for the reader.
  void note(std::string_view text, bool failure);
  /// Appends what has been gathered. False where the file cannot be written any more.
  bool flush() noexcept;
  /// The same, if that is some time ago: where no thread does it.
  void flush_if_due() noexcept;
  /// The last thing that is written; nothing where that has happened already.
  void stop(recording::EndReason reason, recording::Time time);

 private:
  void stop_if_full();
  static Recorder* make();
  static void begin_child();

  RecordingRequest request_;
  RecordingWriter writer_;
  recording::Time begin_;  // of the process
  WantedTime wanted_;
  std::atomic<recording::Time> flushed_ = 0;
  std::atomic<bool> live_ = true;
  std::atomic<bool> has_cupti_ = false;
};

}  // namespace xferbench::inject
