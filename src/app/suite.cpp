#include "app/suite.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "app/data_files.hpp"
#include "app/files.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"
#include "results/suite_file.hpp"
#include "scenarios/scenarios.hpp"

namespace xferbench::app {

namespace {

using cli::Command;

constexpr std::array<const char*, 4> kSampling{"ci", "budget", "min-samples", "max-samples"};

/// A run's words, and behind them what the suite says of sampling and the run does not.
std::vector<std::string> arguments_of(const Suite& suite, const std::vector<std::string>& run) {
  std::vector<std::string> arguments = run;
  for (const auto& [flag, value] : suite.sampling) {
    const auto gives = [named = "--" + flag](const std::string& word) {
      return word == named || word.starts_with(named + "=");
    };
    if (std::ranges::none_of(run, gives)) arguments.push_back(fmt::format("--{}={}", flag, value));
  }
  return arguments;
}

void check_run(const Command& run) {
  if (run.action != cli::Action::run) throw UsageError("only scenarios and their flags can be in a suite");
  for (const std::string& flag : run.run_flags) {
    if (std::ranges::find(kSampling, flag) != kSampling.end()) continue;
    throw UsageError(fmt::format("--{} belongs on the command line; a run has a scenario, its flags, and --{}", flag,
                                 fmt::join(kSampling, ", --")));
  }
}

/// What was asked for on the command line, else what the run has.
SamplingPolicy policy_of(const Command& command, const Command& run) {
  SamplingPolicy policy = run.policy;
  if (command.gives("ci")) policy.ci = command.policy.ci;
  if (command.gives("budget")) policy.budget = command.policy.budget;
  if (command.gives("min-samples")) policy.min_samples = command.policy.min_samples;
  if (command.gives("max-samples")) policy.max_samples = command.policy.max_samples;
  if (command.gives("max-samples")) policy.min_samples = std::min(policy.min_samples, policy.max_samples);
  policy.max_samples = std::max(policy.min_samples, policy.max_samples);
  return policy;
}

}  // namespace

Command with_suite(const Command& command) {
  if (!command.suite) return command;
  const std::filesystem::path file = find_data("suites", *command.suite);
  refuse_to_overwrite(std::array{file.string()},
                      std::array{AskedFile{"json", command.json}, AskedFile{"csv", command.csv},
                                 AskedFile{"markdown", command.markdown}});
  const Suite suite = read_suite(file.string());
  Command whole = command;
  if (!command.gives("turns")) whole.turns = suite.turns;
  std::set<std::string> keys;
  for (std::size_t i = 0; i < suite.runs.size(); ++i) {
    try {
      const Command run = cli::parse(arguments_of(suite, suite.runs[i]), scenarios());
      check_run(run);
      for (const PlannedCase& c : run.cases) {
        if (!keys.insert(c.config.key()).second) throw UsageError("it has a case a second time: " + c.config.key());
        whole.cases.push_back({c.scenario, c.config, policy_of(command, run)});
      }
    } catch (const UsageError& error) {
      throw UsageError(
          fmt::format("{}: runs[{}] ({}): {}", file.string(), i, fmt::join(suite.runs[i], " "), error.what()));
    }
  }
  return whole;
}

std::string list_of_suites() {
  std::string text;
  for (const std::string& name : data_names("suites")) {
    const std::string file = find_data("suites", name).string();
    try {
      text += fmt::format("  {:<10} {}\n", name, printable(read_suite(file).description));
    } catch (const InputError& error) {
      text += fmt::format("  {:<10} cannot be run: {}\n", name, error.what());
    }
  }
  return text;
}

}  // namespace xferbench::app
