#include "app/fleet/fleet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/abort_run.hpp"
#include "app/fleet/fleet_run.hpp"
#include "app/fleet/rank_session.hpp"
#include "app/live_report.hpp"
#include "app/run_parts.hpp"
#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/standard_error.hpp"
#include "fleet/judgement.hpp"
#include "fleet/rank_places.hpp"
#include "ranks/shutdown_handshake.hpp"
#include "results/json.hpp"
#include "results/json_codec.hpp"
#include "results/output_file.hpp"
#include "run/runner.hpp"

namespace xferbench::app {

namespace {

// --- Ending a fleet early --------------------------------------------------------------------------------------------

/// References to everything that is needed to end a fleet run early.
struct Ending {
  const cli::RunCommand& command;
  const RankSession& session;
  LiveReport* live;  ///< report and output files of the run at rank 0; null on other ranks
  FleetRun& run;
  ShutdownHandshake& shutdown;
};

/// The last message that a rank sends to rank 0 before the process ends.
struct FinalMessage {
  int signal = 0;  // signal that asked this rank to end; 0: none
  // error that ended this rank, in one line; empty if this rank only waited in vain for other ranks
  std::string failure{};
  std::optional<Result> result{};  // result of this rank that rank 0 may not have received yet
};

constexpr std::array kFinalMessageFields{
    json::field<&FinalMessage::signal>("signal"),
    json::field<&FinalMessage::failure, json::kRawText>("failure"),
    json::field<&FinalMessage::result, json::kSentResult>("result", json::Rule::omit_empty),
};
constexpr json::Codec kFinalMessage = json::record(kFinalMessageFields);
std::string to_text(const FinalMessage& words) { return json::text_of(kFinalMessage, &words); }

FinalMessage words_of(const FleetRun& run, const std::exception& error) {
  const bool waited = dynamic_cast<const RankTimeoutError*>(&error) != nullptr;
  return {.signal = interrupted(), .failure = waited ? "" : error.what(), .result = run.unsent()};
}

// --- Ranks other than 0 ----------------------------------------------------------------------------------------------

/// Returns whether this rank prints the error message for its node if rank 0 cannot print. Exactly one rank of each
/// node does, and it is never rank 0.
bool reports_for_node(const Communicator& mpi) { return mpi.local_rank() == (mpi.node_root() == 0 ? 1 : 0); }

[[noreturn]] void leave(const Ending& ending, const FinalMessage& words) {
  // mpirun kills all ranks as soon as one has ended with an error. The rank that reports for the node ends first.
  constexpr std::chrono::seconds kReportersTurn{2};
  constexpr double kLingering = 5;  // minimum timeout in seconds while rank 0 writes all files
  const double lingering = std::max(kLingering, ending.command.fleet.timeout);
  const ShutdownHandshake::FinalReports heard = ending.shutdown.send_final(to_text(words), lingering);
  if (heard.code) std::_Exit(*heard.code);
  if (interrupted() != 0) std::_Exit(128 + interrupted());
  const std::string me = fleet::rank_text(ending.session.place);
  if (!words.failure.empty()) tell(fmt::format("{}: {}", me, words.failure));
  if (reports_for_node(*ending.session.mpi)) {
    tell(fmt::format("{}: rank 0 {}, in {}", me, heard.gone.empty() ? "does not answer" : "has died", ending.run.at()));
  } else {
    std::this_thread::sleep_for(kReportersTurn);
  }
  std::_Exit(static_cast<int>(ExitCode::failed));
}

// --- Rank 0 ----------------------------------------------------------------------------------------------------------

/// How the fleet run ended, as far as rank 0 knows.
struct Outcome {
  int signal = 0;
  std::vector<std::string> failures{};  // messages of the errors that ended ranks
  std::vector<int> missing{};           // ranks that do not answer, ascending
  int code = static_cast<int>(ExitCode::failed);
};

/// Evaluates the final messages of all ranks. Ranks that have died count as missing. Ranks that do not answer count as
/// missing only if no rank died and no signal arrived. Otherwise a silent rank may only be busy with a long pass.
Outcome outcome_of(const Ending& ending, const ShutdownHandshake::FinalReports& heard,
                   const std::vector<FinalMessage>& words, const std::exception& error) {
  Outcome outcome;
  for (std::size_t rank = 0; rank < words.size(); ++rank) {
    outcome.signal = std::max(outcome.signal, words[rank].signal);
    if (words[rank].failure.empty()) continue;
    const std::string who = fleet::rank_text(*ending.live->report().fleet, static_cast<int>(rank));
    outcome.failures.push_back(fmt::format("{}: {}", who, words[rank].failure));
  }
  outcome.missing = !heard.gone.empty() || outcome.signal != 0 ? heard.gone : heard.silent;
  if (!outcome.missing.empty()) return outcome;
  if (outcome.signal != 0) {
    outcome.code = 128 + outcome.signal;
  } else if (!words[0].failure.empty()) {
    outcome.code = static_cast<int>(exit_code_of(error));
  }
  return outcome;
}

void keep(const Ending& ending, std::vector<FinalMessage> words) {
  KnownResults results;
  for (auto& [signal, failure, result] : words) {
    if (result && result->in_fleet) results.emplace_back(ending.run.index_of(*result), std::move(*result));
  }
  for (const std::string& news : ending.live->put(std::move(results))) tell(news);
}

/// Saves the report. Looks for slow ranks first, except if the only reason for the early end is an interrupt.
void save(const Ending& ending, const Outcome& outcome) {
  ending.live->edit([&](Report& report) {
    report.fleet->missing = outcome.missing;
    if (outcome.signal == 0 || !outcome.missing.empty()) fleet::judge(report, judge_options_of(ending.command.fleet));
  });
  ending.live->finish({}, true);
}

void print_reason(const Ending& ending, const Outcome& outcome, const std::exception& error) {
  constexpr std::size_t kMost = 4;
  const std::string where = ending.run.at().empty() ? "" : ", in " + ending.run.at();
  for (const int rank : outcome.missing) {
    tell(fmt::format("{} does not answer any more{}", fleet::rank_text(*ending.live->report().fleet, rank), where));
  }
  if (!outcome.missing.empty()) return;
  if (outcome.signal != 0) return tell("interrupted" + where);
  for (std::size_t i = 0; i < outcome.failures.size() && i < kMost; ++i) tell(outcome.failures[i]);
  if (outcome.failures.empty()) {
    tell(fmt::format("{}, although all are alive: one is busy for longer; raise --timeout", error.what()));
  }
}

/// Ends all ranks with MPI_Abort. Some launchers (srun without --kill-on-bad-exit) do not end a rank that hangs when
/// other ranks have ended.
[[noreturn]] void end_all_ranks(Communicator& mpi, int code) {
  // A second thread ends this process after one second, because MPI_Abort may never return.
  std::thread([code] {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    std::_Exit(code);
  }).detach();
  mpi.abort(code);
  std::abort();  // never reached, but GCC does not know that the virtual call does not return
}

/// Runs a step and prints its error instead of throwing it, so that the next steps are still done.
void attempt(const std::function<void()>& step) {
  if (const std::string failure = failure_of(step); !failure.empty()) tell(failure);
}

[[noreturn]] void end_as_rank0(const Ending& ending, const FinalMessage& mine, const std::exception& error) {
  constexpr double kListening = 0.4;  // seconds to wait for final messages; mpirun gives ranks one second to end
  // Save the known results first, because there may be no time for anything else.
  attempt([&] { ending.live->finish({}, true); });
  const ShutdownHandshake::FinalReports heard = ending.shutdown.send_final(to_text(mine), kListening);
  ending.run.clear_progress();
  std::vector<FinalMessage> words(std::max<std::size_t>(heard.texts.size(), 1));
  words[0] = mine;
  for (std::size_t rank = 1; rank < words.size(); ++rank) {
    if (heard.texts[rank].empty()) continue;
    attempt([&] { json::read_text(heard.texts[rank], "the last message of a rank", {&kFinalMessage, &words[rank]}); });
  }
  const Outcome outcome = outcome_of(ending, heard, words, error);
  attempt([&] { keep(ending, words); });
  attempt([&] { save(ending, outcome); });
  ending.shutdown.release_all(outcome.code);
  print_reason(ending, outcome, error);
  attempt([&] {
    if (!ending.live->owns_standard_output()) write_standard_output(shown(ending.live->report(), ending.command));
    ending.live->rethrow();
  });
  const bool somebody_hangs = !outcome.missing.empty() && heard.gone.empty();
  if (somebody_hangs) end_all_ranks(*ending.session.mpi, outcome.code);
  std::_Exit(outcome.code);
}

/// Ends a fleet run early, because a rank does not answer, an error ended a rank, or a signal arrived while some ranks
/// were too busy to notice. Every rank that still works sends its final message to rank 0. Rank 0 prints the reason,
/// names the missing ranks and writes all files. `error` is the reason why this rank stops. MPI can neither continue
/// nor be finalized, so the process ends here, with the same exit code on all ranks.
[[noreturn]] void end_after_error(const Ending& ending, const std::exception& error) {
  const FinalMessage words = words_of(ending.run, error);
  ending.live == nullptr ? leave(ending, words) : end_as_rank0(ending, words, error);
}

// --- A run -----------------------------------------------------------------------------------------------------------

/// Returns the exit code of the whole fleet, which only rank 0 can compute.
int fleet_exit_code(const Report& report) {
  const int code = exit_code(report);
  const bool flagged = !report.fleet->flagged.empty() || !report.fleet->missing.empty();
  return code == 0 && flagged ? static_cast<int>(ExitCode::failed) : code;
}

/// Ends the process of this rank because its GPU is stuck. The other ranks notice that the process is gone.
[[noreturn]] void exit_stuck(const Alarm& alarm, const RankSession& session) {
  tell(fmt::format("{}: {}", fleet::rank_text(session.place), stuck_reason(alarm)));
  std::_Exit(static_cast<int>(ExitCode::failed));
}

/// Called by rank 0's watchdog thread if rank 0's measuring thread is blocked. Saves the report and ends the process.
[[noreturn]] void abort_as_rank0(const Alarm& alarm, const cli::RunCommand& command, const RankSession& session,
                                 LiveReport& live, FleetRun& run) {
  if (alarm.kind == Alarm::Kind::stuck) {
    live.edit([&](Report& report) {
      report.fleet->missing = {session.place.rank};
      fleet::judge(report, judge_options_of(command.fleet));
    });
  }
  abort_run(alarm, {.live = live,
                    .cases = {},
                    .table = [&] { return shown(live.report(), command); },
                    .clear = [&] { run.clear_progress(); },
                    .rank = fleet::rank_text(session.place)});
}

/// Called at rank 0: writes the files, prints the results and returns the exit code. Prints errors instead of throwing
/// them, because the other ranks still wait for rank 0.
int write_and_show(const cli::RunCommand& command, LiveReport& live, int signal) {
  try {
    finish(command, live, signal != 0);
  } catch (const std::exception& error) {
    tell(error.what());
    return static_cast<int>(exit_code_of(error));
  }
  return signal != 0 ? 128 + signal : fleet_exit_code(live.report());
}

/// Measures on all ranks, shows the results at rank 0 and returns the exit code.
int measure_together(const cli::RunCommand& command, RankSession& session) {
  std::optional<LiveReport> live;
  const Problem problem = problem_of([&] {
    if (!session.is_rank0()) return;
    Report report = begin_report(command.measuring, session.machine->device(), scenarios_of(command.cases));
    report.fleet = std::move(session.fleet);
    live.emplace(std::move(report), command.measuring.files, document_for(command));
  });
  if (const int code = broadcast_exit_code(*session.mpi, problem, timeout_of(command)); code != 0) return code;
  install_interrupt_handlers(live && live->has_file() ? HangUp::ignored : HangUp::ends,
                             live && !command.measuring.show.quiet ? Acknowledge::yes : Acknowledge::no);
  ShutdownHandshake shutdown(*session.mpi, session.neighbours, timeout_of(command));
  const std::function<void()> look = [&shutdown] { shutdown.look(); };
  FleetRun run(command, session, live ? &*live : nullptr, look);
  try {
    {
      const auto watch = session.machine->watchdog.watch([&](const Alarm& alarm) {
        if (live) abort_as_rank0(alarm, command, session, *live, run);
        if (alarm.kind == Alarm::Kind::stuck) exit_stuck(alarm, session);
        std::_Exit(128 + interrupted());
      });
      run.run();
    }
    const std::string code = live ? std::to_string(write_and_show(command, *live, run.signal())) : "";
    const Timeout timeout = timeout_while_rank0_writes(timeout_of(command, look));
    const int agreed = std::stoi(broadcast(*session.mpi, code, 0, timeout, "the exit code"));
    shutdown.end(timeout_of(command));
    return agreed;
  } catch (const std::exception& error) {
    end_after_error({command, session, live ? &*live : nullptr, run, shutdown}, error);
  }
}

}  // namespace

int run_in_fleet(cli::RunCommand command, const Launch& launch) {
  RankSession session = join_fleet(command, launch);
  return session.refusal ? *session.refusal : measure_together(command, session);
}

}  // namespace xferbench::app
