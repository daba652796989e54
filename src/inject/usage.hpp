// Samples counters of the operating system. Around copy calls: page faults and CPU time of the thread, bytes that the
// thread has read, and the mapped file from which a copy reads (recording::Usage). At the ends of ranges: those of the
// process (recording::ProcessUsage).
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "inject/recorder.hpp"

namespace xferbench::inject {

/// The first three arguments of the calls for which has_copy_arguments() is true. One of the pointers may be the GPU's.
struct CopyArguments {
  const void* destination = nullptr;
  const void* source = nullptr;
  std::size_t bytes = 0;
};
/// Arguments of cudaMemcpy() and cudaMemcpyAsync().
struct RuntimeCopyArguments {
  CopyArguments first{};
  std::int32_t kind = 0;  ///< cudaMemcpyKind
};
/// In bytes. Smaller copies are not sampled: they take less time than the sampling is worth.
inline constexpr std::size_t kLeastSampled = 64 << 10;
/// Whether a function of this name (plain_call_name()) has CopyArguments, as cudaMemcpy and cuMemcpyDtoHAsync do.
bool has_copy_arguments(std::string_view call);

/// Adds a record of the counters of the process (recording::ProcessUsage), unless the last one is younger than 0.1 ms.
void sample_process(Recorder& recorder) noexcept;

/// Cached list of the files that are mapped into this process. Thread-safe.
class MappedFiles {
 public:
  /// Returns the path of the file that is mapped at this address. Empty for other memory, deleted files, programs and
  /// their libraries, memory that is only called a file (/dev/shm, GPU memory), and while another thread reads the
  /// list.
  std::string at(const void* address, recording::Time time);

 private:
  struct Mapping {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    std::string file{};
  };
  void read(recording::Time time);

  std::mutex mutex_;
  recording::Time next_ = 0;       // time at which the list is read again
  std::vector<Mapping> mappings_;  // all, sorted by address
};

class UsageSampler {
 public:
  explicit UsageSampler(Recorder& recorder) : recorder_(recorder) {}

  /// Called on the calling thread when a copy call begins and ends. Calls within a sampled call are not sampled. Adds a
  /// record when a call ends that copies 64 KiB or more. `from_host`: the source may be memory of the host.
  void begin(std::uint32_t correlation, const CopyArguments& arguments, bool from_host) noexcept;
  void end(std::uint32_t correlation) noexcept;

 private:
  Recorder& recorder_;
  MappedFiles files_;
};

}  // namespace xferbench::inject
