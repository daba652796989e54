#include "cli/man.hpp"

#include <fmt/format.h>

#include <sstream>

#include "cli/pages.hpp"
#include "version.hpp"

namespace xferbench::cli {

namespace {

constexpr std::string_view kEnvironmentAndFiles = R"(.SH ENVIRONMENT
.TP
.B NO_COLOR
Set to anything but an empty text: no colours, unless \-\-color asks for them.
.TP
.B CUDA_VISIBLE_DEVICES
The GPUs that \-\-gpu counts, as for every CUDA program.
.TP
.B XFERBENCH_DATA
The folder that holds the folders expectations and suites, in place of the one that was installed.
.SH FILES
.TP
.I PREFIX/share/xferbench/expectations/NAME.json
Limits that check \-\-expect NAME finds by their name.
.TP
.I PREFIX/share/xferbench/suites/NAME.json
Sets of runs that \-\-suite NAME finds by their name.
.TP
.I PREFIX/share/doc/xferbench
The documentation (docs/README.md leads through it) and the formats of files.
)";

std::string paragraph(std::string_view text) { return roff_escaped(text) + "\n"; }

/// Lines that stand as they are.
std::string verbatim(std::string_view text) {
  std::string roff = ".EX\n";
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) roff += paragraph(line);
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

/// Every scenario or command with the flags that it alone has, and what its page says below them.
std::string subcommands(const CLI::App& app, const std::string& group) {
  std::string roff;
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_group() != group) continue;
    roff += fmt::format(".SS {}\n{}", roff_escaped(command->get_name()), paragraph(command->get_description()));
    std::vector<const CLI::Option*> flags = command->get_options();
    std::erase(flags, command->get_help_ptr());
    roff += entries(sections_of(flags));
    if (group == "Commands" && command->get_name() != "run" && !command->get_footer().empty())
      roff += ".PP\n" + verbatim(command->get_footer());
  }
  return roff;
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

std::string man_page(const CommandLine& command_line) {
  const CLI::App& app = command_line.app();
  std::string text = fmt::format(".TH XFERBENCH 1 \"\" \"xferbench {}\" \"User Commands\"\n", build::kVersion);
  const auto section = [&text](const char* title, const std::string& body) {
    text += fmt::format(".SH {}\n{}", title, body);
  };
  section("NAME", "xferbench \\- measure copies between host and GPU, and pipelines that overlap them with work\n");
  section("SYNOPSIS", verbatim(program_usage()));
  section("DESCRIPTION", paragraph(app.get_description()));
  section("RUN FLAGS", entries(sections_of(app.get_options())));
  section("COMMANDS", subcommands(app, "Commands"));
  section("SCENARIOS", subcommands(app, "Scenarios"));
  section("VALUES", verbatim(value_grammar()));
  section("PROFILES FOR \\-\\-simulate", verbatim(profile_lines()));
  section("EXAMPLES", verbatim(short_examples()));
  section("EXIT STATUS", verbatim(exit_codes()));
  return text + std::string(kEnvironmentAndFiles);
}

}  // namespace xferbench::cli
