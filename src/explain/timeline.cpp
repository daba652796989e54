#include "explain/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <variant>
#include <vector>

namespace xferbench::explain {

Track track_of(recording::CopyKind kind) {
  switch (kind) {
    case recording::CopyKind::h2d: return Track::h2d;
    case recording::CopyKind::d2h: return Track::d2h;
    case recording::CopyKind::p2p: return Track::peer;
    case recording::CopyKind::d2d:
    case recording::CopyKind::h2h:
    case recording::CopyKind::other: break;
  }
  return Track::inside;
}

namespace {

using Shown = std::variant<const recording::Copy*, const recording::Kernel*, const recording::Fill*,
                           const recording::Migration*, const recording::Call*, const recording::Range*>;

struct Entry {
  Time begin = 0;
  Shown record{};
};

/// Returns, for example, "copy H2D, pageable".
std::string name_of(const recording::Copy& copy) {
  const Memory host = copy.kind == CopyKind::h2d ? copy.source : copy.destination;
  const bool crosses = copy.kind == CopyKind::h2d || copy.kind == CopyKind::d2h;
  const std::string_view track = to_text(track_of(copy.kind));
  return crosses && host != Memory::unknown ? fmt::format("copy {}, {}", track, to_text(host))
                                            : fmt::format("copy {}", track);
}

/// Visitor that converts records to spans, in seconds from the begin of the window and clipped to the window.
class SpanMaker {
 public:
  SpanMaker(const Recording& recording, const Window& window) : r_(recording), w_(window) {}

  TimelineSpan operator()(const recording::Copy* copy) const {
    return on_device(copy->on, track_of(copy->kind), name_of(*copy), copy->bytes);
  }
  TimelineSpan operator()(const recording::Kernel* kernel) const {
    return on_device(kernel->on, Track::kernel, std::string(r_.name(kernel->name)), 0);
  }
  TimelineSpan operator()(const recording::Fill* fill) const {
    return on_device(fill->on, Track::inside, "fill", fill->bytes);
  }
  TimelineSpan operator()(const recording::Migration* moved) const {
    const std::string name = moved->fault_of_gpu != 0 ? "page faults"
                             : track_of(moved->kind) == Track::inside
                                 ? "pages"
                                 : fmt::format("pages {}", to_text(track_of(moved->kind)));
    return {Track::moved, 0, moved->device, name, moved->bytes, seconds(moved->begin), seconds(moved->end)};
  }
  TimelineSpan operator()(const recording::Call* call) const {
    return {Track::calls,         call->thread,      0, std::string(r_.name(call->name)), 0,
            seconds(call->begin), seconds(call->end)};
  }
  TimelineSpan operator()(const recording::Range* range) const {
    return {
        Track::ranges,         range->of_process != 0 ? 0 : range->thread,    0, std::string(r_.name(range->name)), 0,
        seconds(range->begin), seconds(range->end == 0 ? w_.end : range->end)};
  }

 private:
  [[nodiscard]] TimelineSpan on_device(const recording::OnDevice& on, Track track, std::string name,
                                       std::uint64_t bytes) const {
    return {track, on.stream, on.device, std::move(name), bytes, seconds(on.begin), seconds(on.end)};
  }
  [[nodiscard]] double seconds(Time time) const {
    return 1e-9 * static_cast<double>(std::clamp(time, w_.begin, w_.end) - w_.begin);
  }

  const Recording& r_;
  const Window& w_;
};

/// Collects the records that overlap with the window, sorted by begin.
class Entries {
 public:
  explicit Entries(const Window& window) : w_(window) {}

  template <class Record>
  void add(const Record& record, Time begin, Time end) {
    if (end >= w_.begin && begin < w_.end) all_.push_back({begin, &record});
  }
  std::vector<Entry> sorted() {
    std::ranges::stable_sort(all_, {}, &Entry::begin);
    return std::move(all_);
  }

 private:
  const Window& w_;
  std::vector<Entry> all_;
};

/// Adds the outermost calls. Calls within calls are made by CUDA itself, not by the program.
void add_outermost_calls(const Recording& r, Entries& entries) {
  std::map<std::uint32_t, Time> ends;  // per thread: end of its last call
  for (const recording::Call& call : r.calls) {
    Time& end = ends[call.thread];
    if (call.begin < end) continue;
    end = call.end;
    entries.add(call, call.begin, call.end);
  }
}

std::vector<Entry> entries_of(const Recording& r, const Window& window) {
  Entries entries(window);
  for (const recording::Range& range : r.ranges) {
    entries.add(range, range.begin, range.end == 0 ? window.end : range.end);
  }
  add_outermost_calls(r, entries);
  for (const recording::Copy& copy : r.copies) entries.add(copy, copy.on.begin, copy.on.end);
  for (const recording::Kernel& kernel : r.kernels) entries.add(kernel, kernel.on.begin, kernel.on.end);
  for (const recording::Fill& fill : r.fills) entries.add(fill, fill.on.begin, fill.on.end);
  for (const recording::Migration& moved : r.migrations) entries.add(moved, moved.begin, moved.end);
  return entries.sorted();
}

}  // namespace

void each_span(const Recording& recording, const Window& window, const SpanVisit& visit) {
  const SpanMaker span_of(recording, window);
  for (const Entry& entry : entries_of(recording, window)) {
    if (!visit(std::visit(span_of, entry.record))) return;
  }
}

Timeline timeline_of(const Recording& recording, const Window& window, std::size_t most) {
  Timeline timeline;
  timeline.to = 1e-9 * static_cast<double>(window.end - window.begin);
  each_span(recording, window, [&](const TimelineSpan& span) {
    if (timeline.spans.size() == most) {
      timeline.to = span.begin;
      return false;
    }
    timeline.spans.push_back(span);
    return true;
  });
  if (!timeline.spans.empty()) timeline.from = timeline.spans.front().begin;
  return timeline;
}

}  // namespace xferbench::explain
