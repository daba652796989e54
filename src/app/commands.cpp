#include "app/commands.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <optional>
#include <string>

#include "app/abort_run.hpp"
#include "app/fleet/fleet.hpp"
#include "app/fleet/rank_session.hpp"
#include "app/live_report.hpp"
#include "app/repeat.hpp"
#include "app/resume.hpp"
#include "app/run_parts.hpp"
#include "app/session.hpp"
#include "app/suite.hpp"
#include "cli/progress.hpp"
#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/lists.hpp"
#include "core/standard_error.hpp"
#include "device/host.hpp"
#include "results/output_file.hpp"
#include "run/runner.hpp"

namespace xferbench::app {

namespace {

/// Returns the results to store if the run is abandoned during case number `at`: `failed` for that case if the GPU is
/// stuck, and `skipped` for all other cases from `at` on.
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
void run_with_progress(const cli::RunCommand& command, const std::vector<std::size_t>& missing,
                       MonitoredMachine& monitored, LiveReport& live) {
  const auto cases = list_of(missing, [&](std::size_t i) { return command.cases[i]; });
  const cli::Measuring& measuring = command.measuring;
  const std::size_t turns = command.turns.value_or(1);
  cli::Progress progress(measuring.show.progress, cases.size(), turns);
  const RunContext bench{*monitored.machine,
                         monitored.device(),
                         measuring.policy,
                         measuring.seed,
                         measuring.verify,
                         [&progress](const SamplingProgress& p) { progress.sampled(p); },
                         measuring.files.timeline.has_value()};
  std::atomic<std::size_t> at = 0;  // index in `cases` of the case that is being measured
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
  const auto watch = monitored.watchdog.watch([&](const Alarm& alarm) {
    abort_run(alarm, {.live = live,
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

int measure(const cli::RunCommand& command, const std::vector<std::size_t>& missing, MonitoredMachine& monitored,
            LiveReport& live) {
  // With --repeat, only the parent process prints that a signal arrived.
  const bool tells = !command.process && !command.measuring.show.quiet;
  install_interrupt_handlers(live.has_file() ? HangUp::ignored : HangUp::ends,
                             tells ? Acknowledge::yes : Acknowledge::no);
  run_with_progress(command, missing, monitored, live);
  finish(command, live);
  return exit_code(live.report());
}

int run_once(cli::RunCommand command) {
  MonitoredMachine machine(command.measuring.device, scenarios_of(command.cases));
  expand(command, machine.environment());
  refuse_if_none_can_run(command, *machine.machine);
  Report report = begin_report(command.measuring, machine.device(), scenarios_of(command.cases));
  report.results.reserve(command.cases.size());
  LiveReport live(std::move(report), command.measuring.files, document_for(command));
  return measure(command, all_of(command.cases), machine, live);
}

/// Returns the stored command of the run to resume. Its output files (except the JSON file) and display options are
/// those of `now`, the command line of the resuming process.
cli::RunCommand command_to_resume(const StoredRun& stored, const cli::RunCommand& now) {
  cli::RunCommand whole = with_suite(stored.command);
  whole.measuring.files.csv = now.measuring.files.csv;
  whole.measuring.files.markdown = now.measuring.files.markdown;
  whole.measuring.files.html = now.measuring.files.html;
  whole.measuring.files.openmetrics = now.measuring.files.openmetrics;
  whole.measuring.files.formats = now.measuring.files.formats;
  whole.measuring.show = now.measuring.show;
  whole.resume = now.resume;
  return whole;
}

/// Prints that no case of the run is missing. Returns the exit code `failed` if a case has failed, else `ok`.
int end_of(const ResumePlan& left, const StoredRun& stored) {
  const std::string& file = stored.file;
  // Remove the journal, which stays behind if the run was killed just after its results file became complete.
  if (const ReplacedFile* ordinary = stored.json.ordinary()) ordinary->remove_journal();
  const auto has_failed = [](const auto& known) { return known.second.status == Status::failed; };
  const auto failed = std::ranges::count_if(left.known, has_failed);
  if (failed == 0) {
    tell(fmt::format("{} is complete: no case is missing", file));
    return static_cast<int>(ExitCode::ok);
  }
  tell(fmt::format(
      "{} is complete; {} of its cases failed, and --resume does not repeat failed cases: run the command again", file,
      failed));
  return static_cast<int>(ExitCode::failed);
}

int resume(const cli::RunCommand& command) {
  StoredRun stored = read_run(*command.resume);
  cli::RunCommand whole = command_to_resume(stored, command);
  expand(whole, stored.report.environment);
  ResumePlan left = resume_plan(stored, whole.cases);
  const auto nothing_is_missing = [&] { return left.missing.empty() && stored.report.complete; };
  if (nothing_is_missing()) return end_of(left, stored);
  MonitoredMachine machine(whole.measuring.device, scenarios_of(whole.cases));
  refuse_another_machine(stored.file, stored.report.environment, stored.report.tool, machine.device());
  drop_still_skipped(left, whole.cases, *machine.machine, whole.measuring.verify);
  if (nothing_is_missing()) return end_of(left, stored);
  LiveReport live(continue_report(stored, machine.device(), scenarios_of(whole.cases)), whole.measuring.files,
                  document_for(whole), ResumedRun{std::move(stored.json), std::move(left.known)});
  return measure(whole, left.missing, machine, live);
}

/// Throws UsageError if --passes is larger than the maximum number of samples of a case, because each pass takes at
/// least one sample of every case.
void refuse_more_turns_than_samples(const cli::RunCommand& command) {
  const std::size_t turns = command.turns.value_or(1);
  for (const PlannedCase& c : command.cases) {
    const std::size_t most = c.policy.value_or(command.measuring.policy).max_samples;
    if (most >= turns) continue;
    throw UsageError(fmt::format(
        "--passes {} is more than --max-samples {}: each pass over the cases takes at least one sample", turns, most));
  }
}

/// Prints the cases for --dry-run, without using a device.
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
  if (command.measuring.dry_run) return launch && !may_print(*launch) ? 0 : dry_run(command);
  if (command.resume) return resume(command);
  cli::RunCommand whole = with_suite(command);
  refuse_more_turns_than_samples(whole);
  if (launch) return run_in_fleet(whole, *launch);
  if (auto& profile = whole.measuring.device.simulate) profile = profile_of_single_rank(*profile);
  if (whole.process) return run_once(one_process(whole));
  if (whole.is_one_of_several && !whole.measuring.show.quiet) {
    tell("only one process measures, so compare has less data; with --json FILE this suite uses several processes");
  }
  return whole.repeat ? repeat(whole) : run_once(std::move(whole));
}

}  // namespace xferbench::app
