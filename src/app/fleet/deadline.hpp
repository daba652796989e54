// Whoever starts may hang in calls that never return, before there is anything that watches: in the driver, in MPI.
#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

namespace xferbench::app {

/// While it lives, the process ends with ExitCode::failed where a step takes too long, and says which one. A time in
/// which the whole process was stopped (Ctrl-Z) does not count.
class Deadline {
 public:
  /// `who`: "rank 3 on host a".
  explicit Deadline(std::string who);

  /// The step before has ended. `step`: "opening the GPU".
  void begin(const std::string& step, double seconds);

 private:
  void watch(const std::stop_token& stop);

  const std::string who_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::string step_;
  double limit_ = 0;
  double waited_ = 0;
  std::jthread thread_;  // ends before what it uses
};

}  // namespace xferbench::app
