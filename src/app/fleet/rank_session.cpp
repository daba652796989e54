#include "app/fleet/rank_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "app/fleet/deadline.hpp"
#include "app/profile_input.hpp"
#include "app/run_parts.hpp"
#include "core/error.hpp"
#include "core/own_process.hpp"
#include "core/standard_error.hpp"
#include "ranks/modelled_network.hpp"
#include "ranks/mpi_plugin.hpp"
#include "ranks/skewed_host.hpp"
#include "results/json.hpp"
#include "results/json_codec.hpp"

namespace xferbench::app {

namespace {

/// Throws UsageError for flags that make no sense for a run of many ranks.
void refuse_flags_of_one_process(const cli::RunCommand& command) {
  constexpr std::array<std::array<const char*, 2>, 6> kFlagsOfOne{{
      {"gpu", "each rank uses the GPU with its local rank's number; CUDA_VISIBLE_DEVICES chooses others"},
      {"gpus", "each rank uses the GPU with its local rank's number; CUDA_VISIBLE_DEVICES chooses others"},
      {"repeat", "run mpirun or srun several times, each with its own file"},
      {"spread", "run mpirun or srun several times, each with its own file"},
      {"resume", "run all ranks again"},
      {"timeline", "trace one GPU without a launcher"},
  }};
  for (const auto& [flag, instead] : kFlagsOfOne) {
    if (std::ranges::find(command.flags, flag) == command.flags.end()) continue;
    throw UsageError(
        fmt::format("--{} is for a single process, but mpirun or srun has started several: {}", flag, instead));
  }
}

// --- What each rank finds out by itself -----------------------------------------------------------------------------

/// Returns the command's device choice with this rank's number and its own GPU or simulated device filled in.
cli::DeviceChoice device_of(const cli::RunCommand& command, int rank, int local_rank) {
  cli::DeviceChoice device = command.measuring.device;
  device.gpus = GpuSelection{.of_process = GpuOfProcess{local_rank, command.fleet.share_gpus}};
  device.rank = rank;
  if (device.simulate) device.simulate = for_rank(*device.simulate, rank, local_rank, host_name());
  return device;
}

/// Opens this rank's GPU and expands the cases of the command for its machine. Returns a problem instead of throwing.
Problem open_and_expand(cli::RunCommand& command, int rank, int local_rank,
                        std::unique_ptr<MonitoredMachine>& machine) {
  return problem_of([&] {
    command.measuring.device = device_of(command, rank, local_rank);
    machine = std::make_unique<MonitoredMachine>(command.measuring.device, scenarios_of(command.cases));
    // remove the selection that device_of() has made, because the user did not give it
    command.measuring.device.gpus.reset();
    expand(command, machine->environment());
    refuse_if_none_can_run(command, *machine->machine);
  });
}

/// Returns the name of the simulated host if the profile names one, else the name of the real host.
std::string host_of(const cli::DeviceChoice& device) {
  const std::string modelled = device.simulate ? modelled_rank_of(*device.simulate).host : "";
  return modelled.empty() ? host_name() : modelled;
}

RankPlace place_of(const Communicator& ranks, const cli::DeviceChoice& device, const MonitoredMachine* machine) {
  RankPlace place{.rank = ranks.rank(), .local_rank = ranks.local_rank(), .host = host_name()};
  if (machine != nullptr) {
    place.host = host_of(device);
    place.environment = machine->environment();
    place.environment.variables = cuda_variables();
  }
  const Tool tool = this_tool();
  place.tool = tool.git.empty() ? tool.version : fmt::format("{} ({})", tool.version, tool.git);
  return place;
}

/// Starts MPI. If that fails, returns the exit code. One rank of each host prints the reason, because the reason (a
/// missing plug-in or MPI library) may differ between hosts.
std::optional<int> start(RankSession& session, const Launch& launch) {
  try {
    session.mpi = start_mpi();
    return {};
  } catch (const UsageError& error) {
    const bool speaks = launch.local_rank.value_or(launch.rank.value_or(0)) == 0;
    if (speaks) tell(fmt::format("{}: {}", host_name(), error.what()));
    return static_cast<int>(ExitCode::usage);
  }
}

/// Returns an exit code if the launcher started several ranks but MPI sees only one: each would then measure alone.
std::optional<int> refuse_singletons(const Launch& launch, const Communicator& mpi) {
  if (launch.size.value_or(1) <= 1 || mpi.size() > 1) return {};
  if (may_print(launch)) {
    tell(fmt::format(
        "{} has started {} ranks, but MPI ({}) sees only one, so each would measure alone. Use srun --mpi=pmix (srun "
        "--mpi=list shows what is available), or start the ranks with the mpirun of that MPI",
        launch.launcher, *launch.size, mpi.library()));
  }
  return static_cast<int>(ExitCode::usage);
}

/// Opens the GPU, starts MPI and returns this rank's handshake. If the launcher gives the local rank number, the GPU is
/// opened first. Otherwise MPI is started first, to get the number. Sets `session.refusal` if MPI fails.
RankHandshake begin(RankSession& session, cli::RunCommand& command, const Launch& launch) {
  // Ranks that wait in MPI get a longer time limit, so that a rank whose GPU hangs reports it before they give up.
  constexpr double kForOthers = 5;  // seconds
  const double timeout = command.fleet.timeout;
  Deadline deadline(rank_label(launch));
  RankHandshake mine;
  const auto open = [&](int rank, int local_rank) {
    deadline.begin("opening the GPU", timeout);
    mine.problem = open_and_expand(command, rank, local_rank, session.machine);
  };
  const bool knows_its_place = launch.local_rank.has_value();
  if (knows_its_place) open(launch.rank.value_or(0), *launch.local_rank);
  deadline.begin("starting MPI (are all ranks started?)", timeout + kForOthers);
  session.refusal = start(session, launch);
  if (!session.refusal) session.refusal = refuse_singletons(launch, *session.mpi);
  if (session.refusal) return mine;
  if (!knows_its_place) open(session.mpi->rank(), session.mpi->local_rank());
  if (mine.problem.code == 0) {
    mine.problem = problem_of([&] { expand(command, session.machine->environment(), session.mpi->size()); });
  }
  mine.place = place_of(*session.mpi, command.measuring.device, session.machine.get());
  mine.settings = shared_settings_of(command);
  mine.launched_as = launch.local_rank;
  return mine;
}

/// Collective operation: rank 0 sends all ranks its decision whether they can measure, and the node of each rank.
void agree(RankSession& session, const RankHandshakes& all, const cli::RunCommand& command, const Timeout& timeout) {
  const Problem problem = session.is_rank0() ? handshake_problem(all, command.fleet.share_gpus) : Problem{};
  if (const int code = broadcast_exit_code(*session.mpi, problem, timeout); code != 0) {
    session.refusal = code;
    return;
  }
  constexpr const char* kWhat = "the nodes of all ranks";
  const std::vector<int> nodes = nodes_of(all);
  const std::string text = broadcast(*session.mpi, json::text_of(json::kSentNumbers, &nodes), 0, timeout, kWhat);
  session.nodes = json::record_from_text<std::vector<int>>(text, kWhat, json::kSentNumbers);
  session.place.node = session.nodes.at(static_cast<std::size_t>(session.place.rank));
}

/// Called at rank 0: prints the differences between ranks and returns the description of the fleet for the report.
Fleet fleet_of(const RankSession& session, RankHandshakes all, bool quiet) {
  Fleet fleet{.mpi = session.mpi->library(), .differences = differences_of(all)};
  for (RankHandshake& one : all) {
    one.place.node = session.nodes.at(fleet.ranks.size());
    fleet.ranks.push_back(std::move(one.place));
  }
  for (std::size_t i = 0; !quiet && i < fleet.differences.size(); ++i) tell(fleet.differences[i]);
  return fleet;
}

/// Returns the parameters of the simulated network. NetworkProfile has defaults for missing values.
NetworkProfile network_of(const ModelledRank::Network& said, std::uint64_t seed) {
  NetworkProfile network{.seed = seed};
  const auto hop = [](const std::optional<ModelledRank::Way>& way, NetworkProfile::Hop& usual) {
    if (way) usual = {way->latency, way->bandwidth};
  };
  hop(said.within, network.within);
  hop(said.between, network.between);
  network.overhead = said.overhead.value_or(network.overhead);
  network.jitter = said.jitter.value_or(network.jitter);
  network.asymmetry = said.asymmetry.value_or(network.asymmetry);
  return network;
}

/// Adds a simulated network between simulated machines, and gives their clocks the offset and drift of the profile.
void model_network(RankSession& session, const cli::Measuring& measuring) {
  const cli::DeviceChoice& device = measuring.device;
  if (!device.simulate) return;
  const ModelledRank modelled = modelled_rank_of(*device.simulate);
  HostRuntime& host = session.machine->machine->host();
  if (modelled.clock != ModelledRank::Clock{}) {
    session.skewed = std::make_unique<SkewedHost>(host, modelled.clock.offset, modelled.clock.drift);
  }
  session.modelled = std::make_unique<ModelledNetwork>(*session.mpi, host, session.nodes,
                                                       network_of(modelled.network, measuring.seed));
}

}  // namespace

std::optional<Launch> launch_from_environment() {
  return launch_of([](const char* name) { return std::getenv(name); });
}

void refuse_several_ranks(std::string_view command) {
  const auto launch = launch_from_environment();
  if (!launch || launch->size == 1) return;
  throw UsageError(
      fmt::format("{} is for a single process, but mpirun or srun has started it as a rank: run it without a launcher, "
                  "on one of the hosts",
                  command));
}

std::optional<Launch> launch_for(const cli::RunCommand& command) {
  std::optional<Launch> launch = launch_from_environment();
  if (!launch && command.fleet.mpi) launch = Launch{};
  constexpr std::array kFlagsOfFleets{"concurrency", "threshold", "timeout", "share-gpus"};
  const auto flag = std::ranges::find_first_of(kFlagsOfFleets, command.flags);
  if (!launch && flag != kFlagsOfFleets.end()) {
    throw UsageError(
        fmt::format("--{} does nothing here: it is for several ranks, started by mpirun -n 2 xferbench ... or srun; "
                    "--mpi starts MPI under any other launcher",
                    *flag));
  }
  if (launch && launch->size.value_or(0) == 1 && !command.fleet.mpi && flag == kFlagsOfFleets.end())
    return std::nullopt;
  return launch;
}

std::string profile_of_single_rank(const std::string& profile) {
  return launch_from_environment() ? for_rank(profile, 0, 0, host_name()) : profile;
}

bool may_print(const Launch& launch) { return launch.rank.value_or(0) == 0; }

std::string rank_label(const Launch& launch) {
  const std::string rank = launch.rank ? fmt::format("rank {}", *launch.rank) : "a rank";
  return fmt::format("{} on host {}", rank, host_name());
}

Timeout timeout_of(const cli::RunCommand& command, std::function<void()> idle) {
  constexpr double kAfterInterrupt = 0.15;  // in seconds; it is short because mpirun gives ranks only one second to end
  return {.seconds = command.fleet.timeout, .after_interrupt = kAfterInterrupt, .idle = std::move(idle)};
}

int broadcast_exit_code(Communicator& mpi, const Problem& of_first, const Timeout& timeout) {
  if (of_first.code != 0) tell(of_first.text);
  return std::stoi(broadcast(mpi, std::to_string(of_first.code), 0, timeout, "the exit code from rank 0"));
}

RankSession join_fleet(cli::RunCommand& command, const Launch& launch) {
  refuse_flags_of_one_process(command);
  RankSession session;
  RankHandshake mine = begin(session, command, launch);
  if (session.refusal) return session;
  const Timeout timeout = timeout_of(command);
  RankHandshakes all = exchange_handshakes(*session.mpi, mine, timeout);
  session.place = std::move(mine.place);
  agree(session, all, command, timeout);
  if (session.refusal) return session;
  if (session.is_rank0()) session.fleet = fleet_of(session, std::move(all), command.measuring.show.quiet);
  session.neighbours = neighbours_of(*session.mpi, this_process(), timeout);
  model_network(session, command.measuring);
  return session;
}

}  // namespace xferbench::app
