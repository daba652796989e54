#include "app/fleet/introductions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>

#include "core/enum_text.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"
#include "fleet/places.hpp"
#include "results/json.hpp"

namespace xferbench::app {

Problem problem_of(const std::function<void()>& body) {
  try {
    body();
    return {};
  } catch (const std::exception& error) {
    return {static_cast<int>(exit_code_of(error)), message_of(error)};
  }
}

namespace {

// --- What each rank says --------------------------------------------------------------------------------------------

std::string policy_text(const SamplingPolicy& policy) {
  return fmt::format("{} {} {} {}", policy.ci, policy.budget, policy.min_samples, policy.max_samples);
}

/// All cases in one number, to see that they are the same everywhere.
std::string fingerprint(const std::vector<PlannedCase>& cases) {
  std::string all;
  for (const PlannedCase& c : cases) {
    all += fmt::format("{} {}\n", c.config.key(), c.policy ? policy_text(*c.policy) : "");
  }
  return fmt::format("{} with the fingerprint {:x}", cases.size(), std::hash<std::string>()(all));
}

}  // namespace

Terms terms_of(const cli::RunCommand& command) {
  const cli::Measuring& measuring = command.measuring;
  std::vector<std::string_view> paces;
  for (const Pacing pace : command.fleet.pace) paces.push_back(to_text(pace));
  return {{"the machines", measuring.device.simulate ? "simulated" : "real"},
          {"--pace", fmt::format("{}", fmt::join(paces, ","))},
          {"--turns", fmt::format("{}", command.turns.value_or(1))},
          {"--seed", fmt::format("{}", measuring.seed)},
          {"--ci, --budget, --min-samples, --max-samples", policy_text(measuring.policy)},
          {"verifying", measuring.verify ? "on" : "off"},
          {"--timeout", fmt::format("{}", command.fleet.timeout)},
          {"the cases", fingerprint(command.cases)}};
}

namespace {

constexpr int kNotCounted = -1;  // by the launcher

/// In lines, as names of hosts may have blanks: code, node and the launcher's number, the host, then a line for each of
/// the terms.
std::string in_lines(const Introduction& mine, int node_root) {
  std::string text = fmt::format("{} {} {}\n{}\n", mine.problem.code, node_root, mine.launched_as.value_or(kNotCounted),
                                 printable(mine.place.host));
  for (const auto& [what, value] : mine.terms) text += fmt::format("{}\t{}\n", what, value);
  return text;
}

void add(Introductions& all, const std::string& text, std::string problem) {
  RankPlace place;
  place.rank = static_cast<int>(all.places.size());
  Problem its{.text = std::move(problem)};
  Terms terms;
  std::istringstream lines(text);
  int launched_as = kNotCounted;
  lines >> its.code >> all.node_roots.emplace_back() >> launched_as;
  lines.get();
  std::getline(lines, place.host);
  for (std::string what, value; std::getline(lines, what, '\t') && std::getline(lines, value);) {
    terms.emplace_back(what, value);
  }
  all.places.push_back(std::move(place));
  all.problems.push_back(std::move(its));
  all.terms.push_back(std::move(terms));
  all.launched_as.push_back(launched_as == kNotCounted ? std::nullopt : std::optional(launched_as));
}

}  // namespace

Introductions introduce(Communicator& mpi, const Introduction& mine, const Patience& patience) {
  constexpr const char* kWhat = "the introduction of all ranks";
  std::vector<std::string> problems = gather(mpi, mine.problem.text, patience, kWhat);
  const std::vector<std::string> texts = gather(mpi, in_lines(mine, mpi.node_root()), patience, kWhat);
  Introductions all;
  for (std::size_t i = 0; i < texts.size(); ++i) add(all, texts[i], std::move(problems[i]));
  // Of those that have a machine.
  const std::vector<std::string> places =
      gather(mpi, mine.problem.code == 0 ? to_json(mine.place) : "", patience, kWhat);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i].empty()) continue;
    // Another build may write what this one does not read.
    all.problems[i] = problem_of([&] { all.places[i] = parse_rank(places[i], fmt::format("rank {}", i)); });
  }
  return all;
}

namespace {

// --- What rank 0 makes of it ----------------------------------------------------------------------------------------

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

/// Whether a launcher's numbers are those of so many ranks of a node, in any order: then every GPU has its rank. Also
/// where it has not numbered all of them.
bool counts_a_node(std::vector<std::optional<int>> numbers) {
  std::ranges::sort(numbers);
  if (numbers.empty() || !numbers.front()) return true;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (*numbers[i] != static_cast<int>(i)) return false;
  }
  return true;
}

/// Ranks have chosen their GPUs by the launcher's numbers, and nodes are those that share memory by MPI: where the two
/// see other hosts, GPUs are shared or left out, or ranks of one host pass for several. Empty where they do not.
std::string miscounted(const Introductions& all) {
  std::map<int, std::vector<int>> nodes;
  for (std::size_t i = 0; i < all.node_roots.size(); ++i) nodes[all.node_roots[i]].push_back(static_cast<int>(i));
  std::vector<int> odd;
  for (const auto& [root, ranks] : nodes) {
    std::vector<std::optional<int>> numbers;
    for (const int rank : ranks) numbers.push_back(all.launched_as.at(static_cast<std::size_t>(rank)));
    if (!counts_a_node(std::move(numbers))) odd.insert(odd.end(), ranks.begin(), ranks.end());
  }
  if (odd.empty()) return {};
  std::ranges::sort(odd);
  return fmt::format(
      "{} {} counted otherwise on their hosts by the launcher, which says who takes which GPU, than by MPI, for which "
      "a host is what shares memory: give containers of one host a common /dev/shm and /tmp (Docker: --ipc=host)",
      fleet::ranks_text(odd), odd.size() == 1 ? "is" : "are");
}

}  // namespace

std::vector<std::string> differences_of(const Introductions& all) {
  std::vector<std::string> notes;
  const auto note = [&](const char* what, const auto& fact) {
    if (std::string text = difference(what, alike(all.places, fact)); !text.empty()) notes.push_back(std::move(text));
  };
  note("build of xferbench", [](const RankPlace& p) { return p.tool; });
  note("driver", [](const RankPlace& p) { return p.environment.driver; });
  note("GPU", [](const RankPlace& p) { return p.environment.gpu.name; });
  if (std::string text = miscounted(all); !text.empty()) notes.push_back(std::move(text));
  return notes;
}

namespace {

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

/// "rank 3 on host a", "ranks 0 to 7 on 2 hosts".
std::string whereabouts(const std::vector<RankPlace>& places, const std::vector<int>& ranks) {
  std::set<std::string> hosts;
  for (const int rank : ranks) hosts.insert(places.at(static_cast<std::size_t>(rank)).host);
  return hosts.size() == 1 ? fmt::format("{} on host {}", fleet::ranks_text(ranks), *hosts.begin())
                           : fmt::format("{} on {} hosts", fleet::ranks_text(ranks), hosts.size());
}

/// That of the lowest rank that has one, and who else has the same.
Problem first_problem(const Introductions& all) {
  const auto has_one = [](const Problem& p) { return p.code != 0; };
  const auto first = std::ranges::find_if(all.problems, has_one);
  if (first == all.problems.end()) return {};
  std::vector<int> same;
  for (std::size_t i = 0; i < all.problems.size(); ++i) {
    if (all.problems[i] == *first) same.push_back(static_cast<int>(i));
  }
  const std::string where = same.size() == all.places.size() ? "no rank can measure" : whereabouts(all.places, same);
  std::string text = fmt::format("{}: {}", where, first->text);
  const std::size_t others = static_cast<std::size_t>(std::ranges::count_if(all.problems, has_one)) - same.size();
  if (others > 0) text += fmt::format(" ({} other rank{} other problems)", others, others == 1 ? " has" : "s have");
  return {first->code, std::move(text)};
}

/// In what the commands of the first two ranks differ that do; empty where all are the same.
std::string different_terms(const std::vector<Terms>& all) {
  const auto other = std::ranges::find_if(all, [&](const Terms& terms) { return terms != all.front(); });
  if (other == all.end()) return {};
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < std::min(all.front().size(), other->size()); ++i) {
    const auto& [what, here] = all.front()[i];
    const std::string& there = (*other)[i].second;
    if (here != there) parts.push_back(fmt::format("{} ({}, and {} at rank 0)", what, there, here));
  }
  if (parts.empty()) parts.emplace_back("what it says of its command");  // of another build
  return fmt::format(
      "rank {} differs from rank 0 in {}: start all ranks with the same command, of the same build of "
      "xferbench",
      other - all.begin(), fmt::join(parts, "; "));
}

}  // namespace

Problem judged(const Introductions& all, bool share_gpus) {
  if (Problem problem = first_problem(all); problem.code != 0) return problem;
  if (std::string text = shared_gpu(all.places); !text.empty() && !share_gpus) {
    return {static_cast<int>(ExitCode::no_device), std::move(text)};
  }
  if (std::string text = different_terms(all.terms); !text.empty()) {
    return {static_cast<int>(ExitCode::usage), std::move(text)};
  }
  return {};
}

std::vector<int> nodes_of(const Introductions& all) {
  std::map<std::pair<std::string, int>, int> numbers;
  std::vector<int> nodes;
  for (std::size_t i = 0; i < all.places.size(); ++i) {
    const bool modelled = all.places[i].environment.simulated();
    const auto key = modelled ? std::pair(all.places[i].host, 0) : std::pair(std::string(), all.node_roots.at(i));
    nodes.push_back(numbers.try_emplace(key, static_cast<int>(numbers.size())).first->second);
  }
  return nodes;
}

// --- Who watches whom -----------------------------------------------------------------------------------------------

OwnProcess this_process() {
  struct stat status {};
  const bool known = stat("/proc/self/ns/pid", &status) == 0;
  return {getpid(), known ? static_cast<std::uint64_t>(status.st_ino) : 0};
}

std::vector<Farewell::Neighbour> neighbours_of(Communicator& mpi, const OwnProcess& mine, const Patience& patience) {
  constexpr const char* kWhat = "the processes of all ranks";
  const std::string text = fmt::format("{} {} {}", mpi.node_root(), mine.number, mine.name_space);
  const std::vector<std::string> all = gather(mpi, text, patience, kWhat);
  std::istringstream words(broadcast(mpi, fmt::format("{}", fmt::join(all, " ")), 0, patience, kWhat));
  std::vector<Farewell::Neighbour> neighbours;
  int node_root = 0;
  OwnProcess process;
  for (int rank = 0; words >> node_root >> process.number >> process.name_space; ++rank) {
    const bool is_seen = mine.name_space != 0 && process.name_space == mine.name_space;
    if (node_root == mpi.node_root() && is_seen && rank != mpi.rank()) neighbours.push_back({rank, process.number});
  }
  return neighbours;
}

}  // namespace xferbench::app
