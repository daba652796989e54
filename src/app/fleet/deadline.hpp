// A time limit for start-up steps that may hang (in the driver, in MPI) before the watchdog runs.
#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

namespace xferbench::app {

/// While it lives, a step that takes too long ends the process with ExitCode::failed and a message that names the step.
/// Time in which the whole process was stopped (Ctrl-Z) does not count.
class Deadline {
 public:
  /// `who` begins the message, for example "rank 3 on host a".
  explicit Deadline(std::string who);

  /// Ends the previous step and begins the next one, whose limit is `seconds`. `step`: for example "opening the GPU".
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
