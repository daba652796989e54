#include "fleet/verdicts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/lists.hpp"
#include "core/units.hpp"
#include "measure/statistics.hpp"

namespace xferbench::fleet {

namespace {

std::string number_text(const Test& test, double speed) {
  return format_with_unit(test.better == Better::lower ? 1 / speed : speed, test.unit);
}

std::string less_text(const Test& test, double shortfall) {
  return fmt::format("{} {}", format_percent(shortfall), test.better == Better::lower ? "slower" : "less");
}

/// Names the reference speed of a suspicion, for example "the median of its peers".
std::string against_text(const Suspicion& s) {
  const char* which = s.best ? "the best" : "the median";
  switch (s.subject.of) {
    case Subject::Of::host: return s.best ? "the best host's median" : "the median of the other hosts";
    case Subject::Of::rank: return fmt::format("{} of its {}", which, s.on_host ? "host" : "peers");
    case Subject::Of::network: return s.best ? "the best rank's median" : "the other ranks' median";
    default: return fmt::format("{} of similar transfers", which);
  }
}

std::string subject_text(const Subject& subject, const std::vector<int>& ranks, const Places& places) {
  switch (subject.of) {
    case Subject::Of::host: return places.host_text(subject.first, ranks);
    case Subject::Of::rank: return places.rank_text(subject.first);
    case Subject::Of::network: return "each transfer of " + places.rank_text(subject.first);
    default: return fmt::format("the transfer from rank {} to rank {}", subject.first, subject.second);
  }
}

/// Returns a clause that says why a suspicion was not confirmed.
const char* outcome_label(RetestOutcome::Reproduced seen) {
  switch (seen) {
    case RetestOutcome::Reproduced::never: return "was not measured again";
    case RetestOutcome::Reproduced::nobody: return "could not be measured again together with a good peer";
    case RetestOutcome::Reproduced::clocks:
      return "could not be confirmed: the common clock was too inaccurate in the second measurement";
    default: return "was not slow in the second measurement";
  }
}

template <class Shown>
const Shown& worst_of(const std::vector<Shown>& all) {
  return *std::ranges::max_element(all, {}, [](const Shown& one) { return one.suspicion->shortfall(); });
}

template <class All>
bool any_on(const All& shown, DataPath path) {
  return std::ranges::any_of(shown, [path](const auto& one) { return one.test->path == path; });
}

bool holds(const std::vector<int>& ranks, int rank) { return has_item(ranks, rank); }

/// Returns the slowest part (GPU, link or host) that other tests have flagged and that also slows these transfers; null
/// if there is none. For a pair of ranks, a part of either rank counts; otherwise only a part that all ranks share.
Flagged* part_behind(std::vector<Flagged>& flagged, const Flagged& transfers) {
  Flagged* found = nullptr;
  for (Flagged& part : flagged) {
    if (part.what == Flagged::What::rank || part.what == Flagged::What::pair) continue;
    const auto has = [&](int rank) { return holds(part.ranks, rank); };
    const bool behind = transfers.what == Flagged::What::pair ? std::ranges::any_of(transfers.ranks, has)
                                                              : std::ranges::all_of(transfers.ranks, has);
    if (behind && (found == nullptr || part.shortfall > found->shortfall)) found = &part;
  }
  return found;
}

/// Returns the share of the maximum link rate that is lost: each PCIe generation is twice as fast as the one before.
double training_shortfall(const Environment::Pcie& link) {
  const double lanes = static_cast<double>(link.width) / link.max_width;
  return 1 - lanes * std::exp2(static_cast<double>(link.generation) - link.max_generation);
}

}  // namespace

void Verdicts::add(const Test& test, const Suspicion& suspicion, RetestOutcome again) {
  ShownOf& all = again.seen == RetestOutcome::Reproduced::yes ? shown_ : not_shown_;
  all[suspicion.subject].push_back({&test, &suspicion, std::move(again)});
}

std::vector<Flagged> Verdicts::flagged() const {
  std::vector<Flagged> all;
  std::set<int> gone(fleet_.missing.begin(), fleet_.missing.end());
  for (const int rank : gone) all.push_back(missing(rank));
  for (const auto& [node, shown] : slow_hosts()) all.push_back(host(node, shown));
  for (const auto& [subject, shown] : shown_) {
    if (subject.of == Subject::Of::rank) all.push_back(rank(subject, shown));
  }
  add_trained_low(all);
  add_transfers(all);
  return all;
}

/// Flags PCIe links that have trained below their maximum generation or width while others of the same GPU model have
/// not. This is a fact and needs no second measurement.
void Verdicts::add_trained_low(std::vector<Flagged>& flagged) const {
  std::map<std::string, Environment::Pcie> at_maximum;  // a link at its maximum, for each GPU model
  for (const RankPlace& place : fleet_.ranks) {
    const Environment::Gpu& gpu = place.environment.gpu;
    if (gpu.pcie && gpu.pcie->max_width > 0 && !gpu.pcie->below_maximum()) at_maximum.emplace(gpu.name, *gpu.pcie);
  }
  for (const RankPlace& place : fleet_.ranks) {
    const Environment::Gpu& gpu = place.environment.gpu;
    const auto others = at_maximum.find(gpu.name);
    if (!first_.places().has(place.rank) || others == at_maximum.end()) continue;
    if (!gpu.pcie || !gpu.pcie->below_maximum()) continue;
    const Environment::Pcie& link = *gpu.pcie;
    const std::string fact =
        fmt::format("runs at PCIe {} x{} of PCIe {} x{}, other GPUs of its model at PCIe {} x{}", link.generation,
                    link.width, link.max_generation, link.max_width, others->second.generation, others->second.width);
    const auto is_known = [&](const Flagged& f) {
      return f.what == Flagged::What::link && f.ranks == std::vector{place.rank};
    };
    if (const auto known = std::ranges::find_if(flagged, is_known); known != flagged.end()) {
      known->text += "; it " + fact;
      continue;
    }
    const std::string name = "link of " + rank_text(place);
    flagged.push_back({.what = Flagged::What::link,
                       .ranks = {place.rank},
                       .name = name,
                       .shortfall = training_shortfall(*gpu.pcie),
                       .text = fmt::format("the {} {}", name, fact)});
  }
}

Flagged Verdicts::missing(int rank) const {
  const std::string name = rank_text(fleet_, rank);
  return {.what = Flagged::What::rank, .ranks = {rank}, .name = name, .text = name + " stopped answering"};
}

/// Returns the confirmed suspicions of hosts, by node. Peer groups with different GPU models on one node are one host.
std::map<int, std::vector<Verdicts::Shown>> Verdicts::slow_hosts() const {
  std::map<int, std::vector<Shown>> hosts;
  for (const auto& [subject, shown] : shown_) {
    if (subject.of != Subject::Of::host) continue;
    std::vector<Shown>& of_node = hosts[subject.first];
    of_node.insert(of_node.end(), shown.begin(), shown.end());
  }
  return hosts;
}

Flagged Verdicts::host(int node, const std::vector<Shown>& shown) const {
  const Places& places = first_.places();
  Flagged found = flag(Flagged::What::host, {}, shown);
  found.name = places.host_text(node, found.ranks);
  const bool link = any_on(shown, DataPath::link);
  const bool gpu = any_on(shown, DataPath::gpu);
  const char* where = link && gpu ? ", over the links and inside the GPUs" : gpu ? ", inside the GPUs" : "";
  const bool all = found.ranks == places.ranks_on(node);
  const std::string of =
      all ? "all ranks of " + found.name
          : fmt::format("all {} of {}", places.peer_groups()[places.peer_group(found.ranks.front())].text(),
                        found.name);
  found.text = fmt::format("{} are slow{}: their median {}", of, where, numbers(shown));
  return found;
}

/// Derives which part of a rank is slow from the data paths that are low and those that are not.
Verdicts::PartOfRank Verdicts::part_of(const Subject& subject, const std::vector<Shown>& shown) const {
  using enum Flagged::What;
  if (any_on(shown, DataPath::gpu)) return {gpu, "GPU", ""};
  const bool gpu_is_fine = is_fine(subject, DataPath::gpu);
  if (any_on(shown, DataPath::link)) {
    if (gpu_is_fine) return {link, "link", ""};
    const char* doubt =
        tests_of_subject(subject, DataPath::gpu) > 0
            ? "; work inside the GPU was slow as well, but unconfirmed"
            : "; no test ran inside the GPU only: `xferbench memcpy --dir d2d` shows whether it is the GPU or its link";
    return {link, "link or GPU", doubt};
  }
  if (!is_fine(subject, DataPath::link)) {
    return {link, "link or GPU",
            "; these tests use both the link and the GPU: `xferbench memcpy --dir h2d,d2h,d2d` shows which is slow"};
  }
  return {gpu, "GPU or host process",
          gpu_is_fine ? "; copies over its link and work inside the GPU are as fast as elsewhere"
                      : "; copies over its link are as fast as elsewhere"};
}

Flagged Verdicts::rank(const Subject& subject, const std::vector<Shown>& shown) const {
  const Places& places = first_.places();
  const int rank = subject.first;
  const PartOfRank found_part = part_of(subject, shown);
  const std::string part = fmt::format("{} of {}", found_part.name, places.rank_text(rank));
  Flagged found = flag(found_part.what, part, shown);
  found.text = fmt::format("the {} {}{}", part, numbers(shown), found_part.doubt);
  if (places.ranks_on(places.node(rank)).size() == 1) {
    found.text += "; it is the only rank of its host, so the host may be the cause";
  }
  return found;
}

Flagged Verdicts::network(const std::vector<int>& ranks, const std::vector<Shown>& shown) const {
  const Places& places = first_.places();
  const std::string who =
      ranks.size() == 1 ? places.rank_text(ranks.front()) : places.host_text(places.node(ranks.front()));
  const std::string name = "network of " + who;
  Flagged found = flag(Flagged::What::host, name, shown);
  // If only one rank is slow, its link may be the cause, because all of its transfers use that link.
  const bool link_is_fine = ranks.size() > 1 || is_fine({Subject::Of::rank, ranks.front()}, DataPath::link);
  found.text = fmt::format("all transfers of {} are slow, so the cause is {}its host or its network: their median {}",
                           who, link_is_fine ? "" : "its link, ", numbers(shown));
  return found;
}

Flagged Verdicts::pair(const Subject& subject, const std::vector<Shown>& shown) const {
  const Places& places = first_.places();
  const std::string name = fmt::format("{} to {}", places.rank_text(subject.first), places.rank_text(subject.second));
  Flagged found = flag(Flagged::What::pair, name, shown);
  found.text = fmt::format("the transfer from {} {}", name, numbers(shown));
  for (const auto& [end, other] :
       {std::pair(subject.first, subject.second), std::pair(subject.second, subject.first)}) {
    if (exchanged_with_others(end, other)) continue;
    found.text += fmt::format("; rank {} had no other transfers, so either end may be the cause", end);
    break;
  }
  return found;
}

bool Verdicts::exchanged_with_others(int rank, int than) const {
  return std::ranges::any_of(first_.tests(), [&](const FirstRound::Judged& judged) {
    return std::ranges::any_of(judged.test.values, [&](const Test::Value& v) {
      if (!v.pair) return false;
      const auto [from, to] = *v.pair;
      return (from == rank && to != than) || (to == rank && from != than);
    });
  });
}

/// If only transfers with other nodes are slow, ignores ranks without such transfers. In a ring, most ranks of a node
/// have none.
bool Verdicts::covers_node(int node, const std::map<int, std::vector<Shown>>& by_rank) const {
  const auto is_beyond = [](const Shown& one) { return one.suspicion->subject.second == 1; };
  const bool only_beyond =
      std::ranges::all_of(by_rank, [&](const auto& entry) { return std::ranges::all_of(entry.second, is_beyond); });
  return std::ranges::all_of(first_.places().ranks_on(node), [&](int rank) {
    return by_rank.contains(rank) || (only_beyond && tests_of_subject({Subject::Of::network, rank, 1}) == 0);
  });
}

/// Adds problems that only transfers between ranks show. A slow GPU, link or host slows transfers as well, so transfers
/// that such a part explains are not flagged again.
void Verdicts::add_transfers(std::vector<Flagged>& flagged) const {
  std::map<int, std::map<int, std::vector<Shown>>> networks;  // by node and rank
  for (const auto& [subject, shown] : shown_) {
    if (subject.of != Subject::Of::network) continue;
    std::vector<Shown>& of_rank = networks[first_.places().node(subject.first)][subject.first];
    of_rank.insert(of_rank.end(), shown.begin(), shown.end());
  }
  for (const auto& [node, ranks] : networks) {
    if (ranks.size() > 1 && covers_node(node, ranks)) {
      std::vector<Shown> all;
      for (const auto& [rank, shown] : ranks) all.insert(all.end(), shown.begin(), shown.end());
      add_unless_explained(flagged, network(first_.places().ranks_on(node), all));
    } else {
      for (const auto& [rank, shown] : ranks) add_unless_explained(flagged, network({rank}, shown));
    }
  }
  for (const auto& [subject, shown] : shown_) {
    if (subject.of == Subject::Of::pair) add_unless_explained(flagged, pair(subject, shown));
  }
}

/// Adds the slow transfers, unless a flagged part (GPU, link or host) explains them. That part must be at least as slow
/// as the transfers. A part explains a single pair of ranks only if other transfers of the part are slow, too.
void Verdicts::add_unless_explained(std::vector<Flagged>& flagged, Flagged transfers) const {
  Flagged* part = part_behind(flagged, transfers);
  const bool explained =
      part != nullptr && transfers.shortfall <= part->shortfall + threshold_ &&
      (transfers.what != Flagged::What::pair || has_other_low_transfers(transfers.ranks, part->ranks));
  if (explained) {
    for (const std::string& test : transfers.tests) add_new(part->tests, test);
    return;
  }
  if (part != nullptr)
    transfers.text += fmt::format("; the {}, which is flagged separately, explains only a part of this", part->name);
  flagged.push_back(std::move(transfers));
}

/// Whether `ranks` have low transfers other than those between the two ranks of `pair`.
bool Verdicts::has_other_low_transfers(const std::vector<int>& pair, const std::vector<int>& ranks) const {
  return std::ranges::any_of(shown_, [&](const auto& entry) {
    const Subject& subject = entry.first;
    if (subject.of == Subject::Of::network) return holds(ranks, subject.first);
    if (subject.of != Subject::Of::pair || (holds(pair, subject.first) && holds(pair, subject.second))) return false;
    return holds(ranks, subject.first) || holds(ranks, subject.second);
  });
}

/// Returns a Flagged record with all fields but its text.
Flagged Verdicts::flag(Flagged::What what, std::string name, const std::vector<Shown>& shown) const {
  Flagged found{.what = what, .ranks = {}, .name = std::move(name), .text = {}};
  std::set<int> ranks;
  for (const Shown& one : shown) {
    ranks.insert(one.suspicion->ranks.begin(), one.suspicion->ranks.end());
    found.shortfall = std::max(found.shortfall, one.suspicion->shortfall());
    add_new(found.tests, one.test->name());
  }
  // A pair keeps its order: sender, receiver.
  found.ranks =
      what == Flagged::What::pair ? shown.front().suspicion->ranks : std::vector<int>(ranks.begin(), ranks.end());
  return found;
}

/// Returns, for example, "gives 49.9 GB/s in ..., the median of its peers 55.4 GB/s: 9.9 % less, in 2 of 3 tests, and
/// ...", from the test with the largest shortfall.
std::string Verdicts::numbers(const std::vector<Shown>& shown) const {
  const Shown& most = worst_of(shown);
  const Test& test = *most.test;
  const Suspicion& s = *most.suspicion;
  std::set<const Test*> tests;
  for (const Shown& one : shown) tests.insert(one.test);
  const std::size_t all = std::max(tests.size(), tests_of_subject(s.subject));
  const std::string in_tests = all > 1 ? fmt::format(", in {} of {} tests", tests.size(), all) : "";
  return fmt::format("{} {} in {}, {} {}: {}{}, and {} when measured again",
                     test.better == Better::lower ? "takes" : "gives", number_text(test, s.speed), test.name(),
                     against_text(s), number_text(test, s.reference), less_text(test, s.shortfall()), in_tests,
                     less_text(test, statistics::median(most.again.shortfalls)));
}

std::size_t Verdicts::tests_of_subject(const Subject& subject, std::optional<DataPath> path) const {
  return static_cast<std::size_t>(std::ranges::count_if(first_.tests(), [&](const FirstRound::Judged& judged) {
    if (path && judged.test.path != *path) return false;
    return !first_.values_of(subject, judged.test).empty();
  }));
}

/// Whether tests of this data path judged the subject, and none of them suspected it.
bool Verdicts::is_fine(const Subject& subject, DataPath path) const {
  const auto is_suspected = [&](const ShownOf& in) {
    const auto found = in.find(subject);
    return found != in.end() && any_on(found->second, path);
  };
  return tests_of_subject(subject, path) > 0 && !is_suspected(shown_) && !is_suspected(not_shown_);
}

std::size_t Verdicts::unresolved() const {
  const auto is_open = [](const Shown& one) { return one.again.seen != RetestOutcome::Reproduced::no; };
  return total_of(not_shown_,
                  [&](const auto& of) { return static_cast<std::size_t>(std::ranges::count_if(of.second, is_open)); });
}

std::vector<std::string> Verdicts::notes() const {
  std::vector<std::string> all;
  for (const auto& [subject, doubts] : not_shown_) {
    const Shown& most = worst_of(doubts);
    const std::string more = doubts.size() > 1 ? fmt::format(", and in {} more tests,", doubts.size() - 1) : "";
    const char* than = most.test->better == Better::lower ? "slower than" : "below";
    all.push_back(fmt::format("{} was {} {} {} in {}{} and {}",
                              subject_text(subject, most.suspicion->ranks, first_.places()),
                              format_percent(most.suspicion->shortfall()), than, against_text(*most.suspicion),
                              most.test->name(), more, outcome_label(most.again.seen)));
  }
  return all;
}

}  // namespace xferbench::fleet
