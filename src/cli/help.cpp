#include "cli/help.hpp"

#include <fmt/format.h>

#include <sstream>
#include <utility>

#include "cli/texts.hpp"
#include "device/open.hpp"

namespace xferbench::cli {

namespace {

std::string flag_line(const std::string& flag, const std::string& help, const std::string& note) {
  return fmt::format("  {:<24} {}{}\n", flag, help, note.empty() ? "" : " [" + note + "]");
}

std::string flag_line(const FlagText& flag) { return flag_line(flag.spelling, flag.help, flag.note); }

/// The help of `flag`, or, without one, what stands under it, in lines that a terminal holds; broken at blanks.
std::string wrapped_lines(std::string flag, const std::string& text) {
  constexpr std::size_t kLongest = 93;  // and 27 before it
  std::string lines;
  std::string line;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > kLongest)
      lines += flag_line(std::exchange(flag, ""), std::exchange(line, ""), "");
    line += (line.empty() ? "" : " ") + word;
  }
  return lines + flag_line(flag, line, "");
}

std::string flag_lines(std::span<const RunFlag> flags) {
  std::string text;
  for (const RunFlag& flag : flags) text += flag_line(text_of(flag));
  return text;
}

std::string profile_lines() {
  std::string text;
  for (const auto& [name, description] : simulated_profiles()) text += fmt::format("  {:<24} {}\n", name, description);
  return text;
}

std::string usage_lines() {
  std::string text;
  for (const Usage& usage : usages()) {
    const std::string space = usage.name.empty() || usage.arguments.empty() ? "" : " ";
    text += fmt::format("  {:<50} {}\n", "xferbench " + usage.name + space + usage.arguments, usage.help);
  }
  return text;
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

std::string help(Descriptors scenarios) {
  std::string text = fmt::format("{}\n\nUsage:\n{}\nExamples:\n{}\nRun flags:\n{}", kSummary, usage_lines(), examples(),
                                 flag_lines(run_flags()));
  for (const FlagText& flag : flags_of_every_command()) text += flag_line(flag);
  text += "\nFlags of check (beside --json, --markdown, --color, --quiet):\n" + flag_lines(check_flags());
  for (const ScenarioDescriptor* scenario : scenarios) {
    text += fmt::format("\n{} - {}:\n", scenario->name, scenario->summary);
    for (const Axis& axis : scenario->axes) text += flag_line(text_of(axis));
  }
  return text + fmt::format("\nValues:\n{}\nProfiles for --simulate:\n{}\nExit codes:\n{}", value_grammar(),
                            profile_lines(), exit_codes());
}

std::string describe(const ScenarioDescriptor& scenario) {
  std::string text = fmt::format("{} - {}\n\n", scenario.name, scenario.summary);
  for (const Axis& axis : scenario.axes) {
    const FlagText flag = text_of(axis);
    text += flag_line(flag);
    for (const std::string& more : flag.more) text += wrapped_lines("", more);
  }
  return text + fmt::format("\nValues:\n{}\nRun flags and exit codes: xferbench --help\n", value_grammar());
}

std::string explain_results(const ScenarioDescriptor& scenario) {
  std::string columns;
  for (const Column& column : columns_of(scenario.metrics)) {
    const MetricDeclaration& of = *column.of;
    columns += wrapped_lines(column.header(),
                             column.beside ? beside_text(*column.beside) + " of " + of.name : of.help + fact_of(of));
  }
  std::string others;
  for (const MetricDeclaration& metric : scenario.metrics) {
    if (metric.heading.empty()) others += wrapped_lines(metric.name, metric.help + fact_of(metric));
  }
  return "\nColumns:\n" + columns + "\nIn results files only:\n" + others;
}

std::string list(Descriptors scenarios) {
  std::string text;
  for (const ScenarioDescriptor* scenario : scenarios) {
    const bool is_default = scenario == scenarios.front();
    text += fmt::format("{:<12} {}{}\n", scenario->name, scenario->summary, is_default ? " (the default)" : "");
  }
  return text + "\nAxes and columns of one: xferbench list SCENARIO\n";
}

}  // namespace xferbench::cli
