// Records a program's use of a simulated machine in the format that the injection library uses on a real one
// (recording/recording.hpp), so that analyses can be tested against known times. The recorder neither advances a clock
// nor enqueues anything.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
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

/// What a call waits for, or what it makes a stream wait for. Streams and events are identified by their address.
struct RecordedWait {
  recording::SyncKind kind = recording::SyncKind::unknown;
  unsigned gpu = 0;
  const void* stream = nullptr;
  const void* event = nullptr;
};

/// Records calls and operations from construction to destruction. Needs no lock, because simulated threads take turns.
class Recorder : NonCopyable {
 public:
  /// `profile` is the name or path that the user gave. Write errors are ignored.
  Recorder(const RecordingRequest& request, const SimHost& host, std::string_view profile);
  /// Omits operations that have not finished, as the recording of a real process does when the process exits.
  ~Recorder();

  void add_device(unsigned number, const Environment::Gpu& gpu);
  void add_stream(const void* stream, StreamKind kind, unsigned gpu);
  void enqueued(const Enqueued& enqueued);
  void event_recorded(const void* event, const void* stream);
  /// Begins or ends an NVTX range of the running thread; ranges nest.
  void begin_range(std::string_view name);
  void end_range();

 private:
  friend class RecordedCall;

  /// A call that a thread is currently inside, and the waits in it.
  struct OpenCall {
    recording::Call call;
    bool asynchronous = false;
    std::vector<recording::Synchronization> waits{};
  };
  /// An enqueued operation whose record still lacks its times.
  struct Pending {
    OperationPtr operation;
    recording::Type type;
    std::variant<recording::Copy, recording::Kernel, recording::Fill> record;
    double before = 0;  ///< launch overhead in seconds, which precedes the recorded beginning
  };
  struct StreamIdentity {
    std::uint32_t context = 0;
    std::uint32_t number = 0;
  };
  /// Number of an event, and of the latest cudaEventRecord of it.
  struct EventIdentity {
    std::uint32_t number = 0;
    std::uint64_t record = 0;
  };

  /// Begins the record of a call. Returns false if the thread is already inside another recorded call.
  bool begin_call(std::string_view name);
  void end_call(std::int32_t result);
  void add_wait(const RecordedWait& wait);

  [[nodiscard]] recording::Time now() const;
  [[nodiscard]] OpenCall* open_call();
  [[nodiscard]] recording::OnDevice on_device(const Enqueued& enqueued);
  [[nodiscard]] recording::Copy copy_of(const Enqueued& enqueued);
  void write_ended();
  /// Writes a record, or drops it if it begins outside of the requested time span.
  template <class Record>
  void write(recording::Type type, recording::Time begin, const Record& record);

  const SimHost& host_;
  RecordingWriter writer_;
  std::uint64_t most_ = 0;     // maximum number of records; 0: unlimited
  recording::Time from_ = 0;   // records that begin before this time are dropped
  recording::Time until_ = 0;  // records that begin after this time are dropped
  std::uint32_t correlation_ = 0;
  std::uint64_t event_records_ = 0;
  std::uint32_t streams_made_ = 0;
  std::map<std::uint32_t, OpenCall> open_;  // keyed by thread number
  std::map<std::uint32_t, std::vector<recording::Range>> ranges_;
  std::map<const void*, StreamIdentity> streams_;
  std::map<const void*, EventIdentity> events_;
  std::deque<Pending> pending_;  // in order of submission
};

/// Scope guard of one recorded CUDA call. A nested call counts as part of the outer one.
class RecordedCall : NonCopyable {
 public:
  /// `recorder` is null if nothing is recorded; `name` is empty if the scope is not a CUDA call.
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
