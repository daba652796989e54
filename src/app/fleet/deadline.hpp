// A time limit for start-up steps that may hang (in the driver, in MPI) before the watchdog runs.
#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

namespace xferbench::app {

/// Ends the process with ExitCode::failed and a message that names the current step if the step takes too long. Time in
/// which the whole process was stopped (Ctrl-Z) does not count. The destructor ends the supervision.
class Deadline {
 public:
  /// `who` is the name with which the message begins, for example "rank 3 on host a".
  explicit Deadline(std::string who);

  /// Ends the previous step and begins the next one, which may take `seconds`. `step` is the name of the step in the
  /// message, for example "opening the GPU".
  void begin(const std::string& step, double seconds);

 private:
  void watch(const std::stop_token& stop);

  const std::string who_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::string step_;
  double limit_ = 0;
  double waited_ = 0;
  std::jthread thread_;  // the last member, so that it is joined before the others are destroyed
};

}  // namespace xferbench::app
