// Progress of a run on standard error: one line that changes on a terminal, or with --progress plain a line for each
// case.
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
  /// `automatic` is silent unless standard error is a terminal. Every case is visited `turns` times.
  Progress(ProgressMode mode, std::size_t cases, std::size_t turns = 1);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }

  /// `index` counts the cases, `turn` the turns, from 0.
  void begin(std::size_t index, std::size_t turn, const Case& config);
  void sampled(const SamplingProgress& progress);
  /// `headline`: null if the result has none.
  void done(std::size_t index, const Result& result, const Measurement* headline);
  void tuning(const TuneProgress& progress);
  /// Clears the line and prints messages.
  void tell(const std::vector<std::string>& news);
  /// Clears the line, so that something else can be printed.
  void clear() noexcept;

 private:
  using Time = std::chrono::steady_clock::time_point;

  /// Returns for example "about 40 s left, "; empty as long as it cannot be estimated.
  [[nodiscard]] std::string time_left() const;
  void show(const std::string& text);
  /// Whether the line may change again, because the last change is old enough.
  bool due();

  bool on_terminal_;
  bool plain_;
  std::size_t cases_;
  std::size_t turns_;
  std::size_t turns_done_ = 0;  // number of case visits that are done, over all turns
  std::string where_;           // for example "[3/12]"
  std::string key_;
  std::atomic<bool> shown_ = false;  // a watchdog's thread clears the line, too
  Time begun_;
  Time last_{};
};

}  // namespace xferbench::cli
