#include "explain/window.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "core/error.hpp"

namespace xferbench::explain {

namespace {

Time last_of_cuda(const Recording& r) {
  Time last = r.process.loaded;
  const auto see = [&last](Time time) { last = std::max(last, time); };
  for (const recording::Call& c : r.calls) see(c.end);
  for (const recording::Copy& c : r.copies) see(c.on.end);
  for (const recording::Kernel& k : r.kernels) see(k.on.end);
  for (const recording::Fill& f : r.fills) see(f.on.end);
  return last;
}

/// The latest end of any record of the process: CUDA records, NVTX ranges, and the end of the recording.
Time last_of(const Recording& r) {
  Time last = last_of_cuda(r);
  const auto see = [&last](Time time) { last = std::max(last, time); };
  for (const recording::Range& range : r.ranges) see(range.end);
  if (r.end) see(r.end->time);
  return last;
}

/// Returns what ended the recording, for an error message.
std::string_view end_of(const Recording& r) {
  if (!r.end) return "the process was killed, crashed or called _exit";
  switch (r.end->reason) {
    case recording::EndReason::exit: return "the program ended";
    case recording::EndReason::max_records: return "the recording stopped (--max-records)";
    case recording::EndReason::window: return "the recording stopped (--from, --for)";
    case recording::EndReason::write_failed: return "the recording could no longer be written";
  }
  return {};
}

/// Returns text for an error message: the names of the ranges in the recording.
std::string ranges_of(const Recording& r) {
  std::set<std::string_view> names;
  for (const recording::Range& range : r.ranges) {
    if (range.end != 0) names.insert(r.name(range.name));
  }
  if (names.empty()) return "the recording has no ranges: leave out --range, or mark a range in the program";
  constexpr std::size_t kShown = 8;
  std::vector<std::string_view> shown(names.begin(), names.end());
  shown.resize(std::min(kShown, shown.size()));
  return fmt::format("ranges in the recording: {}{}", fmt::join(shown, ", "), names.size() > kShown ? ", ..." : "");
}

}  // namespace

Window window_of(const Recording& r, const std::optional<std::string>& range) {
  if (!range) {
    const Time begin = r.process.begin > 0 ? r.process.begin : r.process.loaded;
    return {.begin = begin, .end = std::max(last_of(r), begin + 1), .is_whole = true};
  }
  Window window{.begin = 0, .end = 0, .thread = std::nullopt, .times = 0};
  for (const recording::Range& found : r.ranges) {
    if (found.end == 0 || r.name(found.name) != *range) continue;
    if (window.times++ == 0) window.begin = found.begin;
    if (found.end <= window.end) continue;
    window.end = found.end;
    window.thread = found.of_process != 0 ? std::nullopt : std::optional(found.thread);
  }
  if (r.torn) window.end = std::min(window.end, last_of_cuda(r));  // an incomplete recording lacks later CUDA records
  if (window.times > 0 && window.end > window.begin) return window;
  const bool has_begun =
      std::ranges::any_of(r.ranges, [&](const recording::Range& found) { return r.name(found.name) == *range; });
  const bool is_complete = r.end && r.end->reason == recording::EndReason::exit;
  throw InputError(
      has_begun || !is_complete
          ? fmt::format("{}: no NVTX range '{}' ended before {}; {}", r.file, *range, end_of(r), ranges_of(r))
          : fmt::format("{}: there is no NVTX range '{}'; {}", r.file, *range, ranges_of(r)));
}

}  // namespace xferbench::explain
