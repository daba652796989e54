// Recordings of a simple made-up machine: a test writes a program as a sequence of calls, and its times follow from
// known costs.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "explain/costs.hpp"
#include "recording/recording_writer.hpp"
#include "results/recording_file.hpp"

namespace xferbench {

/// A machine with one host thread and one GPU, which has one engine per direction and one for kernels. Times in
/// seconds.
class SyntheticRecording {
 public:
  using Memory = recording::Memory;
  using CopyKind = recording::CopyKind;
  using StreamFlag = recording::StreamFlag;

  SyntheticRecording();

  /// Host work of the program.
  void work(double seconds) { host_ += seconds; }
  std::uint32_t stream(StreamFlag flag);
  void copy(CopyKind kind, Memory host, std::uint64_t bytes, std::uint32_t stream, bool asynchronous = true);
  void kernel(std::string_view name, double seconds, std::uint32_t stream);
  void wait(std::uint32_t stream);
  void wait_device();
  void record(std::uint32_t event, std::uint32_t stream);
  void make_wait(std::uint32_t stream, std::uint32_t event);
  /// A call of that name with this duration and no other effect.
  void call(std::string_view name, double seconds);
  /// What the last call, a copy, and the thread before it did with memory and files.
  struct Did {
    std::uint64_t faults = 0;         // in the call
    std::uint64_t faults_before = 0;  // since the call before that has this
    std::uint64_t read_before = 0;    // bytes, likewise
    double cpu_before = 0;            // seconds, likewise
    std::string_view source_file{};
  };
  void usage(const Did& did);
  /// The program reads these bytes of a file, which takes so many seconds.
  void read(std::string_view file, std::uint64_t offset, std::uint64_t bytes, double seconds,
            std::uint64_t version = 0);
  /// Adds a sample of what so many child processes used until now: seconds of CPU time.
  void workers(double cpu, std::uint32_t count);
  /// Adds what the process has used until now.
  void process_usage(std::uint64_t faults, std::uint64_t read, std::uint64_t from_disk);
  void begin_range(std::string_view name);
  void end_range();
  /// The calls that follow come from this thread.
  void switch_thread(std::uint32_t thread) { thread_ = thread; }

  [[nodiscard]] double now() const { return host_; }
  [[nodiscard]] Recording finish();

  /// Seconds of one copy: pinned 50 GB/s and 1 us, pageable 10 GB/s and 8 us.
  static double copy_seconds(Memory host, std::uint64_t bytes);
  static explain::Costs costs();

 private:
  recording::Call& add_call(std::string_view name, double own);
  recording::OnDevice run(std::size_t engine, std::uint32_t stream, double seconds, double called);
  [[nodiscard]] recording::Time time(double seconds) const;
  recording::NameId name(std::string_view text);

  Recording recording_;
  double host_ = 0;
  std::uint32_t thread_ = 1;
  std::uint32_t correlation_ = 0;
  std::array<double, 3> engines_{};
  std::map<std::uint32_t, double> streams_;  // when the last operation of each stream ends
  std::map<std::uint32_t, StreamFlag> flags_;
  std::map<std::uint32_t, double> events_;
  std::map<std::uint32_t, double> held_;
  std::uint64_t faults_ = 100;
  std::uint64_t read_ = 5000;
  std::uint64_t cpu_ = 0;
};

/// Writes the recording into the folder as the injection library would, and then what `more` adds. Returns the file's
/// path.
std::string write_recording(const Recording& made, const std::filesystem::path& folder,
                            const std::function<void(RecordingWriter&)>& more = {});

}  // namespace xferbench
