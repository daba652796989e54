// The program's command line as CLI11 knows it: one subcommand for each scenario and each other command, their flags,
// and where the values go. Flags of runs belong to the program itself and are found from every command, so that they
// may stand anywhere; which of them a command takes is said beside it. Only the files behind this header know CLI11.
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

/// What `list` shows beside single scenarios, in the order of ListCommand::Of behind everything.
inline constexpr std::array<std::string_view, 5> kListed{"scenarios", "suites", "expectations", "profiles", "gpus"};

using Flags = std::vector<const CLI::Option*>;

/// What is declared, and then what of it was read. Jobs are functions of it, each beside what it is about.
struct CommandLine {
  /// Declares everything.
  explicit CommandLine(Scenarios all, AxisFlags flags_of_axes = AxisFlags::of_scenario);
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// What there is to know of a command or scenario beyond what CLI11 has.
  struct Known {
    std::string usage;                   ///< in lines
    Flags taken{};                       ///< flags of the program
    std::function<Command()> make{};     ///< of a command: what it was asked to do
    const Scenario* scenario = nullptr;  ///< of a scenario
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
  /// A share, in percent on the command line; its default is what it holds.
  CLI::Option* add_share(CLI::App& of, Axis axis, double& share);
  void contradict(CLI::Option* one, CLI::Option* other, const std::string& why);
  /// Flags of the program.
  [[nodiscard]] Flags named(std::initializer_list<const char*> flags) const;
  /// A place for values of a command's own flags, which lasts as long as this.
  template <class T>
  T& keep() {
    const auto place = std::make_shared<T>();
    kept.push_back(place);
    return *place;
  }

  /// Returns what is wrong with it, if anything is.
  std::optional<std::string> read(std::span<const std::string> arguments);
  /// The last subcommand that was named.
  [[nodiscard]] const CLI::App& innermost() const;
  [[nodiscard]] const Scenario* scenario_of(const CLI::App& command) const { return known.at(&command).scenario; }
  [[nodiscard]] std::vector<const CLI::App*> words_after_command() const;
  [[nodiscard]] bool given(const char* flag) const { return app.get_option(flag)->count() > 0; }

  Scenarios scenarios;
  AxisFlags axis_flags;
  CLI::App app;
  CLI::App* tune = nullptr;
  std::map<const CLI::App*, Known> known;  ///< the program, too, which is a run
  std::map<const CLI::Option*, std::vector<std::string>> choices;
  std::vector<Contradiction> contradictions;
  std::vector<std::shared_ptr<void>> kept;

  AxisTexts shared;                      ///< of axes' flags that stand before the scenarios
  std::optional<std::string> misplaced;  ///< the first flag of an axis behind a scenario that does not have it
  Measuring measuring;                   ///< what flags of the program say
  RunCommand run;                        ///< the same
  std::vector<std::string> program;      ///< what stands behind "--" of explain
};

// What is declared, in the order of help; what a command was asked to do stands beside its flags.
void add_program_flags(CommandLine& line);
void add_scenarios(CommandLine& line);
void add_run_and_tune(CommandLine& line);
void add_commands(CommandLine& line);

// They throw UsageError: for what nobody knows, for a word that is not taken where it stands, for flags of the program
// that the command does not take, and where what was said of measuring is at odds.
void reject_what_is_left(const CommandLine& line);
void reject_word(const CommandLine& line, const std::string& word);
void reject_unused_flags(const CommandLine& line, const CLI::App& command);
void finish_measuring(CommandLine& line, double budget);
/// The scenario of that name. Throws UsageError if there is none.
const Scenario& topic(const CommandLine& line, const std::string& word);

/// The help of the program, a command or a scenario.
Page page(const CommandLine& line, const CLI::App& app);
/// All of it as a manual page.
std::string manual(const CommandLine& line);

}  // namespace xferbench::cli
