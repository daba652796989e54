#include "words/timelines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/units.hpp"
#include "words/explain_text.hpp"
#include "words/trust.hpp"

namespace xferbench {

std::size_t colour_of(std::string_view category) {
  constexpr std::array<std::string_view, 8> kCategories{"H2D",    "D2H",  "kernel", "P2P",
                                                        "inside", "host", "ranges", "managed"};
  const auto found = std::ranges::find(kCategories, category == "calls" ? "host" : category);
  return static_cast<std::size_t>(found - kCategories.begin());
}

namespace {

constexpr std::size_t kMostTimelines = 6;
constexpr std::size_t kMostSpans = 2000;  // the same maximum as for the timeline of `xferbench explain`

/// One activity, and its row in the timeline. Rows are sorted by `place`: first by GPU or thread, then by engine.
struct TimelineItem {
  std::pair<std::uint64_t, std::uint64_t> place{};
  std::string row{};
  std::string_view category{};
  std::string name{};
  std::uint64_t bytes = 0;
  double begin = 0;  ///< seconds
  double end = 0;
};

/// Text with which the spans of a row are labelled if there is room.
enum class RowOrder {
  numbers,  ///< numbers, for GPU work: they show which copies and which kernel belong to one chunk
  names,    ///< names, and the sizes of copies
};

bool is_of_host(std::string_view category) { return category == "host" || category == "calls" || category == "ranges"; }

std::string row_text(std::string_view category) {
  if (category == "inside") return "inside the GPU";
  if (category == "managed") return "managed memory";
  return std::string(category == "host" ? "host calls" : category);
}

std::string said_of(const TimelineItem& one, std::size_t number) {
  std::string text = fmt::format("{}, number {}", one.name, number);
  if (one.bytes == 0) return text;
  text += ", " + format_size(one.bytes);
  if (!(one.end > one.begin)) return text;
  return text + ", " + format_with_unit(gigabytes_per_second(one.bytes, one.end - one.begin), "GB/s");
}

Timeline timeline_of(std::string title, std::vector<TimelineItem> all, RowOrder row_order) {
  Timeline timeline{.title = std::move(title)};
  std::ranges::stable_sort(all, {}, &TimelineItem::begin);
  if (all.size() > kMostSpans) {
    timeline.note = fmt::format("Shows the first {} of {}; trace viewers show the whole file.", kMostSpans, all.size());
    all.resize(kMostSpans);
  }
  std::map<std::pair<std::pair<std::uint64_t, std::uint64_t>, std::string>, Timeline::Row> rows;
  for (const TimelineItem& one : all) {
    Timeline::Row& row = rows[{one.place, one.row}];
    row.name = one.row;
    row.kind = colour_of(one.category);
    const std::size_t number = row.spans.size() + 1;
    const bool by_number = row_order == RowOrder::numbers && !is_of_host(one.category);
    const std::string label = by_number ? std::to_string(number) : one.bytes > 0 ? format_size(one.bytes) : one.name;
    row.spans.push_back({one.begin, one.end, label, said_of(one, number)});
  }
  for (auto& [place, row] : rows) timeline.rows.push_back(std::move(row));
  return timeline;
}

// --- Timelines of a run ----------------------------------------------------------------------------------------------

std::vector<TimelineItem> happenings_of(const Trace& trace, const Environment& environment) {
  const std::vector<int> gpus = environment.gpu_count() < 2 ? std::vector<int>() : environment.gpu_numbers();
  std::vector<TimelineItem> all;
  for (const Activity& a : trace.activities) {
    const bool of_host = a.row == Activity::Row::host;
    const std::string_view category = to_text(a.row);
    const std::string whose = of_host || a.gpu >= gpus.size() ? "" : fmt::format("GPU {} ", gpus[a.gpu]);
    all.push_back({.place = {of_host ? gpus.size() : a.gpu, static_cast<std::uint64_t>(a.row)},
                   .row = whose + row_text(category),
                   .category = category,
                   .name = a.name,
                   .bytes = a.bytes,
                   .begin = a.begin,
                   .end = a.end});
  }
  return all;
}

// --- Timelines of a file ---------------------------------------------------------------------------------------------

/// A process as trace viewers show it (for example a case, or a GPU of a case), and the names of its tracks.
struct ViewersProcess {
  std::string title{};
  std::string part{};  ///< for example "GPU 1" or "host"; empty if the case has only one such process
  struct Track {
    std::string name{};
    std::uint64_t place = 0;
  };
  std::map<std::uint64_t, Track> tracks{};
};

std::map<std::uint64_t, ViewersProcess> processes_of(const TraceFile& file) {
  std::map<std::uint64_t, ViewersProcess> processes;
  for (const TraceFile::Event& event : file.events) {
    ViewersProcess& process = processes[event.process];
    if (event.phase != "M") continue;
    if (event.name == "process_name") {
      process.title = event.of_case.empty() ? event.called : event.of_case;
      process.part = event.part;
    }
    if (event.name == "thread_name") process.tracks[event.track].name = event.called;
    if (event.name == "thread_sort_index") process.tracks[event.track].place = event.place;
  }
  return processes;
}

TimelineItem happening_of(const TraceFile::Event& event, ViewersProcess& process) {
  const ViewersProcess::Track& track = process.tracks[event.track];
  const std::string name = track.name.empty() ? fmt::format("track {}", event.track) : track.name;
  const bool of_gpu = !process.part.empty() && process.part != "host";
  return {.place = {event.process, track.place},
          .row = of_gpu ? process.part + " " + name : name,
          .category = event.category,
          .name = event.name,
          .bytes = event.bytes,
          .begin = event.begin * 1e-6,
          .end = (event.begin + event.length) * 1e-6};
}

}  // namespace

void add_timelines(const Report& report, Document& document) {
  std::size_t watched = 0;
  for (const Result& result : report.results) {
    if (!result.trace || ++watched > kMostTimelines) continue;
    document.add(timeline_of("Timeline: " + result.config.key(), happenings_of(*result.trace, report.environment),
                             RowOrder::numbers),
                 true, Shown::pages);
  }
  if (watched <= kMostTimelines) return;
  document.add(Sentence{.text = fmt::format("{} cases were traced; the first {} are shown; the --timeline file has all",
                                            watched, kMostTimelines),
                        .tone = Tone::dim},
               true, Shown::pages);
}

Timeline timeline_of(const explain::Timeline& timeline, double whole) {
  std::vector<TimelineItem> all;
  const auto of_host = [](const explain::TimelineSpan& span) { return is_of_host(to_text(span.track)); };
  const bool several = std::ranges::any_of(timeline.spans, [&](const explain::TimelineSpan& span) {
    return !of_host(span) && span.device != timeline.spans.front().device;
  });
  for (const explain::TimelineSpan& span : timeline.spans) {
    const std::string row = row_text(to_text(span.track));
    const std::string text = of_host(span) ? (span.number > 0 ? fmt::format("{}, thread {}", row, span.number) : row)
                             : several     ? fmt::format("GPU {} {}", span.device, row)
                                           : row;
    // Makes rows of GPUs come before those of threads.
    const std::uint64_t who = of_host(span) ? (std::uint64_t{1} << 32U) + span.number : span.device;
    all.push_back({.place = {who, static_cast<std::uint64_t>(span.track)},
                   .row = text,
                   .category = to_text(span.track),
                   .name = span.name,
                   .bytes = span.bytes,
                   .begin = span.begin,
                   .end = span.end});
  }
  Timeline drawn = timeline_of("Timeline", std::move(all), RowOrder::names);
  constexpr double kAll = 0.999;
  if (timeline.to - timeline.from < kAll * whole) {
    drawn.note = fmt::format(
        "Shows the first {} with recorded activity, from {} on, of {} in total; explain --timeline writes the whole "
        "timeline for trace viewers.",
        explain_text::time_text(timeline.to - timeline.from), explain_text::time_text(timeline.from),
        explain_text::time_text(whole));
  }
  return drawn;
}

void add_timelines(const TraceFile& file, Document& document) {
  std::map<std::uint64_t, ViewersProcess> processes = processes_of(file);
  std::map<std::string, std::size_t> places;
  std::vector<std::pair<std::string, std::vector<TimelineItem>>> cases;  // in order of first use
  for (const TraceFile::Event& event : file.events) {
    if (event.phase != "X") continue;
    ViewersProcess& process = processes[event.process];
    const auto [place, is_new] = places.try_emplace(process.title, cases.size());
    if (is_new) cases.push_back({process.title, {}});
    cases[place->second].second.push_back(happening_of(event, process));
  }
  if (cases.empty()) return document.add(Sentence{.text = "the timeline has no events"}, true);
  const std::size_t more = cases.size() - std::min(cases.size(), kMostTimelines);
  cases.resize(cases.size() - more);
  std::string names;
  for (auto& [title, all] : cases) {
    names += (names.empty() ? "" : "; ") + title;
    document.add(timeline_of(title, std::move(all), RowOrder::numbers), true, Shown::pages);
  }
  const std::string rest = more > 0 ? fmt::format(", and {} more", more) : "";
  document.add(
      Sentence{.text = fmt::format("timeline of {}{}: view it in a page (--html) or in ui.perfetto.dev", names, rest)},
      true, Shown::texts);
  if (more == 0 && file.left_out == 0) return;
  document.add(
      Sentence{.text = "The file has more than this page shows; trace viewers show the whole file.", .tone = Tone::dim},
      true, Shown::pages);
}

Trust trust_of(const TraceFile& file) { return {file.simulated, file.unverified.empty(), file.fault, true}; }

}  // namespace xferbench
