#include "report/explain/timeline.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "explain/timeline.hpp"
#include "paper/document.hpp"
#include "report/trace/trace_events.hpp"
#include "version.hpp"

namespace xferbench {

namespace {

using explain::TimelineSpan;
using explain::Track;
using Json = nlohmann::ordered_json;

bool simulated(const Recording& r) { return r.process.backend == recording::Backend::simulated; }

std::string source_of(const Recording& r) { return simulated(r) ? "simulated" : "cupti"; }

bool on_host(Track track) { return track == Track::calls || track == Track::ranges; }

/// Returns the name of the device with this number in the recording, for example "NVIDIA H200".
std::string gpu_of(const Recording& r, std::uint32_t device) {
  const auto found = std::ranges::find(r.devices, device, &recording::Device::id);
  return found == r.devices.end() ? "" : std::string(r.name(found->name));
}

/// Writes the spans of one process. Names each track before its first span.
class ProcessTracks {
 public:
  /// `later`: nanoseconds from the begin of the earliest window to the begin of this process's window.
  ProcessTracks(TraceEvents& events, const Recording& recording, std::int64_t later)
      : events_(events),
        r_(recording),
        whole_(fmt::format("{}, process {} ({}{})", r_.name(r_.process.command), r_.process.pid, source_of(r_),
                           simulated(r_) ? ", SIMULATED" : "")),
        later_(later) {}

  void add(const TimelineSpan& span) {
    TraceEvent event{.name = span.name,
                     .category = to_text(span.track),
                     .begin = later_ + nanoseconds(span.begin),
                     .end = later_ + nanoseconds(span.end),
                     .bytes = span.bytes};
    if (!on_host(span.track) && span.track != Track::moved) event.stream = span.number;
    const std::size_t process = process_of(span);
    events_.add(process, track_of(process, span, event), event);
  }

 private:
  /// Returns the trace viewer's process for a span. There is one for each device, and one for the host.
  std::size_t process_of(const TimelineSpan& span) {
    const auto device = on_host(span.track) ? std::nullopt : std::optional(span.device);
    const auto [found, is_new] = processes_.try_emplace(device, 0);
    if (is_new) {
      const std::string part = device ? fmt::format("GPU {}", *device) : "host";
      Json arguments = {{"name", fmt::format("{} of {}", part, whole_)}, {"case", whole_}, {"part", part}};
      if (device) arguments["gpu"] = gpu_of(r_, *device);
      found->second = events_.add_process(arguments);
    }
    return found->second;
  }

  /// Returns the viewer's track for a span. Operations of all streams share the tracks of their engines; calls and NVTX
  /// ranges have tracks for each thread.
  std::size_t track_of(std::size_t process, const TimelineSpan& span, const TraceEvent& event) {
    const std::uint32_t thread = on_host(span.track) ? span.number : 0;
    Row& row = rows_[{process, thread, span.track}];
    const std::size_t lane = row.lanes.lane_of(event.begin, event.end);
    if (lane == row.tracks.size()) {
      row.tracks.push_back(++tracks_);
      events_.add_track(process, tracks_, name_of(span, lane), order_of(span, lane));
    }
    return row.tracks[lane];
  }

  static std::string name_of(const TimelineSpan& span, std::size_t lane) {
    if (!on_host(span.track) || span.number == 0) return track_name(to_text(span.track), lane);
    return track_name(fmt::format("{} of thread {}", to_text(span.track), span.number), lane);
  }

  std::size_t order_of(const TimelineSpan& span, std::size_t lane) {
    constexpr std::size_t kMostLanes = 1000;
    if (!on_host(span.track)) return static_cast<std::size_t>(span.track) * kMostLanes + lane;
    // In the viewer, a thread's NVTX ranges are above its CUDA calls.
    const std::size_t thread = threads_.try_emplace(span.number, threads_.size()).first->second;
    return (2 * thread + (span.track == Track::calls ? 1 : 0)) * kMostLanes + lane;
  }

  struct Row {
    Lanes lanes{};
    std::vector<std::size_t> tracks{};  ///< numbers of the viewer's tracks, one for each lane
  };

  TraceEvents& events_;
  const Recording& r_;
  std::string whole_;
  std::int64_t later_;
  std::map<std::optional<std::uint32_t>, std::size_t> processes_;
  std::map<std::tuple<std::size_t, std::uint32_t, Track>, Row> rows_;
  std::map<std::uint32_t, std::size_t> threads_;
  std::size_t tracks_ = 0;
};

std::string joined(const std::set<std::string>& names) { return fmt::format("{}", fmt::join(names, ", ")); }

Json description_of(std::span<const RecordedWindow> processes) {
  std::set<std::string> sources;
  std::set<std::string> gpus;
  std::set<std::string> profiles;
  for (const RecordedWindow& p : processes) {
    sources.insert(source_of(p.recording));
    for (const recording::Device& device : p.recording.devices) gpus.insert(std::string(p.recording.name(device.name)));
    if (simulated(p.recording)) profiles.insert(std::string(p.recording.name(p.recording.process.profile)));
  }
  Json other = {
      {"source", joined(sources)}, {"tool", std::string("xferbench ") + build::kVersion}, {"gpu", joined(gpus)}};
  for (const Trust::Mark& mark : Trust(joined(profiles), true, {}, true).marks()) other[mark.word] = mark.said;
  return other;
}

}  // namespace

void write_chrome_trace(std::span<const RecordedWindow> processes, const Sink& sink) {
  TraceEvents events(sink);
  recording::Time begin = 0;
  for (const RecordedWindow& p : processes) begin = begin == 0 ? p.window.begin : std::min(begin, p.window.begin);
  for (const RecordedWindow& p : processes) {
    ProcessTracks tracks(events, p.recording, static_cast<std::int64_t>(p.window.begin - begin));
    explain::each_span(p.recording, p.window, [&tracks](const TimelineSpan& span) {
      tracks.add(span);
      return true;
    });
  }
  events.end(description_of(processes));
}

}  // namespace xferbench
