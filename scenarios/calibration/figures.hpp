// Helpers of the calibration: selection of results, and collection of the figures derived from them.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/calibration/calibration.hpp"

namespace xferbench {

/// A result and the run that contains it. Both must outlive this object.
struct Found {
  const NamedReport* run = nullptr;
  const Result* result = nullptr;

  /// Returns "FILE: KEY WHAT", the source of a figure: name of the run, key of the result's case, and `what`.
  [[nodiscard]] std::string source(std::string_view what) const;
};

/// Returns the successful results of one scenario on a single GPU whose cases satisfy `wanted`.
std::vector<Found> cases_of(std::span<const NamedReport> runs, std::string_view scenario,
                            const std::function<bool(const Case&)>& wanted);

/// Returns the names of the files that contain the results, each once, for example "a.json, b.json".
std::string files_of(std::span<const Found> found);

double bytes_of(const Result& r);
/// Returns the payload rate in bytes per second of a measurement of `seconds`.
double rate_of(const Result& r, double seconds);

/// Applies a monotonic function to both ends of the interval; nothing if there is no interval.
std::optional<Interval> changed(const std::optional<Interval>& interval, const std::function<double(double)>& by);

/// A figure (a value of the profile) derived from one result; `what` names the metric or measurement used.
struct FigureValue {
  double value = 0;
  std::string what;
  std::optional<Interval> interval{};
};
using FigureReader = std::function<std::optional<FigureValue>(const Result&)>;
/// Returns a reader that derives a figure from the median of a measurement.
FigureReader by_median(std::string measurement, std::function<double(const Result&, double)> figure);

/// Collects the figures of the profile. If a field is added several times, the first value wins.
class Figures {
 public:
  Figures(Calibration& into, const BaseNumber& base) : into_(into), base_(base) {}

  /// Adds a figure: `field` is a field of sim::Profile, and `value` is in its unit. Ignores values that are not finite.
  void add(std::string field, double value, std::optional<Interval> interval, std::string source);
  /// Adds the median of the figures that `tell` returns for the results. Its interval covers all their intervals.
  void add(std::span<const Found> from, std::string field, const FigureReader& tell);
  [[nodiscard]] bool has(std::string_view field) const { return find(field) != nullptr; }
  /// Returns the figure of this field if there is one, else the base profile's value.
  [[nodiscard]] double known(std::string_view field) const;
  /// Returns the source of the figure of this field, which must have been added.
  [[nodiscard]] const std::string& source(std::string_view field) const { return find(field)->source; }
  /// Reports a missing figure. Without it, no pipeline can be predicted.
  void miss(std::string what) { into_.missing.push_back(std::move(what)); }
  void remark(std::string sentence) { into_.remarks.push_back(std::move(sentence)); }

 private:
  [[nodiscard]] const Figure* find(std::string_view field) const;

  Calibration& into_;
  const BaseNumber& base_;
};

// These functions must be called in this order: later functions subtract costs that earlier ones have found.

/// Adds figures from the costs of operations in scenario overlap.
void add_pipelines(std::span<const NamedReport> runs, Figures& figures);

// These functions add figures from single copies (scenario memcpy) and from calls (scenario latency).
void add_pinned_copies(std::span<const NamedReport> runs, Figures& figures);
void add_calls(std::span<const NamedReport> runs, Figures& figures);
/// Adds figures from copies of pageable memory. Such a copy blocks the host, so the time between the events around it
/// includes host work: waking up and recording the second event. This work is subtracted.
void add_pageable_copies(std::span<const NamedReport> runs, Figures& figures);
/// Adds the rates of kernels that access host memory over the link.
void add_kernels_on_link(std::span<const NamedReport> runs, Figures& figures);
/// Adds the rate of copies inside the GPU.
void add_inside(std::span<const NamedReport> runs, Figures& figures);
/// Adds figures from data in many pieces (scenario scatter).
void add_pieces(std::span<const NamedReport> runs, Figures& figures);
/// Adds the rates of the disk and of the page cache (scenario storage), from reads and writes without the GPU.
void add_files(std::span<const NamedReport> runs, Figures& figures);

}  // namespace xferbench
