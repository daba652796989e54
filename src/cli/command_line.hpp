// The program's command line in CLI11: a subcommand for each scenario and each other command, their flags, and where
// values go. Flags of runs belong to the program and are found from every command, so that they may stand anywhere;
// Known::taken lists those that a command takes. Only files that include this header use CLI11.
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

/// What `list` shows besides single scenarios, in the order of ListCommand::Of after its first enumerator.
inline constexpr std::array<std::string_view, 5> kListed{"scenarios", "suites", "expectations", "profiles", "gpus"};

using Flags = std::vector<const CLI::Option*>;

/// All declared flags and, after read(), the values that were given. The functions below work on it.
struct CommandLine {
  explicit CommandLine(Scenarios all, AxisFlags flags_of_axes = AxisFlags::of_scenario);
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// Facts about a command or scenario that CLI11 does not have.
  struct Known {
    std::string usage;                   ///< one or more lines
    Flags taken{};                       ///< flags of the program that it takes
    std::function<Command()> make{};     ///< for a command: makes it from the values of its flags
    const Scenario* scenario = nullptr;  ///< the scenario that the subcommand measures; null for other commands
  };
  struct Contradiction {
    const CLI::Option* one;
    const CLI::Option* other;
    std::string why;
  };

  CLI::App* add_command(const std::string& name, const std::string& description, std::string_view footer, Known what);
  /// A flag with one value in the grammar of axes: whole number, real number, size or one of some words.
  CLI::Option* add_value(CLI::App& of, const Axis& axis, const char* argument,
                         const std::function<void(const Value&)>& store);
  /// A flag in percent for a share, which is stored as a fraction; the value of `share` is the default.
  CLI::Option* add_share(CLI::App& of, Axis axis, double& share);
  void contradict(CLI::Option* one, CLI::Option* other, const std::string& why);
  /// Returns the program's flags that have these names.
  [[nodiscard]] Flags named(std::initializer_list<const char*> flags) const;
  /// Storage for values of a command's own flags; it lives as long as this object.
  template <class T>
  T& keep() {
    const auto place = std::make_shared<T>();
    kept.push_back(place);
    return *place;
  }

  /// Parses the arguments. Returns the error message if there is a mistake.
  std::optional<std::string> read(std::span<const std::string> arguments);
  /// The last subcommand that was named; the program if there is none.
  [[nodiscard]] const CLI::App& innermost() const;
  [[nodiscard]] const Scenario* scenario_of(const CLI::App& command) const { return known.at(&command).scenario; }
  /// Subcommands after the first one; at least one must have been named.
  [[nodiscard]] std::vector<const CLI::App*> words_after_command() const;
  [[nodiscard]] bool given(const char* flag) const { return app.get_option(flag)->count() > 0; }

  Scenarios scenarios;
  AxisFlags axis_flags;
  CLI::App app;
  CLI::App* tune = nullptr;
  std::map<const CLI::App*, Known> known;  ///< by command; the entry of `app` is for a run
  std::map<const CLI::Option*, std::vector<std::string>> choices;
  std::vector<Contradiction> contradictions;
  std::vector<std::shared_ptr<void>> kept;

  AxisTexts shared;                      ///< texts of axis flags that stand before the scenarios
  std::optional<std::string> misplaced;  ///< error: the first axis flag after a scenario that does not have the axis
  Measuring measuring;                   ///< values of the program's flags
  RunCommand run;                        ///< values of the flags of runs
  std::vector<std::string> program;      ///< the words after "--" of explain
};

// Declare flags and commands, in the order of help.
void add_program_flags(CommandLine& line);
void add_scenarios(CommandLine& line);
void add_run_and_tune(CommandLine& line);
void add_commands(CommandLine& line);

// All throw UsageError: for unknown words and flags, for a word in the wrong place, for flags of the program that the
// command does not take, and for options of measuring that contradict each other.
void reject_leftover_words(const CommandLine& line);
void reject_word(const CommandLine& line, const std::string& word);
void reject_unused_flags(const CommandLine& line, const CLI::App& command);
void finish_measuring(CommandLine& line, double budget);
/// The scenario of that name. Throws UsageError if there is none.
const Scenario& topic(const CommandLine& line, const std::string& word);

/// The help of the program, a command or a scenario.
Page page(const CommandLine& line, const CLI::App& app);
/// All help as a manual page.
std::string manual(const CommandLine& line);

}  // namespace xferbench::cli
