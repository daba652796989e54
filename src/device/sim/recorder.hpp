// Writes down what a program does with a simulated machine, as the library for injection does with a real one
// (recording/recording.hpp): what is explained of it can be held against times that are known. Only listens: it neither
// moves a clock nor enqueues anything.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/environment.hpp"
#include "core/non_copyable.hpp"
#include "device/sim/enqueued.hpp"
#include "device/sim/sim_host.hpp"
#include "device/types.hpp"
#include "recording/recording_request.hpp"
#include "recording/recording_writer.hpp"

namespace xferbench::sim {

/// What a call waits for, or has a stream wait for. Streams and events are told apart by where they are.
struct RecordedWait {
  recording::SyncKind kind = recording::SyncKind::unknown;
  unsigned gpu = 0;
  const void* stream = nullptr;
  const void* event = nullptr;
};

/// From its making to its end. Simulated threads take turns, so it needs no lock.
class Recorder : NonCopyable {
 public:
  /// `profile`: as it was asked for. Where nothing can be written, nothing is.
  Recorder(const RecordingRequest& request, const SimHost& host, std::string_view profile);
  /// What has not ended by now is left out, as of any process that ends.
  ~Recorder();

  void add_device(unsigned number, const Environment::Gpu& gpu);
  void add_stream(const void* stream, StreamKind kind, unsigned gpu);
  void enqueued(const Enqueued& enqueued);
  /// The event was recorded in the stream by the call that is being made.
  void event_recorded(const void* event, const void* stream);
  /// Of the running thread; they nest.
  void begin_range(std::string_view name);
  void end_range();

 private:
  friend class RecordedCall;

  /// Of a thread that is in it.
  struct OpenCall {
    recording::Call call;
    bool asynchronous = false;
    std::vector<recording::Synchronization> waits{};
  };
  /// What an operation will be once it has its times.
  struct Pending {
    OperationPtr operation;
    recording::Type type;
    std::variant<recording::Copy, recording::Kernel, recording::Fill> record;
    double before = 0;  ///< seconds of its engine's time in which it does not run yet
  };
  struct StreamOf {
    std::uint32_t context = 0;
    std::uint32_t number = 0;
  };
  /// An event's number, and that of its last record.
  struct EventOf {
    std::uint32_t number = 0;
    std::uint64_t record = 0;
  };

  /// False within another call of the thread.
  bool begin_call(std::string_view name);
  void end_call(std::int32_t result);
  void add_wait(const RecordedWait& wait);

  [[nodiscard]] recording::Time now() const;
  [[nodiscard]] OpenCall* open_call();
  [[nodiscard]] recording::OnDevice on_device(const Enqueued& enqueued);
  [[nodiscard]] recording::Copy copy_of(const Enqueued& enqueued);
  void write_what_has_ended();
  /// Unless it begins outside of what was asked for.
  template <class Record>
  void write(recording::Type type, recording::Time begin, const Record& record);

  const SimHost& host_;
  RecordingWriter writer_;
  std::uint64_t most_ = 0;     // records; 0: any number
  recording::Time from_ = 0;   // what began before is left out, ...
  recording::Time until_ = 0;  // ... and what begins behind it
  std::uint32_t correlation_ = 0;
  std::uint64_t event_records_ = 0;
  std::uint32_t streams_made_ = 0;
  std::map<std::uint32_t, OpenCall> open_;  // by thread
  std::map<std::uint32_t, std::vector<recording::Range>> ranges_;
  std::map<const void*, StreamOf> streams_;
  std::map<const void*, EventOf> events_;
  std::deque<Pending> pending_;  // in the order in which they were enqueued
};

/// A call of CUDA, from here to the end of the scope. A call within another one is part of it.
class RecordedCall : NonCopyable {
 public:
  /// `recorder`: none where nobody asked for a recording. `name`: none of what is no call of CUDA.
  RecordedCall(Recorder* recorder, std::string_view name);
  ~RecordedCall();

  void waits(const RecordedWait& wait) const {
    if (recorder_ != nullptr) recorder_->add_wait(wait);
  }

 private:
  Recorder* recorder_;
  int exceptions_ = 0;
};

}  // namespace xferbench::sim
