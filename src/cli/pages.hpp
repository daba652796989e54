// Help as text: how a page is laid out, and the texts that several pages share, each written once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/axis.hpp"
#include "results/scenario_descriptor.hpp"

namespace xferbench::cli {

inline constexpr std::string_view kSummary =
    "xferbench measures how fast this machine moves data to the GPU, processes it and brings it back, and what limits "
    "it.";

// Groups of subcommands and flags, which are titles of help; axes' flags that stand before the scenarios are shown with
// the scenarios.
inline constexpr const char* kScenarios = "Scenarios";
inline constexpr const char* kCommands = "Commands";
inline constexpr const char* kFlags = "Flags";
inline constexpr const char* kOfScenarios = "Of scenarios";

/// What help says of a flag, a command or a scenario: `tag` is how it is written, `lines` say what it is for.
struct Entry {
  std::string tag;
  std::vector<std::string> lines;
};

/// Entries below a title.
struct Section {
  std::string title;
  std::vector<Entry> entries;
};

/// The page of the program, a command or a scenario.
struct Page {
  std::string name;
  std::string summary;
  std::string usage;  ///< in lines
  std::vector<Section> sections{};
  std::string footer;
  std::vector<Section> results{};  ///< below the footer: what results of a scenario have
};

/// The widest page, which is also laid out where the width of the terminal is not known.
inline constexpr std::size_t kPageWidth = 120;

/// Laid out for a terminal with so many columns: 40 to kPageWidth are used.
std::string to_text(const Page& page, std::size_t columns = kPageWidth);

/// xferbench(1) in roff: `run_flags` once, and of each command and scenario only what it alone has.
std::string man_page(const Page& program, const std::vector<Section>& run_flags, const std::vector<Page>& commands,
                     const std::vector<Page>& scenarios);

/// A line of text with nothing in it that roff would take for a request, an escape or a dash to break at.
std::string roff_escaped(std::string_view line);

/// "SIZES", or "[WORDS]" where it may be left out.
std::string placeholder(const Axis& axis);
/// "--strategy batch" or "--kernel-file": without it, the axis means nothing.
std::string what_it_needs(const Axis& axis);
/// What it is for and its default; in further lines what tune tries and what is legal.
std::string description_of(const Axis& axis);

/// What `xferbench list memcpy` says below the flags: the scenario's columns, and what else its results have.
std::vector<Section> results_of(const ScenarioDescriptor& scenario);

std::string_view short_examples();
std::string_view value_grammar();
std::string_view exit_codes();
std::string profile_lines();

}  // namespace xferbench::cli
