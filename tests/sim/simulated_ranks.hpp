// Simulated ranks: threads with a simulated machine each, a modelled network between them, and synchronised passes.
#pragma once

#include "ranks/common_clock.hpp"
#include "ranks/modelled_network.hpp"
#include "ranks/rank_lockstep.hpp"
#include "sim/sim_fixture.hpp"
#include "support/thread_ranks.hpp"

namespace xferbench::test {

/// Nodes of the ranks, replaced operations of their GPUs, and which ranks measure at the same time.
struct SimulatedRanks {
  std::vector<int> nodes;
  std::function<Override(int rank)> how = [](int) { return Override{}; };
  RankConcurrency pace = RankConcurrency::all;
  bool verify = true;
  Timeout timeout{.seconds = 60};
  std::vector<int> taking_part{};
};

/// Results of one rank.
using OfRank = std::vector<Result>;

inline OfRank run_rank(Communicator& threads, const SimulatedRanks& ranks, const std::vector<PlannedCase>& planned) {
  const int rank = threads.rank();
  const Override how = ranks.how(rank);
  sim::SimMachine machine(profile("h200"), {0}, [&how](sim::SimMachine& m, std::size_t number) {
    return std::make_unique<DeviceOverride>(m, how, number);
  });
  ModelledNetwork network(threads, machine.host(), ranks.nodes);
  CommonClock clock(network, machine.host());
  RankLockstep pace(network, machine.host(), clock, ranks.timeout);
  const FleetContext fleet{network, ranks.nodes, ranks.timeout, ranks.pace, ranks.taking_part};
  RunContext bench = quick_bench(machine.device());
  bench.policy.budget = 0.02;  // simulated passes are slow in real time, and some never become steady
  bench.verify = ranks.verify;
  bench.pace = &pace;
  bench.fleet = &fleet;
  OfRank results;
  const GpusOfRun gpus{.environment = machine.device().capabilities().environment, .ranks = threads.size()};
  for (const PlannedCase& c : expanded(planned, gpus)) {
    clock.synchronise(ranks.timeout);
    pace.begin_case(c.config.key());
    if (fleet.takes_part(rank)) results.push_back(run_all({{c}}, bench).front());
    pace.answer_questions();
    EXPECT_FALSE(pace.question_mismatch()) << c.config.key();
  }
  return results;
}

/// Results of all ranks, indexed by rank.
inline std::vector<OfRank> run_ranks(const std::vector<PlannedCase>& planned, const SimulatedRanks& ranks) {
  std::vector<OfRank> results(ranks.nodes.size());
  ThreadRanks threads(static_cast<int>(ranks.nodes.size()));
  threads.run([&](Communicator& communicator) {
    results.at(static_cast<std::size_t>(communicator.rank())) = run_rank(communicator, ranks, planned);
  });
  return results;
}
inline std::vector<OfRank> run_ranks(const std::string& line, const SimulatedRanks& ranks) {
  return run_ranks(cases_of_line(line), ranks);
}

}  // namespace xferbench::test
