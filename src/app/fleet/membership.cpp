#include "app/fleet/membership.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "app/run_parts.hpp"
#include "core/error.hpp"
#include "core/standard_error.hpp"
#include "device/modelled_rank.hpp"
#include "fleet/places.hpp"
#include "ranks/modelled_network.hpp"
#include "ranks/mpi_plugin.hpp"
#include "ranks/skewed_host.hpp"
#include "results/json.hpp"

namespace xferbench::app {

namespace {

std::string host_name() {
  char name[256]{};
  return gethostname(name, sizeof(name) - 1) == 0 ? name : "";
}

/// Flags that make no sense for many processes at once.
void refuse_flags_of_one_process(const cli::RunCommand& command) {
  constexpr std::array<std::array<const char*, 2>, 6> kFlagsOfOne{{
      {"gpu", "each rank takes the GPU of its number on its host; CUDA_VISIBLE_DEVICES chooses others"},
      {"gpus", "each rank takes the GPU of its number on its host; CUDA_VISIBLE_DEVICES chooses others"},
      {"repeat", "run mpirun or srun several times, with a file for each"},
      {"spread", "run mpirun or srun several times, with a file for each"},
      {"resume", "run the whole fleet again"},
      {"timeline", "watch one GPU without a launcher"},
  }};
  for (const auto& [flag, instead] : kFlagsOfOne) {
    if (std::ranges::find(command.flags, flag) == command.flags.end()) continue;
    throw UsageError(
        fmt::format("--{} is for a single process, and mpirun or srun has started several: {}", flag, instead));
  }
}

}  // namespace

std::optional<Launch> started_by_launcher() {
  return launch_of([](const char* name) { return std::getenv(name); });
}

std::optional<Launch> launch_for(const cli::RunCommand& command) {
  std::optional<Launch> launch = started_by_launcher();
  if (!launch && command.fleet.mpi) launch = Launch{};
  if (!launch && !command.fleet.flags.empty()) {
    throw UsageError(
        fmt::format("--{} does nothing here: it is for several ranks, as mpirun -n 2 xferbench ... or srun "
                    "starts them; --mpi starts MPI under any other launcher",
                    command.fleet.flags.front()));
  }
  if (launch && launch->size.value_or(0) == 1 && !command.fleet.mpi && command.fleet.flags.empty()) return std::nullopt;
  return launch;
}

bool speaks_for_all(const Launch& launch) { return launch.rank.value_or(0) == 0; }

Patience patience_of(const cli::RunCommand& command, std::function<void()> idle) {
  constexpr double kAfterInterrupt = 0.15;  // seconds: mpirun gives those that it ends one
  return {.seconds = command.fleet.timeout, .after_interrupt = kAfterInterrupt, .idle = std::move(idle)};
}

namespace {

// --- What each rank finds out by itself -----------------------------------------------------------------------------

/// Why this rank cannot measure, and the exit code that says so.
struct Problem {
  int code = 0;
  std::string text{};
};

Problem problem_of(const std::function<void()>& body) {
  try {
    body();
    return {};
  } catch (const std::exception& error) {
    return {static_cast<int>(exit_code_of(error)), error.what()};
  }
}

/// The command's device, as it is for this rank.
cli::DeviceChoice device_of(const cli::RunCommand& command, int rank, int local_rank) {
  cli::DeviceChoice device = command.measuring.device;
  device.gpus = GpuSelection{.of_process = GpuOfProcess{local_rank, command.fleet.share_gpus}};
  device.rank = rank;
  if (device.simulate) device.simulate = for_rank(*device.simulate, rank, local_rank, host_name());
  return device;
}

/// Opens the rank's GPU and makes the command's cases those of its machine.
Problem open_and_expand(cli::RunCommand& command, int rank, int local_rank, std::unique_ptr<WatchedMachine>& machine) {
  return problem_of([&] {
    command.measuring.device = device_of(command, rank, local_rank);
    machine = std::make_unique<WatchedMachine>(command.measuring.device, scenarios_of(command.cases));
    command.measuring.device.gpus.reset();  // it was not the user who asked for several
    expand(command, machine->environment());
    refuse_if_none_can_run(command, *machine->machine);
  });
}

/// The host's name; where it is modelled and has one, that.
std::string host_of(const cli::DeviceChoice& device) {
  const std::string modelled = device.simulate ? modelled_rank(*device.simulate).host : "";
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

/// All cases in one number, to see that they are the same everywhere.
std::string fingerprint(const std::vector<PlannedCase>& cases) {
  std::string keys;
  for (const PlannedCase& c : cases) keys += c.config.key() + "\n";
  return fmt::format("{:x}", std::hash<std::string>()(keys));
}

// --- What rank 0 makes of all of it ---------------------------------------------------------------------------------

/// What ranks have in common, the most frequent first.
using Alike = std::vector<std::pair<std::string, std::vector<int>>>;

template <class Fact>
Alike alike(const std::vector<RankPlace>& places, const Fact& fact) {
  std::map<std::string, std::vector<int>> by_text;
  for (const RankPlace& place : places) by_text[fact(place)].push_back(place.rank);
  Alike all(by_text.begin(), by_text.end());
  std::ranges::stable_sort(all, [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  return all;
}

/// "ranks differ in their driver: 580.1 on ranks 0 to 6, 570.2 on rank 7"; empty where they do not.
std::string difference(const char* what, const Alike& facts) {
  if (facts.size() < 2) return {};
  std::vector<std::string> parts;
  for (const auto& [text, ranks] : facts) {
    parts.push_back(fmt::format("{} on {}", text.empty() ? "unknown" : text, fleet::ranks_text(ranks)));
  }
  return fmt::format("ranks differ in their {}: {}", what, fmt::join(parts, ", "));
}

std::vector<std::string> differences_of(const std::vector<RankPlace>& places) {
  std::vector<std::string> notes;
  const auto note = [&](const char* what, const auto& fact) {
    if (std::string text = difference(what, alike(places, fact)); !text.empty()) notes.push_back(std::move(text));
  };
  note("build of xferbench", [](const RankPlace& p) { return p.tool; });
  note("driver", [](const RankPlace& p) { return p.environment.driver; });
  note("GPU", [](const RankPlace& p) { return p.environment.gpu.name; });
  return notes;
}

/// Two ranks on one GPU slow each other.
std::string shared_gpu(const std::vector<RankPlace>& places) {
  for (const auto& [uuid, ranks] : alike(places, [](const RankPlace& p) { return p.environment.gpu.uuid; })) {
    if (uuid.empty() || ranks.size() == 1) continue;
    return fmt::format(
        "{} are on one GPU ({}) and would slow each other: start as many ranks on each host as it has "
        "GPUs, let each rank see all of them, or allow it with --share-gpus",
        fleet::ranks_text(ranks), uuid);
  }
  return {};
}

std::string problem_text(const std::vector<RankPlace>& places, const std::vector<std::string>& problems) {
  std::map<std::string, std::vector<int>> by_text;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    if (!problems[i].empty()) by_text[problems[i]].push_back(static_cast<int>(i));
  }
  if (by_text.empty()) return {};
  const auto& [text, ranks] = *by_text.begin();
  const std::string where = ranks.size() == places.size()
                                ? "no rank can measure"
                                : fmt::format("{} on host {}", fleet::ranks_text(ranks),
                                              places.at(static_cast<std::size_t>(ranks.front())).host);
  return fmt::format("{}: {}", where, text);
}

/// The node of each rank, counted in the order of their lowest ranks. Modelled hosts are nodes wherever their ranks
/// are.
std::vector<int> nodes_of(const std::vector<RankPlace>& places, const std::vector<int>& roots) {
  std::map<std::pair<std::string, int>, int> numbers;
  std::vector<int> nodes;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const bool modelled = places[i].environment.simulated();
    const auto key = modelled ? std::pair(places[i].host, 0) : std::pair(std::string(), roots.at(i));
    nodes.push_back(numbers.try_emplace(key, static_cast<int>(numbers.size())).first->second);
  }
  return nodes;
}

std::vector<int> numbers_in(const std::string& text) {
  std::istringstream words(text);
  std::vector<int> numbers;
  for (int number = 0; words >> number;) numbers.push_back(number);
  return numbers;
}

/// What all ranks say of themselves, at rank 0.
struct Introductions {
  std::vector<RankPlace> places;
  std::vector<std::string> problems;
  std::vector<int> codes;
  std::vector<std::string> cases;  // fingerprints
  std::vector<int> node_roots;
};

Introductions introduce(Communicator& mpi, const RankPlace& mine, const Problem& problem, const std::string& cases,
                        const Patience& patience) {
  constexpr const char* kWhat = "the introduction of all ranks";
  Introductions all;
  all.problems = gather(mpi, problem.text, patience, kWhat);
  const std::string line = fmt::format("{} {} {} {}", problem.code, mpi.node_root(), cases, mine.host);
  for (const std::string& text : gather(mpi, line, patience, kWhat)) {
    std::istringstream words(text);
    words >> all.codes.emplace_back() >> all.node_roots.emplace_back() >> all.cases.emplace_back();
    words >> all.places.emplace_back().host;
    all.places.back().rank = static_cast<int>(all.places.size()) - 1;
  }
  // Of those that have a machine.
  const std::vector<std::string> texts = gather(mpi, problem.code == 0 ? to_json(mine) : "", patience, kWhat);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (!texts[i].empty()) all.places[i] = parse_rank(texts[i], fmt::format("rank {}", i));
  }
  return all;
}

/// What is in the way, for all; no code where nothing is.
Problem judged(const Introductions& all, const cli::RunCommand& command) {
  if (std::string text = problem_text(all.places, all.problems); !text.empty()) {
    const auto first = std::ranges::find_if(all.codes, [](int code) { return code != 0; });
    return {first == all.codes.end() ? static_cast<int>(ExitCode::failed) : *first, std::move(text)};
  }
  if (std::string text = shared_gpu(all.places); !text.empty() && !command.fleet.share_gpus) {
    return {static_cast<int>(ExitCode::no_device), std::move(text)};
  }
  for (std::size_t i = 1; i < all.cases.size(); ++i) {
    if (all.cases[i] == all.cases[0]) continue;
    return {static_cast<int>(ExitCode::usage),
            fmt::format("rank {} would run other cases than rank 0: start all ranks with the same command, of the same "
                        "build of xferbench",
                        i)};
  }
  return {};
}

/// Every host may lack the plug-in or MPI for a reason of its own, so one rank of each says it.
void start(Member& member, const Launch& launch) {
  try {
    member.mpi = start_mpi();
  } catch (const UsageError& error) {
    const bool speaks = launch.local_rank.value_or(launch.rank.value_or(0)) == 0;
    throw FleetError(static_cast<int>(ExitCode::usage), speaks ? fmt::format("{}: {}", host_name(), error.what()) : "");
  }
}

/// A launcher that says "several" while MPI knows of one has started so many separate programs.
void refuse_singletons(const Launch& launch, const Communicator& mpi) {
  if (launch.size.value_or(1) <= 1 || mpi.size() > 1) return;
  const std::string text = fmt::format(
      "{} has started {} ranks, and MPI ({}) knows of one only: each would measure by itself. Write srun --mpi=pmix "
      "(srun --mpi=list says what there is), or start the ranks with the mpirun of that MPI",
      launch.launcher, *launch.size, mpi.library());
  throw FleetError(static_cast<int>(ExitCode::usage), speaks_for_all(launch) ? text : "");
}

/// Everybody tells everybody its node and its process; those of this rank's node but itself.
std::vector<Farewell::Neighbour> neighbours_of(Communicator& mpi, const Patience& patience) {
  constexpr const char* kWhat = "the processes of all ranks";
  const std::vector<std::string> all = gather(mpi, fmt::format("{} {}", mpi.node_root(), getpid()), patience, kWhat);
  const std::vector<int> numbers =
      numbers_in(broadcast(mpi, fmt::format("{}", fmt::join(all, " ")), 0, patience, kWhat));
  std::vector<Farewell::Neighbour> neighbours;
  for (std::size_t i = 0; 2 * i + 1 < numbers.size(); ++i) {
    const auto rank = static_cast<int>(i);
    if (numbers[2 * i] == mpi.node_root() && rank != mpi.rank()) neighbours.push_back({rank, numbers[2 * i + 1]});
  }
  return neighbours;
}

/// Rank 0's verdict, to all: the code, and which node each rank is on.
void agree(Member& member, const Introductions& all, const cli::RunCommand& command, const Patience& patience) {
  Problem problem;
  std::string text;
  if (member.is_first()) {
    problem = judged(all, command);
    text = fmt::format("{} {}", problem.code, fmt::join(nodes_of(all.places, all.node_roots), " "));
  }
  std::vector<int> numbers = numbers_in(broadcast(*member.mpi, text, 0, patience, "what rank 0 makes of all ranks"));
  const int code = numbers.empty() ? static_cast<int>(ExitCode::failed) : numbers.front();
  if (code != 0) throw FleetError(code, problem.text);
  member.nodes.assign(numbers.begin() + 1, numbers.end());
  member.place.node = member.nodes.at(static_cast<std::size_t>(member.place.rank));
}

/// What profile files say of the network, and where they say nothing, what is usual.
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

/// Between modelled machines the network is modelled, too, and so are their clocks.
void model_network(Member& member, const cli::Measuring& measuring) {
  const cli::DeviceChoice& device = measuring.device;
  if (!device.simulate) return;
  const ModelledRank modelled = modelled_rank(*device.simulate);
  HostRuntime& host = member.machine->machine->host();
  if (modelled.clock != ModelledRank::Clock{}) {
    member.skewed = std::make_unique<SkewedHost>(host, modelled.clock.offset, modelled.clock.drift);
  }
  member.modelled =
      std::make_unique<ModelledNetwork>(*member.mpi, host, member.nodes, network_of(modelled.network, measuring.seed));
}

}  // namespace

Member join_fleet(cli::RunCommand& command, const Launch& launch) {
  refuse_flags_of_one_process(command);
  Member member;
  Problem problem;
  const bool knows_its_place = launch.local_rank.has_value();
  if (knows_its_place) {
    problem = open_and_expand(command, launch.rank.value_or(0), *launch.local_rank, member.machine);
  }
  start(member, launch);
  refuse_singletons(launch, *member.mpi);
  if (!knows_its_place) {
    problem = open_and_expand(command, member.mpi->rank(), member.mpi->local_rank(), member.machine);
  }
  if (member.machine) expand(command, member.machine->environment(), member.mpi->size());
  const Patience patience = patience_of(command);
  member.place = place_of(*member.mpi, command.measuring.device, member.machine.get());
  Introductions all = introduce(*member.mpi, member.place, problem, fingerprint(command.cases), patience);
  agree(member, all, command, patience);
  if (member.is_first()) {
    for (std::size_t i = 0; i < all.places.size(); ++i) all.places[i].node = member.nodes.at(i);
    member.fleet = Fleet{.mpi = member.mpi->library()};
    member.fleet->differences = differences_of(all.places);
    if (!command.measuring.show.quiet) {
      for (const std::string& text : member.fleet->differences) tell(text);
    }
    member.fleet->ranks = std::move(all.places);
  }
  member.neighbours = neighbours_of(*member.mpi, patience);
  model_network(member, command.measuring);
  return member;
}

}  // namespace xferbench::app
