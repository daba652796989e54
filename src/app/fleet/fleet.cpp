#include "app/fleet/fleet.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "app/fleet/fleet_run.hpp"
#include "app/fleet/membership.hpp"
#include "app/give_up.hpp"
#include "app/run_parts.hpp"
#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/standard_error.hpp"
#include "fleet/places.hpp"
#include "ranks/farewell.hpp"
#include "results/json.hpp"

namespace xferbench::app {

namespace {

/// The end of a fleet of which somebody does not answer any more: those who can still talk tell rank 0 what they have,
/// rank 0 names the others and writes everything. MPI can neither go on nor end, so the process ends here.
[[noreturn]] void end_without_all(const cli::RunCommand& command, LiveReport* live, FleetRun& run, Farewell& farewell,
                                  const std::exception& error) {
  constexpr double kListening = 0.4;  // seconds: mpirun gives those that it ends one
  constexpr double kLingering = 5;    // for rank 0 to write everything
  const std::string last = run.unsent() ? to_json(*run.unsent()) : "";
  // First of all what is known is saved: there may be no time for anything else.
  if (live != nullptr) live->finish({}, true);
  const Farewell::Heard heard = farewell.say(last, live != nullptr ? kListening : kLingering);
  run.clear_progress();
  try {
    if (live == nullptr) {
      std::_Exit(static_cast<int>(ExitCode::failed));
    }
    KnownResults results;
    for (const std::string& text : heard.texts) {
      if (text.empty()) continue;
      Result result = parse_result(text, "a rank's last result");
      if (result.in_fleet) results.emplace_back(run.index_of(result), std::move(result));
    }
    for (const std::string& news : live->put(std::move(results))) tell(news);
    live->edit([&](Report& report) {
      report.fleet->missing = heard.silent;
      fleet::judge(report, {.threshold = command.fleet.threshold});
    });
    live->finish({}, true);
    farewell.dismiss();
    for (const int rank : heard.silent) {
      const RankPlace* place = live->report().fleet->place(rank);
      tell(fmt::format("{} does not answer any more{}",
                       place == nullptr ? fmt::format("rank {}", rank) : fleet::rank_text(*place),
                       run.at().empty() ? "" : ", in " + run.at()));
    }
    if (heard.silent.empty()) {
      tell(fmt::format("{}, though all are there: one is busy for longer; raise --timeout", error.what()));
    }
    if (!live->owns_standard_output()) write_standard_output(shown(live->report(), command));
    live->rethrow();
  } catch (const std::exception& another) {
    tell(another.what());
  }
  std::_Exit(static_cast<int>(ExitCode::failed));
}

Report begin_fleet_report(const cli::RunCommand& command, Member& member) {
  Report report = begin_report(command.measuring, member.machine->device(), scenarios_of(command.cases));
  report.fleet = std::move(member.fleet);
  return report;
}

/// Of the whole fleet; known to rank 0.
int fleet_exit_code(const Report& report) {
  const int code = exit_code(report);
  const bool flagged = !report.fleet->flagged.empty() || !report.fleet->missing.empty();
  return code == 0 && flagged ? static_cast<int>(ExitCode::failed) : code;
}

/// Gives up this rank, whose GPU does not come back: the others notice that it is gone.
[[noreturn]] void leave_stuck(const Alarm& alarm, const Member& member) {
  tell(fmt::format("{}: {}", fleet::rank_text(member.place), stuck_reason(alarm)));
  std::_Exit(static_cast<int>(ExitCode::failed));
}

/// Runs, shows, and returns the exit code.
int measure_together(const cli::RunCommand& command, Member& member) {
  std::optional<LiveReport> live;
  if (member.is_first()) {
    live.emplace(begin_fleet_report(command, member), command.measuring.files, markdown_of(command));
  }
  install_interrupt_handlers(live && live->has_file() ? HangUp::ignored : HangUp::ends,
                             live && !command.measuring.show.quiet ? Acknowledge::yes : Acknowledge::no);
  Farewell farewell(*member.mpi, member.neighbours, patience_of(command));
  FleetRun run(command, member, live ? &*live : nullptr, [&farewell] { farewell.look(); });
  try {
    const auto watch = member.machine->watchdog.watch([&](const Alarm& alarm) {
      if (alarm.kind == Alarm::Kind::stuck && !live) leave_stuck(alarm, member);
      if (!live) std::_Exit(128 + interrupted());
      give_up(alarm, {.live = *live,
                      .cases = {},
                      .table = [&] { return shown(live->report(), command); },
                      .clear = [&] { run.clear_progress(); }});
    });
    run.run();
    if (live) finish(command, *live);
    const std::string code = live ? std::to_string(fleet_exit_code(live->report())) : "";
    const Patience patience = patience_of(command);
    const int agreed = std::stoi(broadcast(*member.mpi, code, 0, patience, "the exit code"));
    farewell.end(patience);
    return agreed;
  } catch (const RanksSilentError& error) {
    end_without_all(command, live ? &*live : nullptr, run, farewell, error);
  } catch (const CommunicationError& error) {
    end_without_all(command, live ? &*live : nullptr, run, farewell, error);
  }
}

}  // namespace

int run_in_fleet(cli::RunCommand command, const Launch& launch) {
  try {
    Member member = join_fleet(command, launch);
    return measure_together(command, member);
  } catch (const FleetError& error) {
    if (*error.what() != '\0') tell(error.what());
    return error.code;
  }
}

}  // namespace xferbench::app
