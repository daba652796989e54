#include "cli/man.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <sstream>
#include <utility>

#include "cli/compare_command.hpp"
#include "cli/texts.hpp"
#include "device/open.hpp"
#include "version.hpp"

namespace xferbench::cli {

namespace {

struct Entry {
  const char* name;
  const char* text;
};

constexpr std::array kEnvironment{
    Entry{"NO_COLOR", "Set to anything but an empty text: no colours, unless --color asks for them."},
    Entry{"CUDA_VISIBLE_DEVICES", "The GPUs that --gpu counts, as for every CUDA program."},
    Entry{"XFERBENCH_DATA",
          "The folder that holds the folders expectations and suites, in place of the one that was installed."}};

constexpr std::array kFiles{
    Entry{"PREFIX/share/xferbench/expectations/NAME.json", "Limits that check --expect NAME finds by their name."},
    Entry{"PREFIX/share/xferbench/suites/NAME.json",
          "Sets of runs that --suite NAME finds by their name (docs/suites.md)."},
    Entry{"PREFIX/share/doc/xferbench",
          "The documentation (docs/README.md leads through it) and the formats of files."}};

std::string paragraph(std::string_view text) { return roff_escaped(text) + "\n"; }

/// A tagged paragraph.
std::string entry(std::string_view tag, std::string_view text) {
  return fmt::format(".TP\n\\fB{}\\fR\n{}", roff_escaped(tag), paragraph(text));
}

std::string entry(const FlagText& flag) {
  std::string text = flag.help;
  if (!flag.note.empty()) text += " [" + flag.note + "]";
  std::string roff = entry(flag.spelling, text);
  for (const std::string& more : flag.more) roff += ".br\n" + paragraph(more);
  return roff;
}

std::string entries(std::span<const RunFlag> flags) {
  std::string text;
  for (const RunFlag& flag : flags) text += entry(text_of(flag));
  return text;
}

template <std::size_t n>
std::string entries(const std::array<Entry, n>& list) {
  std::string text;
  for (const Entry& e : list) text += entry(e.name, e.text);
  return text;
}

/// Lines that stand as they are.
std::string verbatim(std::string_view text) {
  std::string roff = ".EX\n";
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) roff += paragraph(line);
  return roff + ".EE\n";
}

std::string synopsis() {
  std::string text;
  for (const Usage& usage : usages()) {
    const std::string name = "xferbench" + (usage.name.empty() ? "" : " " + usage.name);
    text += fmt::format("{}\\fB{}\\fR {}\n", text.empty() ? "" : ".br\n", roff_escaped(name),
                        roff_escaped(usage.arguments));
  }
  return text;
}

std::string commands() {
  std::string text;
  for (const Usage& usage : usages()) {
    if (!usage.name.empty()) text += entry(usage.name, usage.help);
  }
  return text;
}

std::string scenario_text(const ScenarioDescriptor& scenario) {
  std::string text = fmt::format(".SS {}\n{}", roff_escaped(scenario.name), paragraph(scenario.summary));
  for (const Axis& axis : scenario.axes) text += entry(text_of(axis));
  return text;
}

std::string profiles() {
  std::string text;
  for (const auto& [name, description] : simulated_profiles()) text += entry(name, description);
  return text;
}

}  // namespace

std::string roff_escaped(std::string_view line) {
  std::string escaped;
  if (!line.empty() && (line.front() == '.' || line.front() == '\'')) escaped = "\\&";
  for (const char c : line) {
    switch (c) {
      case '\\': escaped += "\\e"; break;
      case '-': escaped += "\\-"; break;
      case '\'': escaped += "\\(aq"; break;
      case '`': escaped += "\\(ga"; break;
      case '^': escaped += "\\(ha"; break;
      case '~': escaped += "\\(ti"; break;
      case '"': escaped += "\\(dq"; break;
      default: escaped += c;
    }
  }
  return escaped;
}

std::string man_page(Descriptors scenarios) {
  std::string text = fmt::format(".TH XFERBENCH 1 \"\" \"xferbench {}\" \"User Commands\"\n", build::kVersion);
  const auto section = [&text](const char* title, const std::string& body) {
    text += fmt::format(".SH {}\n{}", title, body);
  };
  section("NAME", "xferbench \\- measure copies between host and GPU, and pipelines that overlap them with work\n");
  section("SYNOPSIS", synopsis());
  section("DESCRIPTION", paragraph(kSummary));
  section("COMMANDS", commands());
  std::string every;
  for (const FlagText& flag : flags_of_every_command()) every += entry(flag);
  section("RUN FLAGS", entries(run_flags()) + every);
  section("FLAGS OF CHECK", entries(check_flags()));
  section("FLAGS OF COMPARE", entries(compare_flags()));
  section("SCENARIOS", paragraph("Each axis is a flag that takes lists and ranges, see VALUES."));
  for (const ScenarioDescriptor* scenario : scenarios) text += scenario_text(*scenario);
  section("VALUES", verbatim(value_grammar()));
  section("PROFILES FOR \\-\\-simulate", profiles());
  section("EXAMPLES", verbatim(examples()));
  section("EXIT STATUS", verbatim(exit_codes()));
  section("ENVIRONMENT", entries(kEnvironment));
  section("FILES", entries(kFiles));
  return text;
}

}  // namespace xferbench::cli
