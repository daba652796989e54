// Shows the progress of a run on standard error: on a terminal one line that changes, with --progress plain one line
// for each case.
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "measure/sampler.hpp"
#include "run/tuner.hpp"

namespace xferbench::cli {

class Progress : NonCopyable {
 public:
  /// With `automatic`, nothing is shown unless standard error is a terminal. Every case is measured in `turns` passes.
  Progress(ProgressMode mode, std::size_t cases, std::size_t turns = 1);
  ~Progress() { clear(); }

  /// `index` is the number of the case and `turn` that of the pass over the cases, both from 0.
  void begin(std::size_t index, std::size_t turn, const Case& config);
  void sampled(const SamplingProgress& progress);
  /// `headline` is the main measurement of the result, or null if it has none.
  void done(std::size_t index, const Result& result, const Measurement* headline);
  void tuning(const TuneProgress& progress);
  /// Clears the progress line and prints messages.
  void tell(const std::vector<std::string>& news);
  /// Clears the progress line, so that something else can be printed.
  void clear() noexcept;

 private:
  using Time = std::chrono::steady_clock::time_point;

  /// Returns for example "about 40 s left, "; empty if the remaining time cannot be estimated yet.
  [[nodiscard]] std::string time_left() const;
  void show(const std::string& text);
  /// Returns whether the progress line may be updated, because the last update is long enough ago.
  bool due();

  bool on_terminal_;
  bool plain_;
  std::size_t cases_;
  std::size_t turns_;
  std::size_t turns_done_ = 0;  // number of finished measurements; each pass measures every case once
  std::string where_;           // number of the current case and of all cases, for example "[3/12]"
  std::string key_;
  std::atomic<bool> shown_ = false;  // atomic because the watchdog thread also clears the line
  Time begun_;
  Time last_{};
};

}  // namespace xferbench::cli
