#include "app/fleet/membership.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "app/calibrated.hpp"
#include "app/fleet/deadline.hpp"
#include "app/run_parts.hpp"
#include "core/error.hpp"
#include "core/own_process.hpp"
#include "core/standard_error.hpp"
#include "ranks/modelled_network.hpp"
#include "ranks/mpi_plugin.hpp"
#include "ranks/skewed_host.hpp"
#include "results/json.hpp"
#include "results/json_shape.hpp"

namespace xferbench::app {

namespace {

/// Refuses flags that make no sense for many processes at once.
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

}  // namespace

std::optional<Launch> started_by_launcher() {
  return launch_of([](const char* name) { return std::getenv(name); });
}

void refuse_several_ranks(std::string_view command) {
  const auto launch = started_by_launcher();
  if (!launch || launch->size == 1) return;
  throw UsageError(
      fmt::format("{} is for a single process, but mpirun or srun has started it as a rank: run it without a launcher, "
                  "on one of the hosts",
                  command));
}

std::optional<Launch> launch_for(const cli::RunCommand& command) {
  std::optional<Launch> launch = started_by_launcher();
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

std::string profile_of_only_rank(const std::string& profile) {
  return started_by_launcher() ? for_rank(profile, 0, 0, host_name()) : profile;
}

bool speaks_for_all(const Launch& launch) { return launch.rank.value_or(0) == 0; }

std::string speaker(const Launch& launch) {
  const std::string rank = launch.rank ? fmt::format("rank {}", *launch.rank) : "a rank";
  return fmt::format("{} on host {}", rank, host_name());
}

Patience patience_of(const cli::RunCommand& command, std::function<void()> idle) {
  constexpr double kAfterInterrupt = 0.15;  // seconds: mpirun leaves ranks one second to end
  return {.seconds = command.fleet.timeout, .after_interrupt = kAfterInterrupt, .idle = std::move(idle)};
}

namespace {

// --- What each rank finds out by itself -----------------------------------------------------------------------------

/// The command's device, as this rank uses it.
cli::DeviceChoice device_of(const cli::RunCommand& command, int rank, int local_rank) {
  cli::DeviceChoice device = command.measuring.device;
  device.gpus = GpuSelection{.of_process = GpuOfProcess{local_rank, command.fleet.share_gpus}};
  device.rank = rank;
  if (device.simulate) device.simulate = for_rank(*device.simulate, rank, local_rank, host_name());
  return device;
}

/// Opens the rank's GPU and expands the command's cases for its machine.
Problem open_and_expand(cli::RunCommand& command, int rank, int local_rank, std::unique_ptr<WatchedMachine>& machine) {
  return problem_of([&] {
    command.measuring.device = device_of(command, rank, local_rank);
    machine = std::make_unique<WatchedMachine>(command.measuring.device, scenarios_of(command.cases));
    command.measuring.device.gpus.reset();  // set by device_of() and not by the user
    expand(command, machine->environment());
    refuse_if_none_can_run(command, *machine->machine);
  });
}

/// The name of the simulated host if it has one, else that of the real host.
std::string host_of(const cli::DeviceChoice& device) {
  const std::string modelled = device.simulate ? rank_modelled_by(*device.simulate).host : "";
  return modelled.empty() ? host_name() : modelled;
}

RankPlace place_of(const Communicator& ranks, const cli::DeviceChoice& device, const WatchedMachine* machine) {
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

/// Starts MPI. Returns the exit code if that fails. One rank of each host prints why, because every host may lack the
/// plug-in or MPI for a reason of its own.
std::optional<int> start(Member& member, const Launch& launch) {
  try {
    member.mpi = start_mpi();
    return {};
  } catch (const UsageError& error) {
    const bool speaks = launch.local_rank.value_or(launch.rank.value_or(0)) == 0;
    if (speaks) tell(fmt::format("{}: {}", host_name(), error.what()));
    return static_cast<int>(ExitCode::usage);
  }
}

/// Refuses several ranks of which MPI knows only one: the launcher has started separate programs.
std::optional<int> refuse_singletons(const Launch& launch, const Communicator& mpi) {
  if (launch.size.value_or(1) <= 1 || mpi.size() > 1) return {};
  if (speaks_for_all(launch)) {
    tell(fmt::format(
        "{} has started {} ranks, but MPI ({}) sees only one, so each would measure alone. Use srun --mpi=pmix (srun "
        "--mpi=list shows what is available), or start the ranks with the mpirun of that MPI",
        launch.launcher, *launch.size, mpi.library()));
  }
  return static_cast<int>(ExitCode::usage);
}

/// Opens the GPU and starts MPI, in the order that is possible, and returns this rank's introduction. Sets the refusal
/// if MPI cannot be started.
Introduction begin(Member& member, cli::RunCommand& command, const Launch& launch) {
  // If a GPU hangs, its own rank must report that before the ranks that wait for it in MPI do.
  constexpr double kForOthers = 5;  // seconds
  const double timeout = command.fleet.timeout;
  Deadline deadline(speaker(launch));
  Introduction mine;
  const auto open = [&](int rank, int local_rank) {
    deadline.begin("opening the GPU", timeout);
    mine.problem = open_and_expand(command, rank, local_rank, member.machine);
  };
  const bool knows_its_place = launch.local_rank.has_value();
  if (knows_its_place) open(launch.rank.value_or(0), *launch.local_rank);
  deadline.begin("starting MPI (are all ranks started?)", timeout + kForOthers);
  member.refusal = start(member, launch);
  if (!member.refusal) member.refusal = refuse_singletons(launch, *member.mpi);
  if (member.refusal) return mine;
  if (!knows_its_place) open(member.mpi->rank(), member.mpi->local_rank());
  if (mine.problem.code == 0) {
    mine.problem = problem_of([&] { expand(command, member.machine->environment(), member.mpi->size()); });
  }
  mine.place = place_of(*member.mpi, command.measuring.device, member.machine.get());
  mine.terms = terms_of(command);
  mine.launched_as = launch.local_rank;
  return mine;
}

/// Sends rank 0's verdict to all: whether they can measure, and the node of each rank.
void agree(Member& member, const Introductions& all, const cli::RunCommand& command, const Patience& patience) {
  const Problem problem = member.is_first() ? judged(all, command.fleet.share_gpus) : Problem{};
  if (const int code = code_for_all(*member.mpi, problem, patience); code != 0) {
    member.refusal = code;
    return;
  }
  constexpr const char* kWhat = "the nodes of all ranks";
  const std::vector<int> nodes = nodes_of(all);
  const std::string text = broadcast(*member.mpi, json::text_of(json::kSentNumbers, &nodes), 0, patience, kWhat);
  member.nodes = json::record_from_text<std::vector<int>>(text, kWhat, json::kSentNumbers);
  member.place.node = member.nodes.at(static_cast<std::size_t>(member.place.rank));
}

/// At rank 0: the fleet. Prints the differences between ranks.
Fleet fleet_of(const Member& member, Introductions all, bool quiet) {
  Fleet fleet{.mpi = member.mpi->library(), .differences = differences_of(all)};
  for (Introduction& one : all) {
    one.place.node = member.nodes.at(fleet.ranks.size());
    fleet.ranks.push_back(std::move(one.place));
  }
  for (std::size_t i = 0; !quiet && i < fleet.differences.size(); ++i) tell(fleet.differences[i]);
  return fleet;
}

/// The network as profile files describe it, with usual values for what they do not say.
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

/// Simulates the network between simulated machines, and the skew of their clocks.
void model_network(Member& member, const cli::Measuring& measuring) {
  const cli::DeviceChoice& device = measuring.device;
  if (!device.simulate) return;
  const ModelledRank modelled = rank_modelled_by(*device.simulate);
  HostRuntime& host = member.machine->machine->host();
  if (modelled.clock != ModelledRank::Clock{}) {
    member.skewed = std::make_unique<SkewedHost>(host, modelled.clock.offset, modelled.clock.drift);
  }
  member.modelled =
      std::make_unique<ModelledNetwork>(*member.mpi, host, member.nodes, network_of(modelled.network, measuring.seed));
}

}  // namespace

int code_for_all(Communicator& mpi, const Problem& of_first, const Patience& patience) {
  if (of_first.code != 0) tell(of_first.text);
  return std::stoi(broadcast(mpi, std::to_string(of_first.code), 0, patience, "the exit code from rank 0"));
}

Member join_fleet(cli::RunCommand& command, const Launch& launch) {
  refuse_flags_of_one_process(command);
  Member member;
  Introduction mine = begin(member, command, launch);
  if (member.refusal) return member;
  const Patience patience = patience_of(command);
  Introductions all = introduce(*member.mpi, mine, patience);
  member.place = std::move(mine.place);
  agree(member, all, command, patience);
  if (member.refusal) return member;
  if (member.is_first()) member.fleet = fleet_of(member, std::move(all), command.measuring.show.quiet);
  member.neighbours = neighbours_of(*member.mpi, this_process(), patience);
  model_network(member, command.measuring);
  return member;
}

}  // namespace xferbench::app
