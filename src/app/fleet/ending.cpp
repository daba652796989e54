#include "app/fleet/ending.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/run_parts.hpp"
#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/standard_error.hpp"
#include "fleet/judgement.hpp"
#include "fleet/places.hpp"
#include "results/json.hpp"
#include "results/output_file.hpp"
#include "run/runner.hpp"

namespace xferbench::app {

namespace {

/// What a rank says last.
struct SaidLast {
  int signal = 0;         // that asked it to end; 0 where none did
  std::string failure{};  // that ends the whole rank, in a line; empty where it only waited for others
  std::string result{};   // that rank 0 may not have, as JSON; may be empty
};

std::string to_text(const SaidLast& words) {
  return fmt::format("{} {}\n{}", words.signal, words.failure, words.result);
}

SaidLast from_text(const std::string& text) {
  SaidLast words;
  std::istringstream lines(text);
  lines >> words.signal;
  lines.get();
  std::getline(lines, words.failure);
  std::getline(lines, words.result, '\0');
  return words;
}

SaidLast words_of(const FleetRun& run, const std::exception& error) {
  const bool waited = dynamic_cast<const RanksSilentError*>(&error) != nullptr;
  return {.signal = interrupted(),
          .failure = waited ? "" : error.what(),
          .result = run.unsent() ? to_json(*run.unsent()) : ""};
}

// --- Any rank but the first -----------------------------------------------------------------------------------------

/// One for each node speaks where rank 0 cannot.
bool speaks_for_node(const Communicator& mpi) { return mpi.local_rank() == (mpi.node_root() == 0 ? 1 : 0); }

[[noreturn]] void leave(const Ending& ending, const SaidLast& words) {
  constexpr double kLingering = 5;  // seconds for rank 0 to write everything, at least
  const double lingering = std::max(kLingering, ending.command.fleet.timeout);
  const Farewell::Heard heard = ending.farewell.say(to_text(words), lingering);
  if (heard.code) std::_Exit(*heard.code);
  if (interrupted() != 0) std::_Exit(128 + interrupted());
  const std::string me = fleet::rank_text(ending.member.place);
  if (!words.failure.empty()) tell(fmt::format("{}: {}", me, words.failure));
  if (speaks_for_node(*ending.member.mpi)) {
    tell(fmt::format("{}: rank 0 {}, in {}", me, heard.gone.empty() ? "does not answer" : "has died", ending.run.at()));
  }
  std::_Exit(static_cast<int>(ExitCode::failed));
}

// --- The first rank -------------------------------------------------------------------------------------------------

/// What has become of the fleet, as rank 0 has heard it.
struct Outcome {
  int signal = 0;
  std::vector<std::string> failures{};  // of ranks as a whole
  std::vector<int> missing{};           // ascending
  int code = static_cast<int>(ExitCode::failed);
};

/// After a signal somebody may be in the middle of a long pass, which is no failure; who has died has died.
Outcome outcome_of(const Ending& ending, const Farewell::Heard& heard, const std::vector<SaidLast>& words,
                   const std::exception& error) {
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

void keep(const Ending& ending, const std::vector<SaidLast>& words) {
  KnownResults results;
  for (const SaidLast& of_rank : words) {
    if (of_rank.result.empty()) continue;
    Result result = parse_result(of_rank.result, "a rank's last result");
    if (result.in_fleet) results.emplace_back(ending.run.index_of(result), std::move(result));
  }
  for (const std::string& news : ending.live->put(std::move(results))) tell(news);
}

/// Nobody is judged by what a signal has cut off.
void save(const Ending& ending, const Outcome& outcome) {
  ending.live->edit([&](Report& report) {
    report.fleet->missing = outcome.missing;
    if (outcome.signal == 0 || !outcome.missing.empty()) {
      fleet::judge(report, judging_of(ending.command.fleet));
    }
  });
  ending.live->finish({}, true);
}

void say_why(const Ending& ending, const Outcome& outcome, const std::exception& error) {
  constexpr std::size_t kMost = 4;
  const std::string where = ending.run.at().empty() ? "" : ", in " + ending.run.at();
  for (const int rank : outcome.missing) {
    tell(fmt::format("{} does not answer any more{}", fleet::rank_text(*ending.live->report().fleet, rank), where));
  }
  if (!outcome.missing.empty()) return;
  if (outcome.signal != 0) return tell("interrupted" + where);
  for (std::size_t i = 0; i < outcome.failures.size() && i < kMost; ++i) tell(outcome.failures[i]);
  if (outcome.failures.empty()) {
    tell(fmt::format("{}, though all are there: one is busy for longer; raise --timeout", error.what()));
  }
}

/// One that hangs would live on where the launcher ends nobody because others have ended (srun without
/// --kill-on-bad-exit).
[[noreturn]] void end_all(Communicator& mpi, int code) {
  // MPI may wait there for what never comes.
  std::thread([code] {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    std::_Exit(code);
  }).detach();
  mpi.abort(code);
  std::abort();  // GCC forgets that what it calls virtually does not return
}

/// Whatever fails in here: the rest is done all the same.
void attempt(const std::function<void()>& step) {
  if (const std::string failure = failure_of(step); !failure.empty()) tell(failure);
}

[[noreturn]] void end_as_first(const Ending& ending, const SaidLast& mine, const std::exception& error) {
  constexpr double kListening = 0.4;  // seconds: mpirun gives those that it ends one
  // First of all what is known is saved: there may be no time for anything else.
  attempt([&] { ending.live->finish({}, true); });
  const Farewell::Heard heard = ending.farewell.say(to_text(mine), kListening);
  ending.run.clear_progress();
  std::vector<SaidLast> words{mine};
  for (std::size_t rank = 1; rank < heard.texts.size(); ++rank) words.push_back(from_text(heard.texts[rank]));
  const Outcome outcome = outcome_of(ending, heard, words, error);
  attempt([&] { keep(ending, words); });
  attempt([&] { save(ending, outcome); });
  ending.farewell.dismiss(outcome.code);
  say_why(ending, outcome, error);
  attempt([&] {
    if (!ending.live->owns_standard_output()) write_standard_output(shown(ending.live->report(), ending.command));
    ending.live->rethrow();
  });
  const bool somebody_hangs = !outcome.missing.empty() && heard.gone.empty();
  if (somebody_hangs) end_all(*ending.member.mpi, outcome.code);
  std::_Exit(outcome.code);
}

}  // namespace

void end_early(const Ending& ending, const std::exception& error) {
  const SaidLast words = words_of(ending.run, error);
  ending.live == nullptr ? leave(ending, words) : end_as_first(ending, words, error);
}

}  // namespace xferbench::app
