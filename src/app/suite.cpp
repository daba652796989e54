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
#include "results/suite_file.hpp"
#include "scenarios/scenarios.hpp"

namespace xferbench::app {

namespace {

constexpr std::array<const char*, 4> kSampling{"ci", "budget", "min-samples", "max-samples"};

/// Returns the command-line words of one run of a suite, followed by the suite's sampling flags that the run lacks.
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

cli::RunCommand parse_run(const std::vector<std::string>& arguments) {
  const cli::Command command = cli::parse(arguments, scenarios());
  const auto* run = std::get_if<cli::RunCommand>(&command);
  if (run == nullptr) throw UsageError("a run of a suite is a scenario with its flags");
  for (const std::string& flag : run->flags) {
    if (std::ranges::find(kSampling, flag) != kSampling.end()) continue;
    throw UsageError(
        fmt::format("--{} belongs on the command line; a run of a suite takes a scenario, its flags, and --{}", flag,
                    fmt::join(kSampling, ", --")));
  }
  return *run;
}

/// Returns the sampling policy for a run of the suite. Flags of the command line (`asked`) override those of the run.
SamplingPolicy policy_of(const cli::SamplingChoice& asked, cli::SamplingChoice run) {
  if (asked.ci) run.ci = asked.ci;
  if (asked.budget) run.budget = asked.budget;
  // The command line wins: its minimum raises a smaller maximum of the run, its maximum lowers a larger minimum.
  if (asked.min_samples && run.max_samples) run.max_samples = std::max(*run.max_samples, *asked.min_samples);
  if (asked.max_samples && run.min_samples) run.min_samples = std::min(*run.min_samples, *asked.max_samples);
  if (asked.min_samples) run.min_samples = asked.min_samples;
  if (asked.max_samples) run.max_samples = asked.max_samples;
  return cli::policy_of(run);
}

/// Throws UsageError for --gpus if every case uses one GPU, because the flag would have no effect.
void refuse_gpus_for_one(const cli::RunCommand& whole) {
  const auto uses_several = [](const PlannedCase& c) { return c.scenario->descriptor().gpus != UsesGpus::one; };
  if (!whole.measuring.device.gpus || std::ranges::any_of(whole.cases, uses_several)) return;
  throw UsageError(fmt::format("--gpus does nothing here: suite {} uses one GPU, which --gpu chooses", *whole.suite));
}

/// Returns whether the results of several processes can be merged into the file of --json, from which all other outputs
/// are written. That file must be new or a regular file.
bool can_merge_into(const cli::OutputFiles& files) {
  if (!files.json || *files.json == "-") return false;
  std::error_code unknown;
  const std::filesystem::file_status there = std::filesystem::status(*files.json, unknown);
  return !std::filesystem::exists(there) || std::filesystem::is_regular_file(there);
}

}  // namespace

cli::RunCommand with_suite(const cli::RunCommand& command) {
  if (!command.suite) return command;
  const std::filesystem::path file = find_data("suites", *command.suite);
  refuse_to_overwrite(std::array{file.string()}, command.measuring.files.named());
  const Suite suite = read_suite(file.string());
  cli::RunCommand whole = command;
  whole.turns = command.turns.value_or(suite.turns);
  if (suite.processes > 1 && !command.repeat && !command.process && can_merge_into(command.measuring.files)) {
    whole.repeat = suite.processes;
    whole.into_one_file = true;
  }
  whole.is_one_of_several = suite.processes > 1 && !whole.repeat && !command.process;
  std::set<std::string> keys;
  for (std::size_t i = 0; i < suite.runs.size(); ++i) {
    try {
      const cli::RunCommand run = parse_run(arguments_of(suite, suite.runs[i]));
      for (const PlannedCase& c : run.cases) {
        if (!keys.insert(c.config.key()).second) throw UsageError("it repeats a case: " + c.config.key());
        whole.cases.push_back({c.scenario, c.config, policy_of(command.measuring.sampling, run.measuring.sampling)});
      }
    } catch (const UsageError& error) {
      throw UsageError(
          fmt::format("{}: runs[{}] ({}): {}", file.string(), i, fmt::join(suite.runs[i], " "), error.what()));
    }
  }
  refuse_gpus_for_one(whole);
  return whole;
}

}  // namespace xferbench::app
