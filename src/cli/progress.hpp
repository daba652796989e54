// One line on standard error that says how far a run is; only on a terminal.
#pragma once

#include <chrono>
#include <string>

#include "measure/sampler.hpp"
#include "run/tuner.hpp"

namespace xferbench::cli {

class Progress {
 public:
  /// Silent unless `wanted` and standard error is a terminal.
  Progress(bool wanted, std::size_t cases);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }

  void begin(std::size_t index, const Case& config);
  void sampled(const SamplingProgress& progress);
  void tuning(const TuneProgress& progress);
  /// Wipes the line, so that something else can be printed.
  void clear();

 private:
  void show(const std::string& text);
  /// Whether the line was written so long ago that it may change again.
  bool due();

  bool active_;
  std::size_t cases_;
  std::string current_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace xferbench::cli
