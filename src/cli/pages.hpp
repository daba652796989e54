// Help as text: the layout of a page, and texts that several pages share.
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

// Help groups of subcommands and flags. Axis flags that stand before the scenarios have the group kOfScenarios; help
// shows them with the scenarios.
inline constexpr const char* kScenarios = "Scenarios";
inline constexpr const char* kCommands = "Commands";
inline constexpr const char* kFlags = "Flags";
inline constexpr const char* kOfScenarios = "Of scenarios";

/// A line of help: `tag` is how a flag, a command or a scenario is written, `lines` say what it is for.
struct Entry {
  std::string tag;
  std::vector<std::string> lines;
};

/// Entries below a title.
struct Section {
  std::string title;
  std::vector<Entry> entries;
};

/// The help of the program, a command or a scenario.
struct Page {
  std::string name;
  std::string summary;
  std::string usage;  ///< one or more lines
  std::vector<Section> sections{};
  std::string footer;
  std::vector<Section> results{};  ///< of a scenario, shown below the footer: results_of()
};

/// Columns of the widest page; also used if the width of the terminal is unknown.
inline constexpr std::size_t kPageWidth = 120;

/// Lays the page out for a terminal of `columns` columns, limited to 40 to kPageWidth.
std::string to_text(const Page& page, std::size_t columns = kPageWidth);

/// xferbench(1) in roff: `run_flags` once, and of each command and scenario only what it alone has.
std::string man_page(const Page& program, const std::vector<Section>& run_flags, const std::vector<Page>& commands,
                     const std::vector<Page>& scenarios);

/// The line with escapes for all that roff would take for a request, an escape or a dash to break at.
std::string roff_escaped(std::string_view line);

/// The value of the axis as help writes it, for example "SIZES", or "[WORDS]" if the value may be left out.
std::string placeholder(const Axis& axis);
/// Returns the flag without which the axis has no effect, for example "--strategy batch" or "--kernel-file".
std::string requirements_text(const Axis& axis);
/// Purpose and default of the axis; further lines say what tune tries and which values are legal.
std::string description_of(const Axis& axis);

/// What `xferbench list memcpy` says below the flags: the scenario's columns, and what else its results have.
std::vector<Section> results_of(const ScenarioDescriptor& scenario);

std::string_view short_examples();
std::string_view value_grammar();
std::string_view exit_codes();
std::string profile_lines();

}  // namespace xferbench::cli
