#include "cli/pages.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>

#include "cli/values.hpp"
#include "core/units.hpp"
#include "device/open.hpp"

namespace xferbench::cli {

namespace {

constexpr std::size_t kPageWidth = 120;
constexpr std::size_t kWidestTag = 26;

/// Broken at blanks.
std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
  std::vector<std::string> lines(1);
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width) lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word;
  }
  return lines;
}

std::string laid_out(const Section& section, std::size_t tag_width) {
  std::string text = fmt::format("\n{}:\n", section.title);
  for (const Entry& entry : section.entries) {
    std::string tag = entry.tag;
    for (const std::string& paragraph : entry.lines) {
      for (const std::string& line : wrapped(paragraph, kPageWidth - tag_width - 3)) {
        text += fmt::format("  {:<{}} {}\n", std::exchange(tag, ""), tag_width, line);
      }
    }
  }
  return text;
}

std::string laid_out(const std::vector<Section>& sections) {
  std::size_t width = 0;
  for (const Section& section : sections) {
    for (const Entry& entry : section.entries) width = std::max(width, std::min(entry.tag.size(), kWidestTag));
  }
  std::string text;
  for (const Section& section : sections) text += laid_out(section, width);
  return text;
}

/// "h2d, d2h, d2d" or "1 to 1024": what the axis allows.
std::string legal(const Axis& axis) {
  constexpr double kBoundless = 1e17;
  if (axis.kind == AxisKind::choice) return fmt::format("{}", fmt::join(axis.choices, ", "));
  if (axis.kind == AxisKind::gpus) {
    const std::string numbers =
        axis.joined_by == '\0' ? "the number of a GPU" : fmt::format("numbers of GPUs joined by {}", axis.joined_by);
    return fmt::format("{}, or {}", numbers, fmt::join(axis.choices, ", "));
  }
  if (!axis.example.empty()) return fmt::format("as in {}", axis.example);
  if (axis.max > kBoundless) return fmt::format("{} or more", bound_text(axis.min, axis.kind));
  return fmt::format("{} to {}", bound_text(axis.min, axis.kind), bound_text(axis.max, axis.kind));
}

std::string beside_text(MetricDeclaration::Beside beside) {
  switch (beside) {
    case MetricDeclaration::Beside::interval: return "half-width of the 95 % interval";
    case MetricDeclaration::Beside::clock: return "the clock, where it differs between cases,";
    case MetricDeclaration::Beside::p90: return "90th percentile";
    case MetricDeclaration::Beside::p99: return "99th percentile";
  }
  return "";
}

/// " [bandwidth: GB/s, higher is better]": its name in files, where that is not its heading, its unit, which way is
/// better.
std::string fact_of(const MetricDeclaration& m) {
  std::string fact = m.kind == MetricDeclaration::Kind::label ? "a word" : m.unit == "1" ? "a ratio" : m.unit;
  if (m.better != Better::neither) fact += fmt::format(", {} is better", to_text(m.better));
  return fmt::format(" [{}{}]", m.heading.empty() || m.heading == m.name ? "" : m.name + ": ", fact);
}

}  // namespace

std::string to_text(const Page& page) {
  // The program's own page begins with what it is for.
  const std::string title = page.name == "xferbench" ? page.summary : page.name + ": " + page.summary;
  const std::string text = title + "\n\nUsage:\n" + page.usage + laid_out(page.sections);
  return page.footer.empty() ? text : text + "\n" + page.footer;
}

std::string placeholder(const Axis& axis) {
  const std::string word = axis.kind == AxisKind::size    ? "SIZES"
                           : axis.kind == AxisKind::count ? "COUNTS"
                           : axis.kind == AxisKind::real  ? "NUMBERS"
                           : axis.kind == AxisKind::gpus  ? "GPUS"
                           : axis.kind == AxisKind::text  ? "TEXTS"
                           : axis.kind == AxisKind::file  ? "FILES"
                                                          : "WORDS";
  return axis.implicit_value.empty() ? word : "[" + word + "]";
}

std::string what_it_needs(const Axis& axis) {
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
  if (!axis.only_with_axis.empty()) {
    text += fmt::format("; only with {}", what_it_needs(axis));
  }
  return text;
}

std::string explain_results(const ScenarioDescriptor& scenario) {
  Section columns{"Columns", {}};
  std::set<std::string> told;  // a measurement and the metric made of it may have one name
  for (const Column& column : columns_of(scenario.metrics)) {
    const MetricDeclaration& of = *column.of;
    told.insert(of.name);
    columns.entries.push_back(
        {column.header(), {column.beside ? beside_text(*column.beside) + " of " + of.name : of.help + fact_of(of)}});
  }
  // Where only one case ran, a table of what was measured follows: its rows are measurements.
  Section rows{"Rows of what was measured", {}};
  Section others{"In results files only", {}};
  for (const MetricDeclaration& metric : scenario.metrics) {
    if (!told.insert(metric.name).second) continue;
    Section& place = metric.kind == MetricDeclaration::Kind::measurement ? rows : others;
    place.entries.push_back({metric.name, {metric.help + fact_of(metric)}});
  }
  std::vector<Section> sections{columns, rows, others};
  std::erase_if(sections, [](const Section& section) { return section.entries.empty(); });
  return laid_out(sections);
}

std::string_view short_examples() {
  return R"(Examples:
  xferbench --streams 8 --size 256M                  how close does this pipeline come to the limit?
  xferbench tune --size 64M --json best.json         which streams, chunks, strategy are best for 64 MiB?
  xferbench explain -- ./my_app args                 what do my program's transfers cost it, and what would help?
  xferbench --simulate                               no GPU at hand: a modelled one, marked as such

More: xferbench help run (flags of every run, values, exit codes), help memcpy, help tune, ...
)";
}

std::string_view value_grammar() {
  return R"(  sizes   4096, 4K, 256M, 1.5G, 4KiB, 1GiB are powers of 1024; KB, MB, GB are powers of 1000
  lists   1,2,4    ranges   4K:1G:x4 (times 4)   1:16:+1 (plus 1)   1:16 (doubling)
  words   h2d,d2h; all stands for every word that the flag knows
  Every flag of a scenario takes lists and ranges; the cases are their product.
)";
}

std::string_view exit_codes() {
  return R"(  0 all well   1 a case failed; of compare a regression, of check a limit not kept
  2 usage, a file that cannot be read or written   3 no usable GPU   4 of compare: it could not have found what it is for
  5 nothing was measured   6 the GPU does not answer   130 Ctrl-C, 143 SIGTERM (what was measured is written)
)";
}

std::string profile_lines() {
  std::string text;
  const auto add = [&text](std::string_view name, std::string_view description) {
    text += fmt::format("  {:<24} {}\n", name, description);
  };
  for (const auto& [name, description] : simulated_profiles()) add(name, description);
  add("FILE", "a profile file, which changes one of them; a / is in its path, or it ends in .json");
  return text;
}

}  // namespace xferbench::cli
