#include "report/trace/timeline.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "core/lists.hpp"
#include "core/units.hpp"
#include "model/occupancy.hpp"
#include "paper/drawing.hpp"
#include "paper/text.hpp"
#include "report/trace/trace_events.hpp"
#include "version.hpp"
#include "words/trust.hpp"

namespace xferbench {

namespace {

using Row = Activity::Row;
using Json = nlohmann::ordered_json;

constexpr std::array kRows{Row::h2d, Row::kernel, Row::d2h, Row::peer, Row::internal, Row::host};
/// Rows that a chart shows even if they are empty.
constexpr std::array kUsualRows{Row::h2d, Row::kernel, Row::d2h, Row::host};

bool has(const Trace& trace, Row row) {
  return std::ranges::any_of(trace.activities, [row](const Activity& a) { return a.row == row; });
}

template <class Holds>
Trace part_of(const Trace& trace, Holds holds) {
  Trace some{.source = trace.source, .activities = {}, .event_makespan = 0};
  std::ranges::copy_if(trace.activities, std::back_inserter(some.activities), holds);
  return some;
}

Trace of_gpu(const Trace& trace, std::size_t gpu) {
  return part_of(trace, [gpu](const Activity& a) { return a.row != Row::host && a.gpu == gpu; });
}

Trace of_host(const Trace& trace) {
  return part_of(trace, [](const Activity& a) { return a.row == Row::host; });
}

// --- For trace viewers ----------------------------------------------------------------------------------------------

/// Returns the activities of a row, sorted by begin and distributed to lanes without overlap.
std::vector<std::vector<const Activity*>> lanes_of(const Trace& trace, Row row) {
  auto all = those_of(pointers_to(trace.activities), [row](const Activity* a) { return a->row == row; });
  std::ranges::stable_sort(all, {}, [](const Activity* a) { return nanoseconds(a->begin); });
  std::vector<std::vector<const Activity*>> lanes;
  Lanes free;
  for (const Activity* a : all) {
    const std::size_t lane = free.lane_of(nanoseconds(a->begin), nanoseconds(a->end));
    lanes.resize(std::max(lanes.size(), lane + 1));
    lanes[lane].push_back(a);
  }
  return lanes;
}

TraceEvent event_of(const Activity& a) {
  TraceEvent event{.name = a.name,
                   .category = to_text(a.row),
                   .begin = nanoseconds(a.begin),
                   .end = nanoseconds(a.end),
                   .bytes = a.bytes};
  if (a.row != Row::host) event.stream = a.stream;
  return event;
}

void add_process(TraceEvents& events, const Trace& trace, const Json& name) {
  const std::size_t process = events.add_process(name);
  std::size_t track = 0;
  for (const Row row : kRows) {
    std::size_t lane = 0;
    for (const auto& activities : lanes_of(trace, row)) {
      ++track;
      events.add_track(process, track, track_name(to_text(row), lane++), track);
      for (const Activity* a : activities) events.add(process, track, event_of(*a));
    }
  }
}

void add_case(TraceEvents& events, const Result& result, const Environment& environment) {
  const Trace& trace = *result.trace;
  const std::string& key = result.config.key();
  const std::string source = environment.simulated() ? "(SIMULATED)" : fmt::format("({})", trace.source);
  const std::vector<std::string> gpus = gpu_names(environment);
  if (gpus.empty()) return add_process(events, trace, {{"name", fmt::format("{} {}", key, source)}});
  const auto add = [&](const Trace& some, const std::string& whose) {
    if (some.activities.empty()) return;
    const std::string name = fmt::format("{} of {} {}", whose, key, source);
    add_process(events, some, {{"name", name}, {"case", fmt::format("{} {}", key, source)}, {"part", whose}});
  };
  for (std::size_t i = 0; i < gpus.size(); ++i) add(of_gpu(trace, i), gpus[i]);
  add(of_host(trace), "host");
}

// --- For terminals --------------------------------------------------------------------------------------------------

constexpr std::size_t kLabel = 9;  // columns before the first cell
constexpr double kFull = 0.97;     // busy share from which a cell is drawn as full

/// One character of a chart: a short period of one row.
struct Cell {
  double filled = 0;      // share of the cell's time in which an activity ran, 0 to 1
  std::size_t owner = 0;  // number of the activity with the largest share, from 1 on; 0: none
  double of_owner = 0;    // share of the cell's time that `owner` takes, 0 to 1
  [[nodiscard]] bool full() const { return filled >= kFull; }
};

struct Scale {
  double length = 0;  // seconds that a row shows with all its cells
  std::size_t cells = 0;
  [[nodiscard]] double cell() const { return length / static_cast<double>(cells); }
  [[nodiscard]] std::size_t at(double time) const {
    return std::min(static_cast<std::size_t>(std::max(0., time / cell())), cells - 1);
  }
};

std::vector<Cell> cells_of(const Trace& trace, Row row, const Scale& scale) {
  std::vector<Cell> cells(scale.cells);
  std::size_t number = 0;
  for (const Activity& a : trace.activities) {
    if (a.row != row) continue;
    ++number;
    for (std::size_t i = scale.at(a.begin); i <= scale.at(a.end); ++i) {
      const double left = static_cast<double>(i) * scale.cell();
      const double share = (std::min(a.end, left + scale.cell()) - std::max(a.begin, left)) / scale.cell();
      if (share <= 0) continue;
      Cell& cell = cells[i];
      cell.filled = std::min(1., cell.filled + share);
      if (share > cell.of_owner) {
        cell.of_owner = share;
        cell.owner = number;
      }
    }
  }
  return cells;
}

std::string glyph(const Cell& cell, Glyphs glyphs) {
  static constexpr std::array<const char*, 9> kHeights{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  if (cell.owner == 0) return " ";
  const bool odd = cell.owner % 2 == 1;
  if (glyphs == Glyphs::ascii) return cell.full() ? (odd ? "#" : "=") : cell.filled < 0.5 ? "." : ":";
  if (cell.full()) return odd ? "█" : "▓";
  return kHeights[static_cast<std::size_t>(std::clamp(std::lround(cell.filled * 8), 1L, 7L))];
}

/// Writes the numbers of activities into runs of full cells that are at least one cell longer than the number.
void write_numbers(const std::vector<Cell>& cells, std::vector<std::string>& glyphs) {
  for (std::size_t first = 0; first < cells.size();) {
    std::size_t last = first;
    while (last < cells.size() && cells[last].full() && cells[last].owner == cells[first].owner) ++last;
    const std::string number = std::to_string(cells[first].owner);
    if (last - first > number.size()) {
      const std::size_t begin = first + (last - first - number.size()) / 2;
      for (std::size_t i = 0; i < number.size(); ++i) glyphs[begin + i] = number[i];
    }
    first = std::max(last, first + 1);
  }
}

std::string without_trailing_spaces(std::string text) {
  text.resize(text.find_last_not_of(' ') + 1);
  return text;
}

std::string row_line(const Trace& trace, Row row, const Scale& scale, Glyphs glyphs) {
  const std::vector<Cell> cells = cells_of(trace, row, scale);
  std::vector<std::string> drawn = list_of(cells, [&](const Cell& cell) { return glyph(cell, glyphs); });
  if (row != Row::host) write_numbers(cells, drawn);
  std::string line = fmt::format("  {:<{}}", to_text(row), kLabel - 2);
  for (const std::string& text : drawn) line += text;
  return without_trailing_spaces(std::move(line)) + "\n";
}

std::string time_axis(const Scale& scale) {
  const bool in_milliseconds = scale.length >= 1e-3;
  const double unit = in_milliseconds ? 1e-3 : 1e-6;
  constexpr double kLeastCells = 14;  // between two ticks, for their labels
  const double step = drawing::round_step(kLeastCells * scale.cell());
  std::string line(kLabel + scale.cells, ' ');
  for (int i = 0; step * i < scale.length; ++i) {
    const std::string label =
        i == 0 ? "|0" : fmt::format("|{:g} {}", std::round(step * i / unit * 1e6) / 1e6, in_milliseconds ? "ms" : "us");
    const std::size_t at = kLabel + scale.at(step * i);
    if (at + label.size() <= line.size()) line.replace(at, label.size(), label);
  }
  return without_trailing_spaces(std::move(line));
}

std::string source_in_words(const std::string& source) {
  if (source == "cupti") return "times by CUPTI";
  if (source == "events") return "estimated from events";
  return source == "simulated" ? "simulated, exact" : source;
}

std::string occupancy_text(const Trace& trace, Row row, double makespan) {
  const double share = model::covered(trace, {row}) / makespan;
  const model::Gaps gaps = model::gaps(trace, row);
  std::string text = fmt::format("{} {} busy", to_text(row), format_percent(share));
  if (gaps.count == 0) return text + ", no gaps";
  if (gaps.count == 1) return text + fmt::format(", 1 gap of {}", format_seconds(gaps.total));
  return text + fmt::format(", {} gaps, {} in total", gaps.count, format_seconds(gaps.total));
}

/// Returns the busy time and gaps of each engine that was used; empty if none was.
std::string engines_text(const Trace& trace, double makespan) {
  std::string engines;
  for (const Row row : {Row::h2d, Row::kernel, Row::d2h, Row::peer}) {
    if (model::busy(trace, row) <= 0) continue;
    engines += (engines.empty() ? "" : "; ") + occupancy_text(trace, row, makespan);
  }
  return engines;
}

std::string summary_lines(const Trace& trace, const std::vector<std::string>& gpus) {
  const std::string by_events =
      trace.event_makespan > 0 ? fmt::format(" ({} by events around the pass)", format_seconds(trace.event_makespan))
                               : "";
  std::string text = fmt::format("  {}: makespan {}{}, concurrency {:.2f}", source_in_words(trace.source),
                                 format_seconds(model::makespan(trace)), by_events, model::concurrency(trace));
  const double kernels = model::kernel_concurrency(trace);
  if (trace.source != "events" && kernels > 1.005) text += fmt::format(", among kernels {:.2f}", kernels);
  text += "\n";
  const auto add_engines = [&text](const std::string& whose, const std::string& engines) {
    if (!engines.empty()) text += fmt::format("  {}{}\n", whose, engines);
  };
  const double makespan = model::makespan(trace);
  if (gpus.empty()) add_engines("", engines_text(trace, makespan));
  for (std::size_t i = 0; i < gpus.size(); ++i) add_engines(gpus[i] + ": ", engines_text(of_gpu(trace, i), makespan));
  return text;
}

/// Returns the chart rows of a trace. `usual_rows`: include empty rows of kUsualRows.
std::string row_lines(const Trace& trace, const Scale& scale, Glyphs glyphs, bool usual_rows) {
  std::string text;
  for (const Row row : kRows) {
    const bool usual = usual_rows && has_item(kUsualRows, row);
    if (usual || has(trace, row)) text += row_line(trace, row, scale, glyphs);
  }
  return text;
}

}  // namespace

std::string to_chrome_trace(const Report& report) {
  std::string text;
  const Sink sink = [&text](std::string_view piece) { text += piece; };
  TraceEvents events(sink);
  std::set<std::string> sources;
  for (const Result& r : report.results) {
    if (!r.trace) continue;
    add_case(events, r, report.environment);
    sources.insert(r.trace->source);
  }
  Json other = {{"source", fmt::format("{}", fmt::join(sources, ", "))},
                {"tool", std::string("xferbench ") + build::kVersion},
                {"gpu", report.environment.gpu.name}};
  for (const Trust::Mark& mark : trust_of(report).marks()) other[mark.word] = mark.said;
  events.end(other);
  return text;
}

std::vector<std::string> gpu_names(const Environment& environment) {
  if (environment.gpu_count() < 2) return {};
  return list_of(environment.gpu_numbers(), [](int number) { return fmt::format("GPU {}", number); });
}

std::string to_gantt(const Trace& trace, std::size_t width, const Style& style, Glyphs glyphs,
                     const std::vector<std::string>& gpus) {
  Scale scale;
  scale.cells = std::max(width, kLabel + 1) - kLabel;
  for (const Activity& a : trace.activities) scale.length = std::max(scale.length, a.end);
  if (scale.length <= 0) return "  nothing was recorded\n";
  std::string text = gpus.empty() ? row_lines(trace, scale, glyphs, true) : "";
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const std::string rows = row_lines(of_gpu(trace, i), scale, glyphs, false);
    if (!rows.empty()) text += fmt::format("  {}\n{}", style.dim(gpus[i]), rows);
  }
  if (!gpus.empty()) text += row_lines(of_host(trace), scale, glyphs, false);
  text += style.dim(time_axis(scale)) + "\n";
  for (const std::string& line : split(summary_lines(trace, gpus), '\n')) text += wrapped(line, width, "  ", "    ");
  return text;
}

std::string to_gantts(const Report& report, const Style& style, Glyphs glyphs) {
  constexpr std::size_t kMost = 4;
  constexpr std::size_t kReadable = 110;
  const std::size_t columns = style.columns > 0 ? std::min(style.columns, kReadable) : kReadable;
  std::string text;
  std::size_t traced = 0;
  for (const Result& r : report.results) {
    if (!r.trace || ++traced > kMost) continue;
    std::string marks;
    for (const std::string& word : trust_of(report).words()) marks += " " + word;
    text += "\n" + paragraph("timeline " + r.config.key() + marks, Tone::bold, style) +
            to_gantt(*r.trace, columns, style, glyphs, gpu_names(report.environment));
  }
  if (traced > kMost) {
    text += fmt::format("\n  {} cases were traced; above are the charts of the first {}, the file contains all\n",
                        traced, kMost);
  }
  return text;
}

}  // namespace xferbench
