// The program's command line in CLI11: one subcommand for each scenario and each other command, their flags, and the
// variables that receive the values. Flags of runs are declared for the whole program, so that they may stand anywhere;
// Known::taken lists those that a command accepts. Only files that include this header use CLI11.
#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"
#include "cli/pages.hpp"
#include "cli/plan.hpp"

namespace xferbench::cli {

/// Words that may follow `list`, other than scenario names. Same order as ListCommand::Of without its first enumerator.
inline constexpr std::array<std::string_view, 5> kListed{"scenarios", "suites", "expectations", "profiles", "gpus"};

using Flags = std::vector<const CLI::Option*>;

/// All declared flags and, after read(), their values. The functions below declare flags in it or read their values.
struct CommandLine : NonCopyable {
  explicit CommandLine(Scenarios all, AxisFlags flags_of_axes = AxisFlags::of_scenario);

  /// Data about a command or scenario that CLI11 does not store.
  struct Known {
    std::string usage;                   ///< usage lines for its help page
    Flags taken{};                       ///< flags of the program that the command accepts
    std::function<Command()> make{};     ///< makes the command from the values of its flags; empty for a scenario
    const Scenario* scenario = nullptr;  ///< the scenario that the subcommand measures; null for other commands
  };
  struct Contradiction {
    const CLI::Option* one;
    const CLI::Option* other;
    std::string why;
  };

  CLI::App* add_command(const std::string& name, const std::string& description, std::string_view footer, Known what);
  /// Adds a flag with one value, written like an axis value: a whole or real number, a size or one of several words.
  CLI::Option* add_value(CLI::App& of, const Axis& axis, const char* argument,
                         const std::function<void(const Value&)>& store);
  /// Adds a flag whose value is a percentage; `share` receives it as a fraction and holds the default.
  CLI::Option* add_share(CLI::App& of, Axis axis, double& share);
  void contradict(CLI::Option* one, CLI::Option* other, const std::string& why);
  /// Returns the program's flags that have these names.
  [[nodiscard]] Flags named(std::initializer_list<const char*> flags) const;
  /// Creates a variable for the value of a flag. It lives as long as this object.
  template <class T>
  T& keep() {
    const auto place = std::make_shared<T>();
    kept.push_back(place);
    return *place;
  }

  /// Parses the arguments. Returns the error message if there is a mistake.
  std::optional<std::string> read(std::span<const std::string> arguments);
  /// Returns the last subcommand on the line, or the program's own CLI::App if there is none.
  [[nodiscard]] const CLI::App& innermost() const;
  [[nodiscard]] const Scenario* scenario_of(const CLI::App& command) const { return known.at(&command).scenario; }
  /// Returns all subcommands on the line except the first. The line must have at least one.
  [[nodiscard]] std::vector<const CLI::App*> words_after_command() const;
  [[nodiscard]] bool given(const char* flag) const { return app.get_option(flag)->count() > 0; }

  Scenarios scenarios;
  AxisFlags axis_flags;
  CLI::App app;
  CLI::App* tune = nullptr;
  std::map<const CLI::App*, Known> known;  ///< data by command; the entry of `app` is for a run without the word `run`
  std::map<const CLI::Option*, std::vector<std::string>> choices;
  std::vector<Contradiction> contradictions;
  std::vector<std::shared_ptr<void>> kept;

  AxisTexts shared;  ///< values of axis flags that stand before the scenarios
  /// error message for the first axis flag after a scenario that lacks this axis
  std::optional<std::string> misplaced;
  Measuring measuring;               ///< values of the program's flags
  RunCommand run;                    ///< values of the flags that only runs have
  std::vector<std::string> program;  ///< the words after "--" of explain
};

// These functions declare flags and commands, in the order in which help shows them.
void add_program_flags(CommandLine& line);
void add_scenarios(CommandLine& line);
void add_run_and_tune(CommandLine& line);
void add_commands(CommandLine& line);

// These functions throw UsageError for unknown words and flags, words in the wrong place, flags of the program that the
// command does not accept, and measuring options that contradict each other.
void reject_leftover_words(const CommandLine& line);
void reject_word(const CommandLine& line, const std::string& word);
void reject_unused_flags(const CommandLine& line, const CLI::App& command);
void finish_measuring(CommandLine& line, double budget);
/// Throws UsageError if --numa all is given: the chosen command does not accept it.
void refuse_each_node(const CommandLine& line);
/// Returns the scenario of that name. Throws UsageError if there is none.
const Scenario& topic(const CommandLine& line, const std::string& word);

/// Returns the help page of the program, a command or a scenario.
Page page(const CommandLine& line, const CLI::App& app);
/// Returns the manual page, which contains all help.
std::string manual(const CommandLine& line);

}  // namespace xferbench::cli
