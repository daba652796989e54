// How far a run is, on standard error: a line that changes on a terminal, or a line for each case where that was asked
// for.
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "measure/sampler.hpp"
#include "run/tuner.hpp"

namespace xferbench::cli {

class Progress {
 public:
  /// `automatic` is silent unless standard error is a terminal. Every case comes `turns` times.
  Progress(ProgressMode mode, std::size_t cases, std::size_t turns = 1);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }

  void begin(std::size_t index, std::size_t turn, const Case& config);
  void sampled(const SamplingProgress& progress);
  void done(std::size_t index, const Result& result, const Measurement* headline);
  void tuning(const TuneProgress& progress);
  /// Says something in between.
  void tell(const std::vector<std::string>& news);
  /// Wipes the line, so that something else can be printed.
  void clear() noexcept;

 private:
  using Time = std::chrono::steady_clock::time_point;

  /// "about 40 s left, " once there is something to judge by.
  [[nodiscard]] std::string time_left() const;
  void show(const std::string& text);
  /// Whether the line was written so long ago that it may change again.
  bool due();

  bool on_terminal_;
  bool plain_;
  std::size_t cases_;
  std::size_t turns_;
  std::size_t turns_done_ = 0;  // cases of all turns
  std::string where_;           // "[3/12]"
  std::string key_;
  std::atomic<bool> shown_ = false;  // a watchdog clears the line, too
  Time begun_;
  Time last_{};
};

}  // namespace xferbench::cli
