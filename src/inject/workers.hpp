// Samples the CPU time of this process and of the processes that it started, such as the workers of a data loader
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
  std::map<pid_t, std::uint64_t> children_;  // CPU time of each child process at the latest sample, in nanoseconds
  std::uint64_t cpu_of_children_ = 0;
};

}  // namespace xferbench::inject
