// Runs explain() on recordings that tests make.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "explain/explain.hpp"
#include "support/synthetic_recording.hpp"

namespace xferbench::explain {

using Write = std::function<void(SyntheticRecording&)>;

/// A recording of the whole process.
inline Recording whole(const Write& write) {
  SyntheticRecording made;
  write(made);
  return made.finish();
}

/// A recording in which the program runs within a range called "steps".
inline Recording in_range(const Write& write) {
  SyntheticRecording made;
  made.work(5e-3);
  made.begin_range("steps");
  write(made);
  made.end_range();
  made.work(1e-3);
  return made.finish();
}

inline ProcessExplanation explained(const Recording& r, const std::vector<FindingKind>& fixed = {}, bool range = true) {
  return explain(r, SyntheticRecording::costs(), {}, std::nullopt,
                 {.range = range ? std::optional<std::string>("steps") : std::nullopt, .fixed = fixed});
}

inline const Finding* find(const ProcessExplanation& analysis, FindingKind kind) {
  const auto found = std::ranges::find(analysis.findings, kind, &Finding::kind);
  return found == analysis.findings.end() ? nullptr : &*found;
}

inline double pinned_seconds(std::uint64_t bytes) { return static_cast<double>(bytes) / 50e9; }

}  // namespace xferbench::explain
