#include "app/fleet/fleet.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <exception>
#include <functional>
#include <optional>
#include <utility>

#include "app/fleet/ending.hpp"
#include "app/fleet/fleet_run.hpp"
#include "app/fleet/membership.hpp"
#include "app/give_up.hpp"
#include "app/run_parts.hpp"
#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/standard_error.hpp"
#include "fleet/judgement.hpp"
#include "fleet/places.hpp"
#include "ranks/farewell.hpp"

namespace xferbench::app {

namespace {

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

/// At rank 0, of the watchdog: this is the rank that does not come back.
[[noreturn]] void give_up_as_first(const Alarm& alarm, const cli::RunCommand& command, const Member& member,
                                   LiveReport& live, FleetRun& run) {
  if (alarm.kind == Alarm::Kind::stuck) {
    live.edit([&](Report& report) {
      report.fleet->missing = {member.place.rank};
      fleet::judge(report, judging_of(command.fleet));
    });
  }
  give_up(alarm, {.live = live,
                  .cases = {},
                  .table = [&] { return shown(live.report(), command); },
                  .clear = [&] { run.clear_progress(); },
                  .rank = fleet::rank_text(member.place)});
}

/// At rank 0: writes and shows everything. The exit code; what cannot be written is no reason to leave the others
/// alone.
int write_and_show(const cli::RunCommand& command, LiveReport& live, int signal) {
  try {
    finish(command, live, signal != 0);
  } catch (const std::exception& error) {
    tell(error.what());
    return static_cast<int>(exit_code_of(error));
  }
  return signal != 0 ? 128 + signal : fleet_exit_code(live.report());
}

/// Runs, shows, and returns the exit code.
int measure_together(const cli::RunCommand& command, Member& member) {
  std::optional<LiveReport> live;
  const Problem problem = problem_of([&] {
    if (!member.is_first()) return;
    live.emplace(begin_fleet_report(command, member), command.measuring.files, document_for(command));
  });
  if (const int code = code_for_all(*member.mpi, problem, patience_of(command)); code != 0) return code;
  install_interrupt_handlers(live && live->has_file() ? HangUp::ignored : HangUp::ends,
                             live && !command.measuring.show.quiet ? Acknowledge::yes : Acknowledge::no);
  Farewell farewell(*member.mpi, member.neighbours, patience_of(command));
  const std::function<void()> look = [&farewell] { farewell.look(); };
  FleetRun run(command, member, live ? &*live : nullptr, look);
  try {
    {
      const auto watch = member.machine->watchdog.watch([&](const Alarm& alarm) {
        if (live) give_up_as_first(alarm, command, member, *live, run);
        if (alarm.kind == Alarm::Kind::stuck) leave_stuck(alarm, member);
        std::_Exit(128 + interrupted());
      });
      run.run();
    }
    const std::string code = live ? std::to_string(write_and_show(command, *live, run.signal())) : "";
    const Patience patience = while_first_writes(patience_of(command, look));
    const int agreed = std::stoi(broadcast(*member.mpi, code, 0, patience, "the exit code"));
    farewell.end(patience_of(command));
    return agreed;
  } catch (const std::exception& error) {
    end_early({command, member, live ? &*live : nullptr, run, farewell}, error);
  }
}

}  // namespace

int run_in_fleet(cli::RunCommand command, const Launch& launch) {
  Member member = join_fleet(command, launch);
  return member.refusal ? *member.refusal : measure_together(command, member);
}

}  // namespace xferbench::app
