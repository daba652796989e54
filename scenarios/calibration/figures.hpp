// Not a scenario: what calibrating collects, the results that it looks at, and the figures that follow from these.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/calibration/calibration.hpp"

namespace xferbench {

/// A result and the run that it is of. Both must outlive it.
struct Found {
  const NamedReport* run = nullptr;
  const Result* result = nullptr;

  /// "results.json: KEY WHAT"
  [[nodiscard]] std::string source(std::string_view what) const;
};

/// What runs have of one scenario, by one GPU, that went well.
std::vector<Found> cases_of(std::span<const NamedReport> runs, std::string_view scenario,
                            const std::function<bool(const Case&)>& wanted);

/// All files that results are of, in their order: "a.json, b.json".
std::string files_of(std::span<const Found> found);

/// Payload of a result's case.
double bytes_of(const Result& r);

/// Both ends by the same function, which rises or falls throughout.
std::optional<Interval> changed(const std::optional<Interval>& interval, const std::function<double(double)>& by);

/// What a result tells of a figure, and what of the result that is.
struct Told {
  double value = 0;
  std::string what;
  std::optional<Interval> interval{};
};
using Tell = std::function<std::optional<Told>(const Result&)>;

/// Collects figures, each once: what is added first stays.
class Figures {
 public:
  Figures(Calibration& into, const BaseNumber& base) : into_(into), base_(base) {}

  /// Of a field of sim::Profile, in its unit. What is no finite number is left out.
  void add(std::string field, double value, std::optional<Interval> interval, std::string source);
  /// The median of what results tell, between the lowest end of all and the highest.
  void add(std::span<const Found> from, std::string field, const Tell& tell);
  [[nodiscard]] bool has(std::string_view field) const { return find(field) != nullptr; }
  /// What the profile will have: what is found so far, else what the base has.
  [[nodiscard]] double known(std::string_view field) const;
  /// Of one that it has.
  [[nodiscard]] const std::string& source(std::string_view field) const { return find(field)->source; }
  /// Without which no pipeline can be predicted.
  void miss(std::string what) { into_.missing.push_back(std::move(what)); }
  void remark(std::string sentence) { into_.remarks.push_back(std::move(sentence)); }

 private:
  [[nodiscard]] const Figure* find(std::string_view field) const;

  Calibration& into_;
  const BaseNumber& base_;
};

// What is added first is taken out of the times of what comes later: add_pipelines() first, then these in their order.

/// What overlap says its operations cost.
void add_pipelines(std::span<const NamedReport> runs, Figures& figures);

// From copies and calls by themselves (memcpy, latency).
void add_pinned_copies(std::span<const NamedReport> runs, Figures& figures);
void add_calls(std::span<const NamedReport> runs, Figures& figures);
/// A copy of pageable memory returns when it has ended, so that its time by events has what the host does then: it
/// wakes up and records the event that ends the region.
void add_pageable_copies(std::span<const NamedReport> runs, Figures& figures);
/// Kernels that read or write the host's memory over the link.
void add_kernels_on_link(std::span<const NamedReport> runs, Figures& figures);
/// Copies inside the GPU.
void add_inside(std::span<const NamedReport> runs, Figures& figures);

}  // namespace xferbench
