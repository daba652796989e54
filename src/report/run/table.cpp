#include "report/run/run_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/printable.hpp"
#include "report/cells.hpp"
#include "report/fleet/fleet_report.hpp"
#include "report/run/info.hpp"
#include "report/run/sections.hpp"

namespace xferbench {

namespace {

/// The scenario, its marks and what all its cases have in common, in as many lines as it takes.
std::string heading(const Section& section, const Report& report, const Style& style) {
  std::vector<std::pair<std::string, Tone>> parts{{std::string(section.scenario->name), Tone::bold}};
  for (const auto& [axis, value] : section.fixed) parts.emplace_back(fmt::format("{} {}", axis, value), Tone::bold);
  if (section.on_gpu) parts.emplace_back(fmt::format("GPU {} only", *section.on_gpu), Tone::bold);
  for (const std::string& mark : marks(report)) parts.emplace_back(mark, Tone::notice);
  std::string text;
  std::size_t used = 0;
  for (const auto& [part, tone] : parts) {
    const bool breaks = used > 0 && style.columns > 0 && used + 2 + width(part) > style.columns;
    text += (breaks ? "\n  " : used > 0 ? "  " : "") + style.painted(tone, part);
    used = (breaks || used > 0 ? 2 : 0) + (breaks ? 0 : used) + width(part);
  }
  return text + "\n";
}

/// Longer lines lose the reader, whatever the window is.
std::size_t readable_columns(const Style& style) {
  constexpr std::size_t kReadable = 116;
  return style.columns > 0 ? std::min(style.columns, kReadable) : kReadable;
}

std::string headline_table(const Section& section, const Style& style) {
  std::string text = section.headline.rows.empty() ? "" : to_lines(section.headline, style);
  for (const std::string& line : section.skipped) {
    text += style.dim(wrapped(printable(line), readable_columns(style), "  ", "    "));
  }
  if (const std::size_t rows = section.in_matrices; rows > 0) {
    text += style.dim(fmt::format("  {} rows are left out, as the matrices show them; --wide shows them\n", rows));
  }
  if (const std::size_t rows = section.too_many; rows > 0) {
    text +=
        style.dim(fmt::format("  {} rows more are left out; --wide shows them, --json and --csv have them\n", rows));
  }
  if (section.not_begun == 0) return text;
  return text + style.dim(fmt::format("  {} of {} cases had not begun\n", section.not_begun, section.results.size()));
}

std::string maps_text(const HeatMaps& maps, const Style& style) {
  std::string text;
  for (const Matrix& map : maps.over_counts) text += to_lines(map, style);
  for (const Matrix& map : maps.over_gpus) text += to_lines(map, style);
  for (const auto* notes : {&maps.notes_over_counts, &maps.notes_over_gpus}) {
    for (const std::string& note : *notes) text += "\n  " + note + "\n";
  }
  return text;
}

/// Where there are many GPUs, they stand beneath each other.
std::string by_gpu_text(const Section& section, const Style& style) {
  std::string text;
  for (const auto& [title, grid] : section.by_gpu) {
    text += "\n  " + style.bold(printable(title)) + "\n";
    for (const Grid& piece : in_pieces(grid, style.columns)) text += to_lines(piece, style);
  }
  return text;
}

std::string findings_text(const Section& section, const Style& style) {
  std::string text;
  for (const Matrix& matrix : section.pairs) text += to_lines(matrix, style);
  for (const auto& [kind, grid] : section.findings) {
    text += "\n  " + style.bold(printable(kind)) + "\n" + to_lines(grid, style);
  }
  if (!section.sentences.empty()) text += "\n";
  for (const std::string& sentence : section.sentences) {
    text += wrapped(printable(sentence), readable_columns(style), "  ", "    ");
  }
  if (const std::string more = more_line(section); !more.empty()) text += "\n" + style.dim("  " + more) + "\n";
  return text;
}

}  // namespace

std::string to_table(const Report& report, Descriptors scenarios, const Style& style, FindingsShown which) {
  if (report.fleet) return to_fleet_table(report, style);
  std::string text;
  for (const std::string& alarm : alarms(report)) text += paragraph(alarm, Tone::notice, style);
  text += paragraph(machine_line(report.environment), Tone::bold, style);
  const RowsShown rows = style.every_row ? RowsShown::all : RowsShown::not_in_matrices;
  for (const Section& section : sections_of(report, scenarios, which, rows)) {
    text += "\n" + heading(section, report, style);
    text += headline_table(section, style);
    if (!section.measurements.header.empty()) text += "\n" + to_lines(section.measurements, style);
    text += by_gpu_text(section, style);
    text += maps_text(section.maps, style);
    text += findings_text(section, style);
  }
  if (!report.complete) {
    const bool nothing = std::ranges::all_of(report.results, [](const Result& r) {
      return r.status == Status::skipped && r.reason != kNotBegun && r.reason != kNoSamples;
    });
    text += "\n" +
            style.notice(nothing ? "NOTHING MEASURED: every case was skipped"
                                 : "INCOMPLETE: not every case has run to its end") +
            "\n";
  }
  return text;
}

}  // namespace xferbench
