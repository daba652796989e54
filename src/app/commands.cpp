#include "app/commands.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>
#include <string>

#include "app/data_files.hpp"
#include "app/fleet/fleet.hpp"
#include "app/fleet/membership.hpp"
#include "app/give_up.hpp"
#include "app/live_report.hpp"
#include "app/repeat.hpp"
#include "app/resume.hpp"
#include "app/run_parts.hpp"
#include "app/session.hpp"
#include "app/suite.hpp"
#include "check/expectations.hpp"
#include "cli/progress.hpp"
#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/printable.hpp"
#include "core/shell.hpp"
#include "core/standard_error.hpp"
#include "device/host.hpp"
#include "device/open.hpp"
#include "ranks/gpu_probe.hpp"
#include "ranks/mpi_plugin.hpp"
#include "report/run/run_report.hpp"
#include "report/trace/timeline.hpp"
#include "results/json.hpp"
#include "results/output_file.hpp"
#include "results/suite_file.hpp"
#include "run/findings.hpp"
#include "run/runner.hpp"
#include "scenarios/scenarios.hpp"
#include "words/machine.hpp"

namespace xferbench::app {

namespace {

/// What becomes of the cases from number `at` on where the run is given up in that one.
KnownResults given_up(const std::vector<PlannedCase>& cases, const std::vector<std::size_t>& indexes, std::size_t at,
                      const Alarm& alarm) {
  const bool stuck = alarm.kind == Alarm::Kind::stuck;
  KnownResults last;
  for (std::size_t i = at; i < cases.size(); ++i) {
    Result result(cases[i].config);
    result.status = stuck && i == at ? Status::failed : Status::skipped;
    if (i == at) {
      result.reason = stuck ? stuck_reason(alarm) : std::string(kNoSamples);
    } else {
      result.reason = stuck ? kDeviceStuck : kNotBegun;
    }
    last.emplace_back(indexes[i], std::move(result));
  }
  return last;
}

/// Runs the cases that have no result yet.
void run_with_progress(const cli::RunCommand& command, const std::vector<std::size_t>& missing, WatchedMachine& watched,
                       LiveReport& live) {
  std::vector<PlannedCase> cases;
  for (const std::size_t i : missing) cases.push_back(command.cases[i]);
  const cli::Measuring& measuring = command.measuring;
  const std::size_t turns = command.turns.value_or(1);
  cli::Progress progress(measuring.show.progress, cases.size(), turns);
  const RunContext bench{*watched.machine,
                         watched.device(),
                         measuring.policy,
                         measuring.seed,
                         measuring.verify,
                         [&progress](const SamplingProgress& p) { progress.sampled(p); },
                         measuring.files.timeline.has_value()};
  std::atomic<std::size_t> at = 0;  // the case that is being measured
  const RunObserver observer{
      .begin =
          [&](std::size_t i, std::size_t turn) {
            at = i;
            progress.begin(i, turn, cases[i].config);
          },
      .done =
          [&](std::size_t i, const Result& result) {
            progress.tell(live.put(missing[i], result));
            progress.done(i, result, headline_of(result, cases[i].scenario->descriptor().metrics));
          },
      .keeps = true,
  };
  const auto watch = watched.watchdog.watch([&](const Alarm& alarm) {
    give_up(alarm, {.live = live,
                    .cases = given_up(cases, missing, at, alarm),
                    .table = [&] { return shown(live.report(), command); },
                    .clear = [&] { progress.clear(); }});
  });
  run_cases(cases, bench, observer, turns);
}

std::vector<std::size_t> all_of(const std::vector<PlannedCase>& cases) {
  std::vector<std::size_t> indexes(cases.size());
  std::iota(indexes.begin(), indexes.end(), std::size_t{0});
  return indexes;
}

/// Whoever started this process for a repeat has said it already.
Acknowledge acknowledged_by(const cli::RunCommand& command) {
  return command.process || command.measuring.show.quiet ? Acknowledge::no : Acknowledge::yes;
}

/// From the first case that is missing to the exit code.
int measure(const cli::RunCommand& command, const std::vector<std::size_t>& missing, WatchedMachine& watched,
            LiveReport& live) {
  install_interrupt_handlers(live.has_file() ? HangUp::ignored : HangUp::ends, acknowledged_by(command));
  run_with_progress(command, missing, watched, live);
  finish(command, live);
  return exit_code(live.report());
}

int run_once(cli::RunCommand command) {
  WatchedMachine machine(command.measuring.device, scenarios_of(command.cases));
  expand(command, machine.environment());
  refuse_if_none_can_run(command, *machine.machine);
  Report report = begin_report(command.measuring, machine.device(), scenarios_of(command.cases));
  report.results.reserve(command.cases.size());
  LiveReport live(std::move(report), command.measuring.files, document_for(command));
  return measure(command, all_of(command.cases), machine, live);
}

/// The stored command, with what concerns only this part of the run as it is given now.
cli::RunCommand command_to_resume(const StoredRun& stored, const cli::RunCommand& now) {
  cli::RunCommand whole = with_suite(stored.command);
  whole.measuring.files.csv = now.measuring.files.csv;
  whole.measuring.files.markdown = now.measuring.files.markdown;
  whole.measuring.files.html = now.measuring.files.html;
  whole.measuring.files.openmetrics = now.measuring.files.openmetrics;
  whole.measuring.show = now.measuring.show;
  whole.resume = now.resume;
  return whole;
}

/// Of a run of which nothing is missing: as it ended when it was measured.
int end_of(const ResumePlan& left, const StoredRun& stored) {
  const std::string& file = stored.file;
  // Left by a run that was killed when its file had just become complete.
  if (const ReplacedFile* ordinary = stored.json.ordinary()) ordinary->remove_journal();
  const auto has_failed = [](const auto& known) { return known.second.status == Status::failed; };
  const auto failed = std::ranges::count_if(left.known, has_failed);
  if (failed == 0) {
    tell(fmt::format("{} is complete: nothing is missing", file));
    return static_cast<int>(ExitCode::ok);
  }
  tell(fmt::format(
      "{} is complete, and {} of its cases failed, which --resume leaves as they are: to measure them again, "
      "run the command again",
      file, failed));
  return static_cast<int>(ExitCode::failed);
}

int resume(const cli::RunCommand& command) {
  StoredRun stored = read_run(*command.resume);
  cli::RunCommand whole = command_to_resume(stored, command);
  expand(whole, stored.report.environment);
  ResumePlan left = what_is_left(stored, whole.cases);
  const auto nothing_is_missing = [&] { return left.missing.empty() && stored.report.complete; };
  if (nothing_is_missing()) return end_of(left, stored);
  WatchedMachine machine(whole.measuring.device, scenarios_of(whole.cases));
  refuse_another_machine(stored.file, stored.report.environment, stored.report.tool, machine.device());
  leave_skipped(left, whole.cases, *machine.machine, whole.measuring.verify);
  if (nothing_is_missing()) return end_of(left, stored);
  LiveReport live(continue_report(stored, machine.device(), scenarios_of(whole.cases)), whole.measuring.files,
                  document_for(whole), Continued{std::move(stored.json), std::move(left.known)});
  return measure(whole, left.missing, machine, live);
}

/// Every turn takes a sample of everything at least.
void refuse_more_turns_than_samples(const cli::RunCommand& command) {
  const std::size_t turns = command.turns.value_or(1);
  for (const PlannedCase& c : command.cases) {
    const std::size_t most = c.policy.value_or(command.measuring.policy).max_samples;
    if (most >= turns) continue;
    throw UsageError(
        fmt::format("--turns {} is more than --max-samples {}: each turn takes a sample at least", turns, most));
  }
}

/// Prints the cases; touches no device.
int dry_run(const cli::RunCommand& command) {
  std::string text;
  for (const PlannedCase& c : with_suite(command).cases) {
    const auto reason = c.scenario->skip_reason(c.config, nullptr);
    text += c.config.key() + (reason ? "  (skipped: " + reason->text + ")" : "") + "\n";
  }
  write_standard_output(text);
  return 0;
}

}  // namespace

int perform(const cli::RunCommand& command) {
  const std::optional<Launch> launch = launch_for(command);
  if (command.measuring.dry_run) return launch && !speaks_for_all(*launch) ? 0 : dry_run(command);
  if (command.resume) return resume(command);
  cli::RunCommand whole = with_suite(command);
  refuse_more_turns_than_samples(whole);
  if (launch) return run_in_fleet(whole, *launch);
  if (auto& profile = whole.measuring.device.simulate) profile = profile_of_only_rank(*profile);
  if (whole.process) return run_once(one_process(whole));
  if (whole.is_one_of_several && !whole.measuring.show.quiet) {
    tell("this suite is several processes where --json FILE alone is written; this is one, which says less to compare");
  }
  return whole.repeat ? repeat(whole) : run_once(std::move(whole));
}

namespace {

std::string profile_list() {
  std::string text;
  for (const auto& [name, description] : simulated_profiles()) text += fmt::format("  {:<16} {}\n", name, description);
  return text;
}

/// The machine with those GPUs that were asked for, else with all of them; where not all can be used, with the first.
std::unique_ptr<Machine> open_to_describe(const cli::DeviceChoice& choice) {
  if (choice.gpu || choice.gpus) return open_machine(choice, gpus_for(choice, {}));
  try {
    return open_machine(choice, {.numbers = {}});
  } catch (const NoDeviceError& error) {
    std::unique_ptr<Machine> with_first = open_machine(choice, GpuSelection{});
    tell(fmt::format("warning: only GPU 0 is shown: {}", error.what()));
    return with_first;
  }
}

/// Of a machine without a GPU, too, unless one was asked for by its number.
MachineFacts facts_of(const cli::DeviceChoice& choice) {
  MachineFacts facts;
  facts.profiles = simulated_profiles();
  try {
    facts.environment = open_to_describe(choice)->device().capabilities().environment;
    facts.limits = limits_of(facts.environment->gpu);
  } catch (const NoDeviceError& error) {
    if (choice.gpu || choice.gpus) throw;
    facts.no_gpu = error.what();
    facts.host = describe_host();
  }
  return facts;
}

std::string gpus_section(const MachineFacts& facts) {
  return facts.environment ? describe_gpus(*facts.environment) : fmt::format("{:<12} none: {}\n", "GPU", facts.no_gpu);
}

std::string in_words(const MachineFacts& facts) {
  const Environment::Host& host = facts.environment ? facts.environment->host : *facts.host;
  const std::size_t gpus = facts.environment ? facts.environment->gpu_count() : 1;
  return version_line() + "\n" + gpus_section(facts) + describe_host(host, gpus) + "simulate:\n" + profile_list();
}

}  // namespace

int perform(const cli::InfoCommand& command) {
  if (!command.json) {
    write_standard_output(in_words(facts_of(command.device)));
    return 0;
  }
  ResultsFile file(*command.json);
  file.finish(to_json(facts_of(command.device)));
  return 0;
}

namespace {

std::string list_of_scenarios() {
  std::string text;
  for (const ScenarioDescriptor* scenario : descriptors()) {
    text += fmt::format("{:<12} {}{}\n", scenario->name, scenario->summary, text.empty() ? " (the default)" : "");
  }
  return text + "\nFlags and columns of one: xferbench list SCENARIO\n";
}

/// A list below its title, or that there is nothing in it.
std::string titled(const char* title, const std::string& list, const char* none) {
  return list.empty() ? std::string(none) + "\n" : std::string(title) + "\n" + list;
}

std::string suites() {
  const std::string list = list_of_data("suites", [](const std::string& path) { return read_suite(path).description; });
  return titled("Suites for --suite:", list, "No suites came with the program");
}

std::string expectations() {
  const std::string list =
      list_of_data("expectations", [](const std::string& path) { return check::read_expectations(path).description; });
  return titled("Expectations for check --expect:", list, "No expectations came with the program");
}

}  // namespace

int perform(const cli::ListCommand& command) {
  using Of = cli::ListCommand::Of;
  std::string text;
  switch (command.of) {
    case Of::everything: text = list_of_scenarios() + "\n" + suites(); break;
    case Of::scenarios: text = list_of_scenarios(); break;
    case Of::suites: text = suites(); break;
    case Of::expectations: text = expectations(); break;
    case Of::profiles: text = "Profiles for --simulate:\n" + profile_list(); break;
    case Of::gpus: text = gpus_section(facts_of(command.device)); break;
  }
  write_standard_output(text);
  return 0;
}

int perform(const cli::TextCommand& command) {
  write_standard_output(command.text);
  return 0;
}

int perform(const cli::CompleteCommand& command) {
  const cli::DataNames names{.expectations = data_names("expectations"), .suites = data_names("suites")};
  write_standard_output(cli::complete(command.words, scenarios(), names));
  return 0;
}

int perform(const cli::GpuProbeCommand& command) {
  alarm(static_cast<unsigned>(kGpuProbePatience));  // where MPI hangs and nobody is left who would end this process
  const std::unique_ptr<Machine> machine = open_gpus({.numbers = {command.gpu}});
  // As a run does it: the GPU first, so that MPI finds it in use.
  const std::unique_ptr<Communicator> alone = start_mpi();
  const std::string reason = try_gpu_memory(*alone, machine->device(), kGpuProbePatience);
  if (!reason.empty()) write_standard_output(reason + "\n");
  return static_cast<int>(reason.empty() ? ExitCode::ok : ExitCode::failed);
}

}  // namespace xferbench::app
