// Command `tune`: searches for the fastest configuration.
#include <fmt/format.h>

#include <array>
#include <functional>
#include <memory>

#include "app/abort_run.hpp"
#include "app/commands.hpp"
#include "app/fleet/rank_session.hpp"
#include "app/live_report.hpp"
#include "app/session.hpp"
#include "cli/progress.hpp"
#include "core/interrupt.hpp"
#include "paper/writers.hpp"
#include "results/output_file.hpp"
#include "run/tuner.hpp"
#include "words/run.hpp"

namespace xferbench::app {

namespace {

Tuned tune_with_progress(const cli::TuneCommand& command, MonitoredMachine& monitored, std::span<const Case> space,
                         LiveReport& live, const std::function<std::string()>& table) {
  const Scenario& scenario = *command.cases.front().scenario;
  const cli::Measuring& measuring = command.measuring;
  cli::Progress progress(measuring.show.progress, space.size());
  const RunContext bench{.machine = *monitored.machine,
                         .device = monitored.device(),
                         .policy = measuring.policy,
                         .seed = measuring.seed,
                         .verify = measuring.verify,
                         .observe = [](const SamplingProgress&) {},
                         .objective = command.objective};
  const TuneObserver observer{
      .progress = [&progress](const TuneProgress& p) { progress.tuning(p); },
      .measured = [&](const std::vector<Result>& results) { progress.tell(live.replace(results)); }};
  const auto command_of = [&](const Case& c) { return cli::command_line(command, {&scenario, c}); };
  const auto watch = monitored.watchdog.watch([&](const Alarm& alarm) {
    abort_run(alarm, {.live = live, .cases = {}, .table = table, .clear = [&] { progress.clear(); }});
  });
  return xferbench::tune(scenario, space, bench, command_of, observer,
                         command.exhaustive ? SearchMode::exhaustive : SearchMode::guided);
}

Report with_fastest(const Report& report) {
  Report shown = report;
  shown.results = fastest(report.results);
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
  const std::vector<Case> space =
      feasible(expanded(command.cases, gpus), *machine.machine, measuring.verify, command.memory_limit);
  const ScenarioDescriptor tuned_scenario = tuned_descriptor(scenario);
  const std::array shown{&tuned_scenario};
  LiveReport live(
      begin_report(measuring, machine.device(), shown), measuring.files,
      [&shown](const Report& report) { return document_of(with_fastest(report), shown); }, std::nullopt,
      WriteMode::rewrite_all);
  install_interrupt_handlers(live.has_file() ? HangUp::ignored : HangUp::ends,
                             measuring.show.quiet ? Acknowledge::no : Acknowledge::yes);
  const auto table = [&] {
    const Style style = style_of(measuring.show);
    return to_terminal(document_of(with_fastest(live.report()), shown, {.every_row = style.every_row}), style);
  };
  Tuned tuned = tune_with_progress(command, machine, space, live, table);
  // ignore messages about files here, because finish() reports an error again
  static_cast<void>(live.replace(std::move(tuned.results)));
  live.finish(std::move(tuned.findings));
  if (!measuring.show.quiet) print_warnings(live.report());
  if (!live.owns_standard_output()) write_standard_output(table());
  live.rethrow();
  return exit_code(live.report());
}

}  // namespace xferbench::app
