// Help as text: the layout of a help page, and texts that several pages share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace xferbench {
struct Axis;
struct ScenarioDescriptor;
}  // namespace xferbench

namespace xferbench::cli {

inline constexpr std::string_view kSummary =
    "xferbench measures how fast this machine moves data to the GPU, processes it and brings it back, and what limits "
    "it.";

// Titles of groups of subcommands and flags in help. Axis flags that stand before the scenarios have the group
// kOfScenarios; help shows them on the pages of the scenarios.
inline constexpr const char* kScenarios = "Scenarios";
inline constexpr const char* kCommands = "Commands";
inline constexpr const char* kFlags = "Flags";
inline constexpr const char* kOfScenarios = "Of scenarios";

/// A line of help: `tag` is how a flag, a command or a scenario is written, `lines` describe it.
struct Entry {
  std::string tag;
  std::vector<std::string> lines;
};

struct Section {
  std::string title;
  std::vector<Entry> entries;
};

/// The help of the program, a command or a scenario.
struct Page {
  std::string name;
  std::string summary;
  std::string usage;
  std::vector<Section> sections{};
  std::string footer;
  std::vector<Section> results{};  ///< for a scenario: sections shown below the footer, from results_of()
};

/// Width in columns of the widest help page, also used if the width of the terminal is unknown.
inline constexpr std::size_t kPageWidth = 120;

/// Formats the page for a terminal with `columns` columns. Values outside 40 to kPageWidth are limited to that range.
std::string to_text(const Page& page, std::size_t columns = kPageWidth);

/// Returns the manual page xferbench(1) in roff. Shows `run_flags` once, and only the other flags of each command.
std::string man_page(const Page& program, const std::vector<Section>& run_flags, const std::vector<Page>& commands,
                     const std::vector<Page>& scenarios);

/// Escapes everything in the line that roff would take for a request, an escape or a dash at which it may break.
std::string roff_escaped(std::string_view line);

/// Returns the text that stands for the value in help, such as "SIZES", or "[WORDS]" if the value may be left out.
std::string placeholder(const Axis& axis);
/// Returns the flag without which the axis has no effect, for example "--strategy batch" or "--kernel-file".
std::string requirements_text(const Axis& axis);
/// Returns purpose and default of the axis; further lines list the values that `tune` tries and the legal values.
std::string description_of(const Axis& axis);

/// Returns what `xferbench list memcpy` shows below the flags: the columns of the scenario's table, and further metrics
/// that only its results files have.
std::vector<Section> results_of(const ScenarioDescriptor& scenario);

std::string_view short_examples();
std::string_view value_grammar();
std::string_view exit_codes();
std::string profile_lines();

}  // namespace xferbench::cli
