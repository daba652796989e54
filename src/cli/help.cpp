#include "cli/help.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "cli/flags.hpp"
#include "core/units.hpp"
#include "device/open.hpp"

namespace xferbench::cli {

namespace {

const char* placeholder(AxisKind kind) {
  switch (kind) {
    case AxisKind::size: return "SIZES";
    case AxisKind::count: return "COUNTS";
    case AxisKind::real: return "NUMBERS";
    case AxisKind::choice: return "WORDS";
  }
  return "";
}

std::string number(double value, AxisKind kind) {
  if (kind == AxisKind::real) return fmt::format("{}", value);
  const auto whole = static_cast<std::uint64_t>(value);
  return kind == AxisKind::size ? format_size_exact(whole) : fmt::format("{}", whole);
}

/// "h2d, d2h, d2d" or "1 to 1024": what the axis allows.
std::string legal(const Axis& axis) {
  constexpr double kBoundless = 1e17;
  if (axis.kind == AxisKind::choice) return fmt::format("{}", fmt::join(axis.choices, ", "));
  if (axis.max > kBoundless) return fmt::format("{} or more", number(axis.min, axis.kind));
  return fmt::format("{} to {}", number(axis.min, axis.kind), number(axis.max, axis.kind));
}

std::string flag_line(const std::string& flag, const std::string& help, const std::string& note) {
  return fmt::format("  {:<24} {}{}\n", flag, help, note.empty() ? "" : " [" + note + "]");
}

/// Under the help of a flag, in lines that a terminal holds; broken at blanks.
std::string below_flag(const std::string& text) {
  constexpr std::size_t kLongest = 93;  // and 27 before it
  std::string lines;
  std::string line;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > kLongest) lines += flag_line("", std::exchange(line, ""), "");
    line += (line.empty() ? "" : " ") + word;
  }
  return lines + flag_line("", line, "");
}

std::string axis_line(const Axis& axis) {
  const std::string note = !axis.defaults.empty()  ? axis.defaults
                           : axis.replaces.empty() ? ""
                                                   : "instead of --" + axis.replaces;
  const std::string value = axis.bare.empty() ? placeholder(axis.kind) : fmt::format("[{}]", placeholder(axis.kind));
  return flag_line(fmt::format("--{} {}", axis.name, value), axis.help, note);
}

std::string flag_lines(std::span<const RunFlag> flags) {
  std::string text;
  for (const RunFlag& flag : flags) {
    const std::string space = flag.argument.empty() ? "" : " ";
    text += flag_line("--" + flag.axis.name + space + flag.argument, flag.axis.help, flag.axis.defaults);
  }
  return text;
}

std::string run_flag_lines() {
  std::string text = flag_lines(run_flags());
  text += flag_line("-h, --help", "this text; after a scenario, that scenario's", "");
  return text + flag_line("--version", "version and build", "");
}

std::string profile_lines() {
  std::string text;
  for (const auto& [name, description] : simulated_profiles()) text += fmt::format("  {:<24} {}\n", name, description);
  return text;
}

constexpr const char* kUsage =
    R"(xferbench measures how fast data reaches the GPU, is worked on and comes back, beside the limit of this machine.

Usage:
  xferbench [SCENARIO]... [axis flags] [run flags]   measure; without a scenario: overlap
  xferbench tune [SCENARIO] [axis flags] [run flags] the fastest configuration for what the flags fix
  xferbench compare BASE NEW                         what changed between two results files (compare --help)
  xferbench list [SCENARIO]                          what can be run, with axes, units and defaults
  xferbench check RESULTS --expect FILE|NAME         whether results are within limits; exit code 1 if not
  xferbench info                                     GPU, link and its limit, driver, host, build

Examples:
  xferbench --streams 8 --size 256M                  how close does this pipeline come to the limit?
  xferbench --streams 2,4,8 --chunks 4:128           every combination (4:128 doubles: 4, 8, 16, ... 128)
  xferbench --balance 0.5,1,2                        kernel half, once, twice as long as the H2D copy
  xferbench tune --size 64M                          which streams, chunks, strategy are best for 64 MiB?
  xferbench memcpy --dir h2d --size 4K:1G:x4         copies from 4 KiB to 1 GiB
  xferbench --simulate --streams 8                   no GPU at hand: a modelled one, marked as such
  xferbench --json results.json                      every sample, for scripts and CI
  xferbench --streams 3 --timeline pipeline.json     what ran when: a chart, and a file for ui.perfetto.dev

)";

constexpr const char* kGrammar =
    R"(Values:
  sizes   4096, 4K, 256M, 1.5G, 4KiB, 1GiB are powers of 1024; KB, MB, GB are powers of 1000
  lists   1,2,4    ranges   4K:1G:x4 (times 4)   1:16:+1 (plus 1)   1:16 (doubling)
  words   h2d,d2h; all stands for every word that the axis knows
  Every axis takes lists and ranges; the cases are their product.
)";

constexpr const char* kExitCodes =
    R"(Exit codes:
  0 all well   1 a case failed; of check, a limit is not kept   2 usage, a file that cannot be read or written
  3 no usable GPU
  130 interrupted by Ctrl-C, 143 by SIGTERM (what was measured is written)
)";

}  // namespace

std::string help(std::span<const ScenarioView> scenarios) {
  std::string text = kUsage;
  text += "Run flags:\n" + run_flag_lines();
  text += "\nFlags of check (beside --json, --markdown, --color, --quiet):\n" + flag_lines(check_flags());
  for (const ScenarioView& scenario : scenarios) {
    text += fmt::format("\n{} - {}:\n", scenario.name, scenario.summary);
    for (const Axis& axis : scenario.axes) text += axis_line(axis);
  }
  return text + "\n" + kGrammar + "\nProfiles for --simulate:\n" + profile_lines() + "\n" + kExitCodes;
}

std::string describe(const ScenarioView& scenario) {
  std::string text = fmt::format("{} - {}\n\n", scenario.name, scenario.summary);
  for (const Axis& axis : scenario.axes) {
    text += axis_line(axis);
    if (!axis.tuning.empty()) text += below_flag("tune tries " + axis.tuning);
    text +=
        below_flag(legal(axis) + (axis.only_with_axis.empty() ? ""
                                                              : fmt::format("; only with --{} {}", axis.only_with_axis,
                                                                            fmt::join(axis.only_with_values, ","))));
  }
  text += fmt::format("\n{}", kGrammar);
  return text + fmt::format("\nRun flags and exit codes: xferbench --help\n");
}

std::string list(std::span<const ScenarioView> scenarios) {
  std::string text;
  for (const ScenarioView& scenario : scenarios) {
    const bool is_default = &scenario == scenarios.data();
    text += fmt::format("{:<12} {}{}\n", scenario.name, scenario.summary, is_default ? " (the default)" : "");
  }
  return text + "\nAxes of one: xferbench list SCENARIO\n";
}

}  // namespace xferbench::cli
