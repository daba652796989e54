// The program's command line as CLI11 knows it: one subcommand for each scenario and each other command, their flags,
// and where the values go. Flags of runs belong to the program itself and are found from every command, so that they
// may stand anywhere; which of them a command takes is said beside it.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/plan.hpp"

namespace xferbench::cli {

class CommandLine {
 public:
  explicit CommandLine(Scenarios scenarios, AxisFlags axis_flags = AxisFlags::of_scenario);
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// What is wrong with the arguments, if something is. The commands and flags before it are known all the same.
  std::optional<std::string> read(std::span<const std::string> arguments);
  /// What the arguments ask for. Throws UsageError.
  Command command(std::span<const std::string> arguments);

  /// The command or scenario that was named last, or the program.
  [[nodiscard]] const CLI::App& innermost() const;
  /// The flags that it takes, and where it is a scenario or none those of a run.
  [[nodiscard]] std::vector<const CLI::Option*> flags_of(const CLI::App& command) const;
  /// The flag of that name, with dashes, that the innermost command takes; null if there is none.
  [[nodiscard]] const CLI::Option* flag(const std::string& name) const;
  /// The words that a flag may be given.
  [[nodiscard]] std::vector<std::string> choices(const CLI::Option& option) const;
  /// The words that may follow what was named.
  [[nodiscard]] std::vector<std::string> next_words() const;
  [[nodiscard]] const CLI::App& app() const { return app_; }

 private:
  struct Contradiction {
    const CLI::Option* one;
    const CLI::Option* other;
    std::string why;
  };

  // Declaring: command_line.cpp
  void add_device_flags();
  void add_sampling_flags();
  void add_output_flags();
  void add_whole_run_flags();
  void add_contradictions();
  void add_shared_axes();
  void add_scenario(CLI::App& parent, const Scenario& scenario);
  CLI::App* add_command(const std::string& name, const std::string& usage, const std::string& description,
                        std::vector<const CLI::Option*> taken);
  void add_run_and_tune();
  void add_compare();
  void add_check();
  void add_small_commands();
  std::vector<const CLI::Option*> named(std::span<const char* const> flags) const;
  void contradict(CLI::Option* one, CLI::Option* other, std::string why);

  // What was meant: command.cpp
  [[nodiscard]] std::string explained(const CLI::ParseError& error) const;
  [[nodiscard]] bool asks_for_help() const;
  void reject_what_is_left() const;
  [[noreturn]] void reject_flag(const std::string& argument) const;
  void reject_word(const std::string& word) const;
  void reject_unused_flags(const CLI::App& command) const;
  [[nodiscard]] std::vector<const CLI::App*> words_after_command() const;
  [[nodiscard]] const Scenario* scenario_of(const CLI::App& app) const;
  [[nodiscard]] const Scenario& topic(const std::string& word) const;
  [[nodiscard]] std::vector<ScenarioFlags> flags_of_scenarios(const CLI::App& parent) const;
  [[nodiscard]] bool given(const char* flag) const { return app_.get_option(flag)->count() > 0; }
  void finish_measuring(double budget);
  Command run_command();
  Command tune_command();
  Command compare_command();
  Command check_command();
  Command list_command();
  Command help_command() const;
  Command completion_command() const;

  Scenarios scenarios_;
  AxisFlags axis_flags_;
  CLI::App app_;
  CLI::App* tune_app_ = nullptr;
  std::map<const CLI::App*, std::vector<const CLI::Option*>> taken_;  // flags of the program, by those that take them
  std::map<const CLI::App*, const Scenario*> scenario_of_;
  std::map<const CLI::Option*, std::vector<std::string>> choices_;
  std::vector<Contradiction> contradictions_;
  AxisTexts shared_;                      // of axes' flags that stand before the scenarios
  std::optional<std::string> misplaced_;  // the first flag of an axis behind a scenario that does not have it

  Measuring measuring_;
  RunCommand run_;
  TuneCommand tune_;
  CompareCommand compare_;
  std::vector<std::string> compared_files_;  // that stand behind no flag
  CheckCommand check_;
  std::string list_topic_;
  std::string help_topic_;
  std::string shell_;
};

}  // namespace xferbench::cli
