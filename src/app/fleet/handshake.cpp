#include "app/fleet/handshake.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <map>
#include <sstream>

#include "core/enum_text.hpp"
#include "core/error.hpp"
#include "core/lists.hpp"
#include "fleet/rank_places.hpp"
#include "results/json.hpp"
#include "results/json_codec.hpp"

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

// --- What each rank reports ------------------------------------------------------------------------------------------

std::string policy_text(const SamplingPolicy& policy) {
  return fmt::format("{} {} {} {}", policy.ci, policy.budget, policy.min_samples, policy.max_samples);
}

/// Returns the number and a hash of all cases, by which ranks check that they have the same cases.
std::string fingerprint(const std::vector<PlannedCase>& cases) {
  std::string all;
  for (const PlannedCase& c : cases) {
    all += fmt::format("{} {}\n", c.config.key(), c.policy ? policy_text(*c.policy) : "");
  }
  return fmt::format("{} with the fingerprint {:x}", cases.size(), std::hash<std::string>()(all));
}

constexpr std::array kProblemFields{
    json::field<&Problem::code>("code"),
    json::field<&Problem::text, json::kRawText>("text"),
};
constexpr json::Codec kProblem = json::record(kProblemFields);
// `host` is stored outside of `place`, because a rank with another build may write `place` in another format.
constexpr std::array kRankHandshakeFields{
    json::Field{.name = "host",
                .shape = &json::kText,
                .into = [](void* one) -> void* { return &json::as<RankHandshake>(one).place.host; },
                .from = [](const void* one, bool) -> const void* { return &json::as<RankHandshake>(one).place.host; }},
    json::field<&RankHandshake::problem, kProblem>("problem"),
    json::field<&RankHandshake::settings, json::kSentTexts>("terms"),
    json::field<&RankHandshake::launched_as>("launched_as", json::Rule::omit_empty),
    json::field<&RankHandshake::node_root>("node_root"),
    json::Field{.name = "place",  // written only if the rank has opened its machine
                .rule = json::Rule::omit_empty,
                .shape = &json::kSentRank,
                .into = [](void* one) -> void* { return &json::as<RankHandshake>(one).place; },
                .from = [](const void* one, bool) -> const void* {
                  const auto& said = json::as<RankHandshake>(one);
                  return said.problem.code == 0 ? &said.place : nullptr;
                }},
};
constexpr json::Codec kRankHandshake = json::record(kRankHandshakeFields);

// --- What rank 0 checks ----------------------------------------------------------------------------------------------

/// The different values of one property of the ranks, such as the driver, with the ranks that have each value; the most
/// frequent first.
using Alike = std::vector<std::pair<std::string, std::vector<int>>>;

template <class Fact>
Alike alike(const RankHandshakes& ranks, const Fact& fact) {
  std::map<std::string, std::vector<int>> by_text;
  for (const RankHandshake& one : ranks) by_text[fact(one.place)].push_back(one.place.rank);
  Alike all(by_text.begin(), by_text.end());
  std::ranges::stable_sort(all, [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  return all;
}

/// Returns for example "ranks differ in their driver: 580.1 on ranks 0 to 6, 570.2 on rank 7"; empty if all agree.
std::string difference(const char* what, const Alike& facts) {
  if (facts.size() < 2) return {};
  const auto parts = list_of(facts, [](const auto& fact) {
    return fmt::format("{} on {}", fact.first.empty() ? "unknown" : fact.first, fleet::ranks_text(fact.second));
  });
  return fmt::format("ranks differ in their {}: {}", what, fmt::join(parts, ", "));
}

/// Returns whether the launcher has numbered the n ranks of a node from 0 to n - 1, in any order, so that each rank
/// chooses a different GPU. Also true if some rank has no number from the launcher.
bool counts_a_node(std::vector<std::optional<int>> numbers) {
  std::ranges::sort(numbers);
  if (numbers.empty() || !numbers.front()) return true;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (*numbers[i] != static_cast<int>(i)) return false;
  }
  return true;
}

/// Compares the launcher's local rank numbers, by which ranks choose their GPUs, with MPI's nodes (ranks that share
/// memory). If they disagree, GPUs are shared or unused, or one host counts as several nodes. Returns the message;
/// empty if they agree.
std::string miscounted(const RankHandshakes& all) {
  std::map<int, std::vector<int>> nodes;
  for (const RankHandshake& one : all) nodes[one.node_root].push_back(one.place.rank);
  std::vector<int> odd;
  for (const auto& [root, ranks] : nodes) {
    const auto number = [&](int rank) { return all.at(static_cast<std::size_t>(rank)).launched_as; };
    if (!counts_a_node(list_of(ranks, number))) odd.insert(odd.end(), ranks.begin(), ranks.end());
  }
  if (odd.empty()) return {};
  std::ranges::sort(odd);
  return fmt::format(
      "{} {} numbered differently on their hosts by the launcher, which assigns GPUs, and by MPI, which takes "
      "processes with shared memory as one host: let containers of one host share /dev/shm and /tmp (Docker: "
      "--ipc=host)",
      fleet::ranks_text(odd), odd.size() == 1 ? "is" : "are");
}

/// Returns a message that names the ranks that use the same GPU and slow each other down; empty if there are none.
std::string shared_gpu(const RankHandshakes& all) {
  for (const auto& [uuid, ranks] : alike(all, [](const RankPlace& p) { return p.environment.gpu.uuid; })) {
    if (uuid.empty() || ranks.size() == 1) continue;
    return fmt::format(
        "{} use the same GPU ({}) and would slow each other down: start as many ranks on each host as it has GPUs, let "
        "each rank see all of these, or allow sharing with --share-gpus",
        fleet::ranks_text(ranks), uuid);
  }
  return {};
}

/// Returns for example "rank 3 on host a" or "ranks 0 to 7 on 2 hosts".
std::string location_text(const RankHandshakes& all, const std::vector<int>& ranks) {
  const auto hosts = set_of(ranks, [&](int rank) { return all.at(static_cast<std::size_t>(rank)).place.host; });
  return hosts.size() == 1 ? fmt::format("{} on host {}", fleet::ranks_text(ranks), *hosts.begin())
                           : fmt::format("{} on {} hosts", fleet::ranks_text(ranks), hosts.size());
}

/// Returns the problem of the lowest rank that has one. Its text names all ranks with the same problem.
Problem first_problem(const RankHandshakes& all) {
  const auto has_one = [](const RankHandshake& one) { return one.problem.code != 0; };
  const auto first = std::ranges::find_if(all, has_one);
  if (first == all.end()) return {};
  std::vector<int> same;
  for (const RankHandshake& one : all) {
    if (one.problem == first->problem) same.push_back(one.place.rank);
  }
  const std::string where = same.size() == all.size() ? "no rank can measure" : location_text(all, same);
  std::string text = fmt::format("{}: {}", where, first->problem.text);
  const std::size_t others = static_cast<std::size_t>(std::ranges::count_if(all, has_one)) - same.size();
  if (others > 0) text += fmt::format(" ({} other rank{} other problems)", others, others == 1 ? " has" : "s have");
  return {first->problem.code, std::move(text)};
}

/// Returns how rank 0's settings differ from those of the first rank with other settings; empty if all are the same.
std::string different_settings(const RankHandshakes& all) {
  const SharedSettings& first = all.front().settings;
  const auto other = std::ranges::find_if(all, [&](const RankHandshake& one) { return one.settings != first; });
  if (other == all.end()) return {};
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < std::min(first.size(), other->settings.size()); ++i) {
    const auto& [what, here] = first[i];
    const std::string& there = other->settings[i].second;
    if (here != there) parts.push_back(fmt::format("{} ({}, and {} at rank 0)", what, there, here));
  }
  // All values are equal, so the names or the number of settings differ: a rank runs another build.
  if (parts.empty()) parts.emplace_back("the description of its command");
  return fmt::format(
      "rank {} differs from rank 0 in {}: start all ranks with the same command and the same build of xferbench",
      other - all.begin(), fmt::join(parts, "; "));
}

}  // namespace

SharedSettings shared_settings_of(const cli::RunCommand& command) {
  const cli::Measuring& measuring = command.measuring;
  const auto paces = list_of(command.fleet.pace, [](RankConcurrency pace) { return to_text(pace); });
  return {{"the machines", measuring.device.simulate ? "simulated" : "real"},
          {"--concurrency", fmt::format("{}", fmt::join(paces, ","))},
          {"--passes", fmt::format("{}", command.turns.value_or(1))},
          {"--seed", fmt::format("{}", measuring.seed)},
          {"--ci, --budget, --min-samples, --max-samples", policy_text(measuring.policy)},
          {"verifying", measuring.verify ? "on" : "off"},
          {"--timeout", fmt::format("{}", command.fleet.timeout)},
          {"the cases", fingerprint(command.cases)}};
}

RankHandshakes exchange_handshakes(Communicator& mpi, RankHandshake mine, const Timeout& timeout) {
  mine.node_root = mpi.node_root();
  const std::vector<std::string> texts =
      gather(mpi, json::text_of(kRankHandshake, &mine), timeout, "the handshake of all ranks");
  RankHandshakes all(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    all[i].place.rank = static_cast<int>(i);
    const Problem unread = problem_of([&] {
      json::read_text(texts[i], fmt::format("rank {}", i), {&kRankHandshake, &all[i]});
    });
    if (unread.code != 0) all[i].problem = unread;
  }
  return all;
}

std::vector<std::string> differences_of(const RankHandshakes& all) {
  std::vector<std::string> notes;
  const auto note = [&](const char* what, const auto& fact) {
    if (std::string text = difference(what, alike(all, fact)); !text.empty()) notes.push_back(std::move(text));
  };
  note("build of xferbench", [](const RankPlace& p) { return p.tool; });
  note("driver", [](const RankPlace& p) { return p.environment.driver; });
  note("GPU", [](const RankPlace& p) { return p.environment.gpu.name; });
  if (std::string text = miscounted(all); !text.empty()) notes.push_back(std::move(text));
  return notes;
}

Problem handshake_problem(const RankHandshakes& all, bool share_gpus) {
  if (Problem problem = first_problem(all); problem.code != 0) return problem;
  if (std::string text = shared_gpu(all); !text.empty() && !share_gpus) {
    return {static_cast<int>(ExitCode::no_device), std::move(text)};
  }
  if (std::string text = different_settings(all); !text.empty()) {
    return {static_cast<int>(ExitCode::usage), std::move(text)};
  }
  return {};
}

std::vector<int> nodes_of(const RankHandshakes& all) {
  std::map<std::pair<std::string, int>, int> numbers;
  std::vector<int> nodes;
  for (const RankHandshake& one : all) {
    const bool modelled = one.place.environment.simulated();
    const auto key = modelled ? std::pair(one.place.host, 0) : std::pair(std::string(), one.node_root);
    nodes.push_back(numbers.try_emplace(key, static_cast<int>(numbers.size())).first->second);
  }
  return nodes;
}

// --- Processes that ranks watch --------------------------------------------------------------------------------------

ProcessIdentity this_process() {
  struct stat status {};
  const bool known = stat("/proc/self/ns/pid", &status) == 0;
  return {getpid(), known ? static_cast<std::uint64_t>(status.st_ino) : 0};
}

std::vector<ShutdownHandshake::Neighbour> neighbours_of(Communicator& mpi, const ProcessIdentity& mine,
                                                        const Timeout& timeout) {
  constexpr const char* kWhat = "the process numbers of all ranks";
  const std::string text = fmt::format("{} {} {}", mpi.node_root(), mine.number, mine.name_space);
  const std::vector<std::string> all = gather(mpi, text, timeout, kWhat);
  std::istringstream words(broadcast(mpi, fmt::format("{}", fmt::join(all, " ")), 0, timeout, kWhat));
  std::vector<ShutdownHandshake::Neighbour> neighbours;
  int node_root = 0;
  ProcessIdentity process;
  for (int rank = 0; words >> node_root >> process.number >> process.name_space; ++rank) {
    const bool is_seen = mine.name_space != 0 && process.name_space == mine.name_space;
    if (node_root == mpi.node_root() && is_seen && rank != mpi.rank()) neighbours.push_back({rank, process.number});
  }
  return neighbours;
}

}  // namespace xferbench::app
