// Samples the CPU time of the processes that this one started, such as the workers of a data loader
// (recording::Workers).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>

#include "inject/recorder.hpp"

namespace xferbench::inject {

class WorkerSampler {
 public:
  explicit WorkerSampler(Recorder& recorder) : recorder_(recorder) {}

  /// Adds a record. Not thread-safe.
  void sample() noexcept;

 private:
  Recorder& recorder_;
  std::map<pid_t, std::uint64_t> children_;  // CPU time of each child process when it was last seen, in nanoseconds
  std::uint64_t cpu_ = 0;                    // CPU time of all child processes, in nanoseconds
};

}  // namespace xferbench::inject
