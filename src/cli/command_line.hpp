// The program's command line as CLI11 knows it: one subcommand for each scenario and each other command, their flags,
// and where the values go. Flags of runs belong to the program itself and are found from every command, so that they
// may stand anywhere; which of them a command takes is said beside it. Only the three files behind this header know
// CLI11.
#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"
#include "cli/completion.hpp"
#include "cli/pages.hpp"
#include "cli/plan.hpp"

namespace xferbench::cli {

/// What `list` shows beside single scenarios, in the order of ListCommand::Of behind everything.
inline constexpr std::array<std::string_view, 5> kListed{"scenarios", "suites", "expectations", "profiles", "gpus"};

class CommandLine {
 public:
  explicit CommandLine(Scenarios scenarios, AxisFlags axis_flags = AxisFlags::of_scenario);
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// What the arguments ask for; `program` is what stands behind "--" of explain. Throws UsageError.
  Command command(std::span<const std::string> arguments, std::vector<std::string> program = {});
  /// What may follow these words: the value of a flag, if one that takes a value is named, else another flag where one
  /// has been begun, or a word.
  Candidates candidates(std::span<const std::string> before, const std::string& flag, bool another_flag,
                        const DataNames& names);

 private:
  using Flags = std::vector<const CLI::Option*>;

  struct Contradiction {
    const CLI::Option* one;
    const CLI::Option* other;
    std::string why;
  };

  /// What there is to know of a command or scenario beyond what CLI11 has.
  struct Known {
    std::string usage;                   ///< in lines
    Flags taken{};                       ///< flags of the program
    std::function<Command()> make{};     ///< of a command: what it was asked to do
    const Scenario* scenario = nullptr;  ///< of a scenario
  };

  // Declaring: command_line.cpp what runs and scenarios have, commands.cpp the rest
  void add_device_flags();
  void add_sampling_flags();
  void add_output_flags();
  void add_whole_run_flags();
  void add_fleet_flags();
  CLI::Option* add_value(CLI::App& app, const Axis& axis, const char* argument,
                         const std::function<void(const Value&)>& store);
  /// A share, in percent on the command line; its default is what it holds.
  CLI::Option* add_share(CLI::App& app, Axis axis, double& share);
  void add_contradictions();
  void contradict(CLI::Option* one, CLI::Option* other, const std::string& why);
  void add_shared_axes();
  void add_scenario(CLI::App& parent, const Scenario& scenario);
  CLI::App* add_command(const std::string& name, const std::string& description, Known known);
  void add_run_and_tune();
  void add_compare();
  void add_check();
  void add_expect();
  void add_calibrate();
  void add_validate();
  void add_explain();
  void add_recording_flags(CLI::App& app);
  void add_explaining_flags(CLI::App& app);
  void add_soak();
  void add_information();
  void add_small_commands();
  Flags named(std::span<const char* const> flags) const;

  // What was read: command.cpp
  std::optional<std::string> read(std::span<const std::string> arguments);
  [[nodiscard]] std::string explained(const CLI::ParseError& error) const;
  [[nodiscard]] const CLI::App& innermost() const;
  [[nodiscard]] const Scenario* scenario_of(const CLI::App& app) const { return known_.at(&app).scenario; }
  [[nodiscard]] std::vector<const CLI::App*> words_after_command() const;
  [[nodiscard]] bool given(const char* flag) const { return app_.get_option(flag)->count() > 0; }
  [[nodiscard]] bool asks_for_help() const;
  void reject_what_is_left() const;
  [[noreturn]] void reject_flag(const std::string& argument) const;
  void reject_word(const std::string& word) const;
  void reject_unused_flags(const CLI::App& command) const;
  [[nodiscard]] const Scenario& topic(const std::string& word) const;

  // What it means: command.cpp
  [[nodiscard]] std::vector<ScenarioFlags> flags_of_scenarios(const CLI::App& parent) const;
  void finish_measuring(double budget);
  void refuse_beside(const char* source) const;
  void refuse_gpus_for_one(std::span<const ScenarioFlags> chosen) const;
  Command run_command();
  Command tune_command();
  Command compare_command();
  Command check_command();
  Command expect_command();
  Command calibrate_command();
  Command validate_command();
  Command explain_command();
  Command soak_command();
  Command list_command();
  Command info_command();
  Command completion_command();
  Command help_command();
  [[nodiscard]] Page page(const CLI::App& app) const;
  [[nodiscard]] std::string manual() const;
  [[nodiscard]] Flags flags_here() const;
  [[nodiscard]] std::vector<std::string> values_of(const CLI::Option& option, const DataNames& names) const;

  Scenarios scenarios_;
  AxisFlags axis_flags_;
  CLI::App app_;
  CLI::App* tune_app_ = nullptr;
  std::map<const CLI::App*, Known> known_;  // the program, too, which is a run
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
  ExpectCommand expect_;
  CalibrateCommand calibrate_;
  ValidateCommand validate_;
  ExplainCommand explain_;
  SoakCommand soak_;
  InfoCommand info_;
  std::string word_;  // behind a command that takes one, where it is no command or scenario
};

}  // namespace xferbench::cli
