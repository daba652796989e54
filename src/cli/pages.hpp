// Help as text: how a page is laid out, and the texts that several pages share, each written once.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/axis.hpp"
#include "core/scenario_descriptor.hpp"

namespace xferbench::cli {

inline constexpr std::string_view kSummary =
    "xferbench measures how fast data reaches the GPU, is worked on and comes back, beside the limit of this machine.";

/// Group of the axes' flags that stand before the scenarios: help shows them with the scenarios.
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

/// The flags by their groups, without those of no group.
std::vector<Section> sections_of(const std::vector<const CLI::Option*>& flags);
/// The scenarios and commands below an app by their groups.
std::vector<Section> subcommands_of(const CLI::App& app);

/// The page of one command: usage, flags, what stands in its footer.
class Page final : public CLI::FormatterBase {
 public:
  /// `usage` in lines; `shared`: flags of the program that the command takes beside its own.
  Page(std::string usage, std::vector<const CLI::Option*> shared)
      : usage_(std::move(usage)), shared_(std::move(shared)) {}
  [[nodiscard]] std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override;

 private:
  std::string usage_;
  std::vector<const CLI::Option*> shared_;
};

/// "SIZES", or "[WORDS]" where it may be left out.
std::string placeholder(const Axis& axis);
/// What it is for and its default; in further lines what tune tries and what is legal.
std::string description_of(const Axis& axis);

/// What `xferbench list memcpy` says below the flags: the scenario's columns, and what else its results have.
std::string explain_results(const ScenarioDescriptor& scenario);

std::string_view program_usage();
std::string_view compare_usage();
std::string_view compare_footer();
std::string_view short_examples();
std::string_view tune_examples();
std::string_view value_grammar();
std::string_view exit_codes();
std::string profile_lines();

}  // namespace xferbench::cli
