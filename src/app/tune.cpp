// Command `tune`: searches for the fastest configuration.
#include <fmt/format.h>

#include <array>
#include <functional>
#include <iterator>

#include "app/abort_run.hpp"
#include "app/commands.hpp"
#include "app/fleet/rank_session.hpp"
#include "app/live_report.hpp"
#include "app/session.hpp"
#include "cli/progress.hpp"
#include "core/interrupt.hpp"
#include "core/lists.hpp"
#include "paper/writers.hpp"
#include "results/output_file.hpp"
#include "run/findings.hpp"
#include "run/thresholds.hpp"
#include "run/tuner.hpp"
#include "words/run.hpp"

namespace xferbench::app {

namespace {

/// Tunes each work by itself. Returns the results of all, and the findings of the single one or those that compare the
/// choices for several.
Tuned tune_with_progress(const cli::TuneCommand& command, MonitoredMachine& monitored,
                         const std::vector<std::vector<Case>>& works, LiveReport& live,
                         const std::function<std::string()>& table) {
  const Scenario& scenario = *command.cases.front().scenario;
  const cli::Measuring& measuring = command.measuring;
  cli::Progress progress(measuring.show.progress, works.front().size());
  const RunContext bench{.machine = *monitored.machine,
                         .device = monitored.device(),
                         .policy = measuring.policy,
                         .seed = measuring.seed,
                         .verify = measuring.verify,
                         .observe = [](const SamplingProgress&) {},
                         .objective = command.objective};
  std::vector<Result> ended;  // results of the works before the present one
  const auto with_ended = [&ended](const std::vector<Result>& results) {
    std::vector<Result> all = ended;
    all.insert(all.end(), results.begin(), results.end());
    return all;
  };
  const TuneObserver observer{
      .progress = [&progress](const TuneProgress& p) { progress.tuning(p); },
      .measured = [&](const std::vector<Result>& results) { progress.tell(live.replace(with_ended(results))); }};
  const auto command_of = [&](const Case& c) { return cli::command_line(command, {&scenario, c}); };
  const auto watch = monitored.watchdog.watch([&](const Alarm& alarm) {
    abort_run(alarm, {.live = live, .cases = {}, .table = table, .clear = [&] { progress.clear(); }});
  });
  std::vector<Tuned> tuned;
  for (const std::vector<Case>& work : works) {
    tuned.push_back(xferbench::tune(scenario, work, bench, command_of, observer,
                                    command.exhaustive ? SearchMode::exhaustive : SearchMode::guided));
    ended = with_ended(tuned.back().results);
    if (interrupted() != 0 || !bench.device.usable()) break;
  }
  if (works.size() == 1) return std::move(tuned.front());
  return {std::move(ended), threshold_findings(scenario.descriptor(), tuned)};
}

/// Returns the report with the results to show: the ten fastest or, for several works, the two fastest for each.
Report with_fastest(const Report& report, const ScenarioDescriptor& scenario) {
  const std::vector<const Result*> all = pointers_to(report.results);
  const auto works = grouped(all, [&](const Result& r) { return work_key(r.config, scenario.work_axes); });
  Report shown = report;
  shown.results.clear();
  for (const auto& of_work : works) {
    const std::vector<Result> results = list_of(of_work, [](const Result* r) { return *r; });
    std::ranges::move(fastest(results, works.size() == 1 ? 10 : 2), std::back_inserter(shown.results));
  }
  return shown;
}

/// Prints the search space for --dry-run, without using a device.
int dry_tune(const cli::TuneCommand& command) {
  std::string text;
  std::size_t out = 0;
  for (const PlannedCase& c : command.cases) {
    const auto reason = skip_reason_of_tune(c, command.memory_limit);
    text += c.config.key() + (reason ? "  (left out: " + reason->text + ")" : "") + "\n";
    out += reason ? 1 : 0;
  }
  text += fmt::format("{} configurations", command.cases.size() - out);
  write_standard_output(text + (out > 0 ? fmt::format(", {} left out", out) : "") + "\n");
  return 0;
}

}  // namespace

int perform(const cli::TuneCommand& command) {
  refuse_several_ranks("tune");
  if (command.measuring.dry_run) return dry_tune(command);
  const cli::Measuring& measuring = command.measuring;
  const ScenarioDescriptor& scenario = command.cases.front().scenario->descriptor();
  MonitoredMachine machine(measuring.device, std::array{&scenario});
  const GpusOfRun gpus{machine.environment(), measuring.device.gpus.has_value()};
  const std::vector<std::vector<Case>> works =
      by_work(feasible(expanded(command.cases, gpus), *machine.machine, measuring.verify, command.memory_limit),
              scenario.work_axes);
  const ScenarioDescriptor tuned_scenario = tuned_descriptor(scenario);
  const std::array shown{&tuned_scenario};
  LiveReport live(
      begin_report(measuring, machine.device(), shown), measuring.files,
      [&shown](const Report& report) { return document_of(with_fastest(report, *shown.front()), shown); }, std::nullopt,
      WriteMode::rewrite_all);
  install_interrupt_handlers(live.has_file() ? HangUp::ignored : HangUp::ends,
                             measuring.show.quiet ? Acknowledge::no : Acknowledge::yes);
  const auto table = [&] {
    const Style style = style_of(measuring.show);
    return to_terminal(document_of(with_fastest(live.report(), tuned_scenario), shown, {.every_row = style.every_row}),
                       style);
  };
  Tuned tuned = tune_with_progress(command, machine, works, live, table);
  // ignore messages about files here, because finish() reports an error again
  static_cast<void>(live.replace(std::move(tuned.results)));
  live.finish(std::move(tuned.findings));
  if (!measuring.show.quiet) print_warnings(live.report());
  if (!live.owns_standard_output()) write_standard_output(table());
  live.rethrow();
  return exit_code(live.report());
}

}  // namespace xferbench::app
