// The manual page, xferbench(1).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "cli/pages.hpp"
#include "core/lists.hpp"
#include "version.hpp"

namespace xferbench::cli {

namespace {

constexpr std::string_view kEnvironmentAndFiles = R"(.SH ENVIRONMENT
.TP
.B NO_COLOR
Set to anything but an empty text: no colours, unless \-\-color asks for them.
.TP
.B TERM
If it is dumb: no colours, and no progress line.
.TP
.B CUDA_VISIBLE_DEVICES
The GPUs that CUDA shows to the program; \-\-gpu numbers these.
.TP
.B XFERBENCH_DATA
The folder that contains the folders expectations and suites, instead of the installed one.
.SH FILES
.TP
.I PREFIX/share/xferbench/expectations/NAME.json
Limits for check \-\-expect NAME.
.TP
.I PREFIX/share/xferbench/suites/NAME.json
Sets of runs for \-\-suite NAME.
.TP
.I PREFIX/share/doc/xferbench
The documentation (start with docs/README.md) and the schemas of all file formats.
)";

std::string paragraph(std::string_view text) { return roff_escaped(text) + "\n"; }

/// Formats lines whose line breaks roff must keep.
std::string verbatim(std::string_view text) {
  std::string roff = ".EX\n";
  for (const std::string& line : split(text, '\n')) roff += paragraph(line);
  return roff + ".EE\n";
}

std::string entries(const std::vector<Section>& sections) {
  std::string roff;
  for (const Section& section : sections) {
    for (const Entry& entry : section.entries) {
      roff += fmt::format(".TP\n\\fB{}\\fR\n", roff_escaped(entry.tag));
      for (std::size_t i = 0; i < entry.lines.size(); ++i) roff += (i == 0 ? "" : ".br\n") + paragraph(entry.lines[i]);
    }
  }
  return roff;
}

/// Formats the entry of a command or scenario with its own flags. Flags that all runs share are listed only once.
std::string subcommand(const Page& page) {
  std::string roff = fmt::format(".SS {}\n{}", roff_escaped(page.name), paragraph(page.summary));
  for (Section section : page.sections) {
    if (section.title != kFlags) continue;
    section.entries.pop_back();  // the last entry is --help
    roff += entries({section});
  }
  return roff;
}

}  // namespace

std::string roff_escaped(std::string_view line) {
  std::string escaped;
  if (!line.empty() && (line.front() == '.' || line.front() == '\'')) escaped = "\\&";
  constexpr std::array<std::pair<char, const char*>, 7> kNames{
      {{'\\', "e"}, {'-', "-"}, {'\'', "(aq"}, {'`', "(ga"}, {'^', "(ha"}, {'~', "(ti"}, {'"', "(dq"}}};
  for (const char c : line) {
    const auto named = std::ranges::find(kNames, c, &std::pair<char, const char*>::first);
    escaped += named == kNames.end() ? std::string(1, c) : std::string("\\") + named->second;
  }
  return escaped;
}

std::string man_page(const Page& program, const std::vector<Section>& run_flags, const std::vector<Page>& commands,
                     const std::vector<Page>& scenarios) {
  std::string text = fmt::format(".TH XFERBENCH 1 \"\" \"xferbench {}\" \"User Commands\"\n", build::kVersion);
  const auto section = [&text](const char* title, const std::string& body) {
    text += fmt::format(".SH {}\n{}", title, body);
  };
  std::string commands_text;
  for (const Page& page : commands) {
    const bool told_below = page.name == "run" || page.footer.empty();
    commands_text += subcommand(page) + (told_below ? "" : ".PP\n" + verbatim(page.footer));
  }
  std::string scenarios_text;
  for (const Page& page : scenarios) scenarios_text += subcommand(page);
  section("NAME", "xferbench \\- measure copies between host and GPU, and pipelines that overlap them with work\n");
  section("SYNOPSIS", verbatim(program.usage));
  section("DESCRIPTION", paragraph(program.summary));
  section("RUN FLAGS", entries(run_flags));
  section("COMMANDS", commands_text);
  section("SCENARIOS", scenarios_text);
  section("VALUES", verbatim(value_grammar()));
  section("PROFILES FOR \\-\\-simulate", verbatim(profile_lines()));
  section("EXAMPLES", verbatim(short_examples()));
  section("EXIT STATUS", verbatim(exit_codes()));
  return text + std::string(kEnvironmentAndFiles);
}

}  // namespace xferbench::cli
