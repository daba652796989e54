#include "app/commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <optional>
#include <string>

#include "app/data_files.hpp"
#include "app/repeat.hpp"
#include "app/resume.hpp"
#include "app/session.hpp"
#include "app/suite.hpp"
#include "cli/completion.hpp"
#include "cli/help.hpp"
#include "cli/man.hpp"
#include "cli/progress.hpp"
#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "device/host.hpp"
#include "device/open.hpp"
#include "report/run/info.hpp"
#include "report/run/markdown.hpp"
#include "report/run/table.hpp"
#include "report/trace/timeline.hpp"
#include "results/output_file.hpp"
#include "run/findings.hpp"
#include "run/runner.hpp"
#include "scenarios/scenarios.hpp"

namespace xferbench::app {

namespace {

using cli::Command;

/// If no case can run, that is a mistake in the command and not a result.
void refuse_if_none_can_run(const Command& command, Device& device) {
  std::string first;
  for (const PlannedCase& c : command.cases) {
    const auto reason = skip_reason(c, device, command.verify);
    if (!reason || reason->kind == SkipReason::Kind::unavailable) return;
    if (first.empty()) first = c.config.key() + " " + reason->text;
  }
  throw UsageError(first);
}

/// Block elements where the locale's encoding has them.
Glyphs glyphs() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {  // the first that is set decides
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const std::string locale(value);
    const bool utf8 = locale.find("UTF-8") != std::string::npos || locale.find("utf8") != std::string::npos;
    return utf8 ? Glyphs::blocks : Glyphs::ascii;
  }
  return Glyphs::ascii;
}

/// Runs the cases that have no result yet.
void run_with_progress(const Command& command, const std::vector<std::size_t>& missing, Machine& machine,
                       LiveReport& live) {
  std::vector<PlannedCase> cases;
  for (const std::size_t i : missing) cases.push_back(command.cases[i]);
  cli::Progress progress(command.progress, cases.size(), command.turns);
  const RunContext bench{machine,
                         machine.device(),
                         command.policy,
                         command.seed,
                         command.verify,
                         [&progress](const SamplingProgress& p) { progress.sampled(p); },
                         command.timeline.has_value()};
  const RunObserver observer{
      .begin = [&](std::size_t i, std::size_t turn) { progress.begin(i, turn, cases[i].config); },
      .done =
          [&](std::size_t i, const Result& result) {
            live.put(missing[i], result);
            progress.done(i, result, headline_of(result, cases[i].scenario->descriptor().metrics));
          },
  };
  run_cases(cases, bench, observer, command.turns);
}

std::vector<std::size_t> all_of(const std::vector<PlannedCase>& cases) {
  std::vector<std::size_t> indexes(cases.size());
  std::iota(indexes.begin(), indexes.end(), std::size_t{0});
  return indexes;
}

/// From the first case that is missing to the exit code.
int measure(const Command& command, const std::vector<std::size_t>& missing, Machine& machine, LiveReport& live) {
  install_interrupt_handlers();
  run_with_progress(command, missing, machine, live);
  // The file before the table: a reader that goes away (xferbench ... | head) ends this program.
  live.finish(conclude(scenarios(), live.report().results));
  if (!command.quiet) print_warnings(live.report());
  if (!live.owns_standard_output()) {
    const Style style = style_of(command);
    write_standard_output(to_table(live.report(), descriptors(), style) + to_gantts(live.report(), style, glyphs()));
  }
  live.rethrow();
  return exit_code(live.report());
}

/// Each once, in the order of its first case.
std::vector<const ScenarioDescriptor*> scenarios_of(std::span<const PlannedCase> cases) {
  std::vector<const ScenarioDescriptor*> all;
  for (const PlannedCase& c : cases) {
    const ScenarioDescriptor* scenario = &c.scenario->descriptor();
    if (std::ranges::find(all, scenario) == all.end()) all.push_back(scenario);
  }
  return all;
}

std::string markdown_of_run(const Report& report) { return to_markdown(report, descriptors()); }

int run_once(const Command& command, const std::vector<std::string>& arguments) {
  const std::unique_ptr<Machine> machine = open_machine(command);
  refuse_if_none_can_run(command, machine->device());
  LiveReport live(begin_report(arguments, machine->device(), scenarios_of(command.cases)), command, markdown_of_run);
  return measure(command, all_of(command.cases), *machine, live);
}

/// The stored command, with what concerns only this part of the run as it is given now.
Command command_to_resume(const StoredRun& stored, const Command& now) {
  Command whole = with_suite(stored.command);
  whole.csv = now.csv;
  whole.markdown = now.markdown;
  whole.quiet = now.quiet;
  whole.color = now.color;
  whole.progress = now.progress;
  return whole;
}

int resume(const Command& command) {
  const StoredRun stored = read_run(*command.resume);
  if (stored.report.complete) {
    fmt::print(stderr, "xferbench: {} is complete: nothing is missing\n", stored.file);
    return static_cast<int>(ExitCode::ok);
  }
  const Command whole = command_to_resume(stored, command);
  const std::unique_ptr<Machine> machine = open_machine(whole);
  refuse_another_machine(stored, machine->device());
  const ResumePlan left = what_is_left(stored, whole.cases);
  LiveReport live(continue_report(stored, machine->device(), scenarios_of(whole.cases)), whole, markdown_of_run,
                  left.known);
  return measure(whole, left.missing, *machine, live);
}

/// Every turn takes a sample of everything at least.
void refuse_more_turns_than_samples(const Command& command) {
  for (const PlannedCase& c : command.cases) {
    const std::size_t most = c.policy.value_or(command.policy).max_samples;
    if (most >= command.turns) continue;
    throw UsageError(fmt::format("--turns {} is more than --max-samples {}: each turn takes a sample at least",
                                 command.turns, most));
  }
}

}  // namespace

int run(const Command& command, const std::vector<std::string>& arguments) {
  if (command.resume) return resume(command);
  const Command whole = with_suite(command);
  refuse_more_turns_than_samples(whole);
  return command.repeat ? repeat(whole, arguments) : run_once(whole, arguments);
}

int dry_run(const Command& command) {
  std::string text;
  for (const PlannedCase& c : with_suite(command).cases) {
    const auto reason = c.scenario->skip_reason(c.config, nullptr);
    text += c.config.key() + (reason ? "  (skipped: " + reason->text + ")" : "") + "\n";
  }
  write_standard_output(text);
  return 0;
}

/// What there is; a machine without a GPU has an answer too. A GPU asked for by number must exist.
int info(const Command& command) {
  std::string text = version_line() + "\n";
  std::optional<Environment::Host> host;
  try {
    const std::unique_ptr<Machine> machine = open_machine(command);
    text += describe_gpu(machine->device().capabilities().environment);
    host = machine->device().capabilities().environment.host;
  } catch (const NoDeviceError& error) {
    if (command.gpu) throw;
    text += fmt::format("{:<12} none: {}\n", "GPU", error.what());
  }
  text += describe_host(host ? *host : describe_host());
  text += "simulate:";
  for (const auto& [name, description] : simulated_profiles()) text += fmt::format("\n  {:<16} {}", name, description);
  write_standard_output(text + "\n");
  return 0;
}

int list(const Command& command) {
  if (command.about != nullptr) {
    const ScenarioDescriptor& scenario = command.about->descriptor();
    write_standard_output(cli::describe(scenario) + cli::explain_results(scenario));
  } else {
    const std::string suites = list_of_suites();
    write_standard_output(cli::list(descriptors()) + (suites.empty() ? "" : "\nSuites for --suite:\n" + suites));
  }
  return 0;
}

int help(const Command& command) {
  write_standard_output(command.about != nullptr ? cli::describe(command.about->descriptor())
                                                 : cli::help(descriptors()));
  return 0;
}

int completion(const Command& command) {
  const cli::DataNames names{.expectations = data_names("expectations"), .suites = data_names("suites")};
  write_standard_output(command.shell == "zsh" ? cli::zsh_completion(descriptors(), names)
                                               : cli::bash_completion(descriptors(), names));
  return 0;
}

int man() {
  write_standard_output(cli::man_page(descriptors()));
  return 0;
}

int version() {
  write_standard_output(version_line() + "\n");
  return 0;
}

}  // namespace xferbench::app
