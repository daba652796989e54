#include "cli/pages.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <sstream>
#include <utility>

#include "cli/values.hpp"
#include "core/axis.hpp"
#include "core/lists.hpp"
#include "core/units.hpp"
#include "device/open.hpp"
#include "results/scenario_descriptor.hpp"

namespace xferbench::cli {

namespace {

constexpr std::size_t kNarrowestPage = 40;
constexpr std::size_t kWidestTag = 26;

/// Breaks the text into lines of at most `width` columns, at blanks.
std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
  std::vector<std::string> lines(1);
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width) lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word;
  }
  return lines;
}

std::string laid_out(const Section& section, std::size_t tag_width, std::size_t columns) {
  std::string text = fmt::format("\n{}:\n", section.title);
  for (const Entry& entry : section.entries) {
    std::string tag = entry.tag;
    if (tag.size() > tag_width) text += fmt::format("  {}\n", std::exchange(tag, ""));
    for (const std::string& paragraph : entry.lines) {
      for (const std::string& line : wrapped(paragraph, columns - tag_width - 3)) {
        text += fmt::format("  {:<{}} {}\n", std::exchange(tag, ""), tag_width, line);
      }
    }
  }
  return text;
}

std::string laid_out(const std::vector<Section>& sections, std::size_t columns) {
  std::size_t width = 0;
  const std::size_t widest = std::min(kWidestTag, columns / 3);
  for (const Section& section : sections) {
    for (const Entry& entry : section.entries) width = std::max(width, std::min(entry.tag.size(), widest));
  }
  std::string text;
  for (const Section& section : sections) text += laid_out(section, width, columns);
  return text;
}

/// Breaks a line that is wider than the page at blanks. If the line has a command and a description, also breaks it
/// between them. All new lines after the first are indented by four more columns.
std::string broken(const std::string& line, std::size_t columns) {
  const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t gap = std::min(line.find("  ", begin), line.size());
  std::vector<std::string> pieces = wrapped(line.substr(begin, gap - begin), columns - begin - 4);
  if (gap < line.size()) std::ranges::move(wrapped(line.substr(gap), columns - begin - 4), std::back_inserter(pieces));
  return std::string(begin, ' ') + fmt::format("{}", fmt::join(pieces, "\n    " + std::string(begin, ' ')));
}

/// Breaks all lines of the text that are wider than the page.
std::string folded(const std::string& text, std::size_t columns) {
  std::vector<std::string> lines = split(text, '\n');
  for (std::string& line : lines) {
    if (line.size() > columns) line = broken(line, columns);
  }
  return fmt::format("{}{}", fmt::join(lines, "\n"), text.ends_with('\n') ? "\n" : "");
}

/// The legal values of the axis as text, for example "h2d, d2h, d2d" or "1 to 1024".
std::string legal(const Axis& axis) {
  constexpr double kBoundless = 1e17;
  if (axis.kind == AxisKind::choice) return fmt::format("{}", fmt::join(axis.choices, ", "));
  if (axis.kind == AxisKind::gpus) {
    const std::string numbers =
        axis.joined_by == '\0' ? "the number of a GPU" : fmt::format("numbers of GPUs joined by {}", axis.joined_by);
    return fmt::format("{}, or {}", numbers, fmt::join(axis.choices, ", "));
  }
  if (!axis.example.empty()) return fmt::format("as in {}", axis.example);
  if (axis.max > kBoundless) return fmt::format("{} or more", bound_text(axis, axis.min));
  return fmt::format("{} to {}", bound_text(axis, axis.min), bound_text(axis, axis.max));
}

std::string companion_text(MetricDeclaration::Companion companion) {
  switch (companion) {
    case MetricDeclaration::Companion::interval: return "half-width of the 95 % interval";
    case MetricDeclaration::Companion::clock: return "the clock (a column if cases differ)";
    case MetricDeclaration::Companion::p90: return "90th percentile";
    case MetricDeclaration::Companion::p99: return "99th percentile";
  }
  return "";
}

/// Returns for example " [bandwidth: GB/s, higher is better]": the name of the metric in results files if it differs
/// from the column heading, its unit, and which direction is better.
std::string fact_of(const MetricDeclaration& m) {
  std::string fact = m.kind == MetricDeclaration::Kind::label ? "a word" : m.unit == "1" ? "a ratio" : m.unit;
  if (m.better != Better::neither) fact += fmt::format(", {} is better", to_text(m.better));
  return fmt::format(" [{}{}]", m.heading.empty() || m.heading == m.name ? "" : m.name + ": ", fact);
}

}  // namespace

std::string to_text(const Page& page, std::size_t columns) {
  const std::size_t width = std::clamp(columns, kNarrowestPage, kPageWidth);
  // The first line of the program's own page is its summary, without its name.
  const std::string title = page.name == "xferbench" ? page.summary : page.name + ": " + page.summary;
  std::string text = folded(title + "\n\nUsage:\n" + page.usage, width) + laid_out(page.sections, width);
  if (!page.footer.empty()) text += "\n" + folded(page.footer, width);
  return text + laid_out(page.results, width);
}

std::string placeholder(const Axis& axis) {
  constexpr std::array<const char*, 8> kWords{"SIZES", "COUNTS", "NUMBERS", "TIMES",
                                              "WORDS", "GPUS",   "TEXTS",   "FILES"};  // in the order of AxisKind
  const std::string word = kWords[static_cast<std::size_t>(axis.kind)];
  return axis.implicit_value.empty() ? word : "[" + word + "]";
}

std::string requirements_text(const Axis& axis) {
  const std::string flag = "--" + axis.only_with_axis;
  return axis.only_with_values.empty() ? flag : fmt::format("{} {}", flag, fmt::join(axis.only_with_values, ","));
}

std::string description_of(const Axis& axis) {
  std::string text = axis.help;
  if (!axis.defaults.empty()) {
    text += " [" + axis.defaults + "]";
  } else if (!axis.alternative_to.empty()) {
    text += " [instead of --" + axis.alternative_to + "]";
  }
  if (!axis.tuning.empty()) text += "\ntune tries " + axis.tuning + (axis.tuned_without ? " and the default" : "");
  text += "\n" + legal(axis);
  if (!axis.only_with_axis.empty()) text += fmt::format("; only with {}", requirements_text(axis));
  return text;
}

std::vector<Section> results_of(const ScenarioDescriptor& scenario) {
  Section columns{"Columns", {}};
  std::set<std::string> told;  // names already shown; a measurement and a metric derived from it may have the same name
  for (const Column& column : columns_of(scenario.metrics)) {
    const MetricDeclaration& of = *column.of;
    told.insert(of.name);
    columns.entries.push_back(
        {column.header(),
         {column.companion ? companion_text(*column.companion) + " of " + of.name : of.help + fact_of(of)}});
  }
  // If only one case ran, its measurements are shown in a table of their own, which has these rows.
  Section rows{"Rows of the measurements table", {}};
  Section others{"In results files only", {}};
  for (const MetricDeclaration& metric : scenario.metrics) {
    if (!told.insert(metric.name).second) continue;
    Section& place = metric.kind == MetricDeclaration::Kind::measurement ? rows : others;
    place.entries.push_back({metric.name, {metric.help + fact_of(metric)}});
  }
  std::vector<Section> sections{columns, rows, others};
  std::erase_if(sections, [](const Section& section) { return section.entries.empty(); });
  return sections;
}

std::string_view short_examples() {
  return R"(Examples:
  xferbench --streams 8 --size 256M                  how close is this pipeline to the limit?
  xferbench explain -- ./my_app args                 what do my program's transfers cost, and what would help?
  xferbench --simulate                               without a GPU: simulates one, and says so

More: xferbench help run (flags of every run, values, exit codes), help memcpy, help tune, ...
)";
}

std::string_view value_grammar() {
  return R"(  sizes   4096, 4K, 256M, 1.5G, 4KiB, 1GiB are powers of 1024; KB, MB, GB are powers of 1000
  times   3ms, 500us, 90s, 20min, 8h, 2d
  lists   1,2,4    ranges   4K:1G:x4 (times 4)   1:16:+1 (plus 1)   1:16 (doubling)
  words   h2d,d2h; all means every word of the flag, unless the flag itself has a word all
  Every flag of a scenario takes lists and ranges; the cases are their product.
)";
}

std::string_view exit_codes() {
  return R"(  0 success   1 a case failed; compare: a regression; check: a limit not kept
  2 wrong usage, or a file that cannot be read or written   3 no usable GPU   4 compare: not enough data for a verdict
  5 nothing was measured   6 the GPU does not answer   130 Ctrl-C, 143 SIGTERM (results so far are written)
)";
}

std::string profile_lines() {
  std::string text;
  const auto add = [&text](std::string_view name, std::string_view description) {
    text += fmt::format("  {:<24} {}\n", name, description);
  };
  for (const auto& [name, description] : simulated_profiles()) add(name, description);
  add("FILE", "a profile file, based on one of these; its path contains a / or ends in .json");
  return text;
}

}  // namespace xferbench::cli
