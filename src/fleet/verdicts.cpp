#include "fleet/verdicts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/units.hpp"
#include "measure/statistics.hpp"

namespace xferbench::fleet {

namespace {

std::string number_text(const Test& test, double speed) {
  return format_with_unit(test.better == Better::lower ? 1 / speed : speed, test.unit);
}

std::string less_text(const Test& test, double shortfall) {
  return fmt::format("{:.1f} % {}", shortfall * 100, test.better == Better::lower ? "slower" : "less");
}

/// What a suspicion is held against.
std::string against_text(const Suspicion& s) {
  const char* which = s.best ? "the best" : "the middle";
  switch (s.subject.of) {
    case Subject::Of::host: return s.best ? "that of the best host" : "the middle of the other hosts";
    case Subject::Of::rank: return fmt::format("{} of those {}", which, s.on_host ? "on its host" : "like it");
    case Subject::Of::network: return s.best ? "that of the best rank" : "that of the other ranks";
    default: return fmt::format("{} of transfers like it", which);
  }
}

std::string subject_text(const Subject& subject, const Places& places) {
  switch (subject.of) {
    case Subject::Of::host: return places.host_text(subject.first);
    case Subject::Of::rank: return places.rank_text(subject.first);
    case Subject::Of::network: return "each transfer of " + places.rank_text(subject.first);
    default: return fmt::format("the transfer from rank {} to rank {}", subject.first, subject.second);
  }
}

/// What came of measuring a suspect again that is not flagged.
const char* outcome_text(Again::Seen seen) {
  switch (seen) {
    case Again::Seen::never: return "was not measured again";
    case Again::Seen::nobody: return "could not be measured again beside a good one";
    case Again::Seen::clocks: return "the clocks were not sure enough when it was measured again";
    default: return "not when measured again";
  }
}

/// The test that shows the most of these.
template <class Shown>
const Shown& worst_of(const std::vector<Shown>& all) {
  return *std::ranges::max_element(all, {}, [](const Shown& one) { return one.suspicion->shortfall(); });
}

template <class All>
bool any_on(const All& shown, DataPath path) {
  return std::ranges::any_of(shown, [path](const auto& one) { return one.test->path == path; });
}

bool holds(const std::vector<int>& ranks, int rank) { return std::ranges::find(ranks, rank) != ranks.end(); }

/// What is flagged already by tests of its own and slows these transfers down, too: a part of either end of a pair, of
/// others one that all of their ranks have. The worst of such parts; null without one.
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

void append_tests(Flagged& flagged, const std::vector<std::string>& tests) {
  for (const std::string& test : tests) {
    if (std::ranges::find(flagged.tests, test) == flagged.tests.end()) flagged.tests.push_back(test);
  }
}

}  // namespace

void Verdicts::add(const Test& test, const Suspicion& suspicion, Again again) {
  ShownOf& all = again.seen == Again::Seen::yes ? shown_ : not_shown_;
  all[suspicion.subject].push_back({&test, &suspicion, std::move(again)});
}

std::vector<Flagged> Verdicts::flagged() const {
  std::vector<Flagged> all;
  std::set<int> gone(fleet_.missing.begin(), fleet_.missing.end());
  for (const int rank : gone) all.push_back(missing(rank));
  for (const auto& [subject, shown] : shown_) {
    if (subject.of == Subject::Of::host) all.push_back(host(subject, shown));
    if (subject.of == Subject::Of::rank) all.push_back(rank(subject, shown));
  }
  add_transfers(all);
  return all;
}

Flagged Verdicts::missing(int rank) const {
  const auto place = std::ranges::find(fleet_.ranks, rank, &RankPlace::rank);
  const std::string name = place == fleet_.ranks.end() ? fmt::format("rank {}", rank) : rank_text(*place);
  return {.what = Flagged::What::rank, .ranks = {rank}, .name = name, .text = name + " did not answer any more"};
}

Flagged Verdicts::host(const Subject& subject, const std::vector<Shown>& shown) const {
  const std::string name = first_.places().host_text(subject.first);
  Flagged found = flag(Flagged::What::host, name, shown);
  const bool link = any_on(shown, DataPath::link);
  const bool gpu = any_on(shown, DataPath::gpu);
  const char* where = link && gpu ? ", over the links and inside the GPUs" : gpu ? ", inside the GPUs" : "";
  found.text = fmt::format("all ranks of {} are slow{}: their middle {}", name, where, numbers(shown));
  return found;
}

Flagged Verdicts::rank(const Subject& subject, const std::vector<Shown>& shown) const {
  const Places& places = first_.places();
  const int rank = subject.first;
  const bool gpu = any_on(shown, DataPath::gpu);
  const bool told_apart = gpu || tests_of_subject(subject, true) > 0;
  const std::string who = places.rank_text(rank);
  const std::string part = fmt::format("{} of {}", gpu ? "GPU" : told_apart ? "link" : "link or GPU", who);
  Flagged found = flag(gpu ? Flagged::What::gpu : Flagged::What::link, part, shown);
  found.text = fmt::format("the {} {}", part, numbers(shown));
  if (!told_apart) {
    found.text += "; no test stayed on the GPU: `xferbench memcpy --dir d2d` tells whether it is the GPU or its link";
  }
  if (places.ranks_on(places.node(rank)).size() == 1) {
    found.text += "; as the only rank of its host it cannot be told from the host";
  }
  return found;
}

Flagged Verdicts::network(const std::vector<int>& ranks, const std::vector<Shown>& shown) const {
  const Places& places = first_.places();
  const std::string who =
      ranks.size() == 1 ? places.rank_text(ranks.front()) : places.host_text(places.node(ranks.front()));
  const std::string name = "network of " + who;
  Flagged found = flag(Flagged::What::host, name, shown);
  found.text = fmt::format("all transfers of {} are slow, so it is its host or its network: their middle {}", who,
                           numbers(shown));
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
    found.text += fmt::format("; rank {} exchanged with nobody else, so it may be either end", end);
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

/// Transfers show a slow GPU, link or host, too: what these explain is not flagged by another name.
void Verdicts::add_transfers(std::vector<Flagged>& flagged) const {
  std::map<int, std::map<int, std::vector<Shown>>> networks;  // by node and rank
  for (const auto& [subject, shown] : shown_) {
    if (subject.of != Subject::Of::network) continue;
    std::vector<Shown>& of_rank = networks[first_.places().node(subject.first)][subject.first];
    of_rank.insert(of_rank.end(), shown.begin(), shown.end());
  }
  for (const auto& [node, ranks] : networks) {
    if (ranks.size() > 1 && ranks.size() == first_.places().ranks_on(node).size()) {
      std::vector<Shown> all;
      for (const auto& [rank, shown] : ranks) all.insert(all.end(), shown.begin(), shown.end());
      add_or_explain(flagged, network(first_.places().ranks_on(node), all));
    } else {
      for (const auto& [rank, shown] : ranks) add_or_explain(flagged, network({rank}, shown));
    }
  }
  for (const auto& [subject, shown] : shown_) {
    if (subject.of == Subject::Of::pair) add_or_explain(flagged, pair(subject, shown));
  }
}

/// A part explains transfers that are no slower than itself, and one pair's only where other transfers of that part are
/// slow, too. Where it does not, there is something else.
void Verdicts::add_or_explain(std::vector<Flagged>& flagged, Flagged transfers) const {
  Flagged* part = part_behind(flagged, transfers);
  const bool explained = part != nullptr && transfers.shortfall <= part->shortfall + threshold_ &&
                         (transfers.what != Flagged::What::pair || others_are_low(transfers.ranks, part->ranks));
  if (explained) {
    append_tests(*part, transfers.tests);
    return;
  }
  if (part != nullptr)
    transfers.text += fmt::format("; the {}, which is flagged by itself, does not explain all of that", part->name);
  flagged.push_back(std::move(transfers));
}

/// Transfers of these ranks besides those between the two of a pair.
bool Verdicts::others_are_low(const std::vector<int>& pair, const std::vector<int>& ranks) const {
  return std::ranges::any_of(shown_, [&](const auto& entry) {
    const Subject& subject = entry.first;
    if (subject.of == Subject::Of::network) return holds(ranks, subject.first);
    if (subject.of != Subject::Of::pair || (holds(pair, subject.first) && holds(pair, subject.second))) return false;
    return holds(ranks, subject.first) || holds(ranks, subject.second);
  });
}

/// With the shortfall and the tests; the text is still to be said.
Flagged Verdicts::flag(Flagged::What what, std::string name, const std::vector<Shown>& shown) const {
  Flagged found{.what = what, .ranks = {}, .name = std::move(name), .text = {}};
  std::set<int> ranks;
  for (const Shown& one : shown) {
    ranks.insert(one.suspicion->ranks.begin(), one.suspicion->ranks.end());
    found.shortfall = std::max(found.shortfall, one.suspicion->shortfall());
    append_tests(found, {one.test->name()});
  }
  // From the first to the second, of a transfer.
  found.ranks =
      what == Flagged::What::pair ? shown.front().suspicion->ranks : std::vector<int>(ranks.begin(), ranks.end());
  return found;
}

/// "gives 49.9 GB/s in ..., the middle of those like it 55.4 GB/s: 9.9 % less, in 2 of 3 tests, and ...": of the test
/// that shows it most.
std::string Verdicts::numbers(const std::vector<Shown>& shown) const {
  const Shown& most = worst_of(shown);
  const Test& test = *most.test;
  const Suspicion& s = *most.suspicion;
  std::set<const Test*> tests;
  for (const Shown& one : shown) tests.insert(one.test);
  const std::size_t all = std::max(tests.size(), tests_of_subject(s.subject, false));
  const std::string in_tests = all > 1 ? fmt::format(", in {} of {} tests", tests.size(), all) : "";
  return fmt::format("{} {} in {}, {} {}: {}{}, and {} when measured again",
                     test.better == Better::lower ? "takes" : "gives", number_text(test, s.speed), test.name(),
                     against_text(s), number_text(test, s.reference), less_text(test, s.shortfall()), in_tests,
                     less_text(test, statistics::median(most.again.shortfalls)));
}

std::size_t Verdicts::tests_of_subject(const Subject& subject, bool on_gpu_only) const {
  return static_cast<std::size_t>(std::ranges::count_if(first_.tests(), [&](const FirstRound::Judged& judged) {
    if (on_gpu_only && judged.test.path != DataPath::gpu) return false;
    return !first_.values_of(subject, judged.test).empty();
  }));
}

std::vector<std::string> Verdicts::notes() const {
  std::vector<std::string> all;
  for (const auto& [subject, doubts] : not_shown_) {
    if (shown_.contains(subject)) continue;
    const Shown& most = worst_of(doubts);
    const std::string more = doubts.size() > 1 ? fmt::format(", and in {} more tests,", doubts.size() - 1) : "";
    const char* than = most.test->better == Better::lower ? "slower than" : "below";
    all.push_back(fmt::format("{} was {:.1f} % {} {} in {}{} and {}", subject_text(subject, first_.places()),
                              most.suspicion->shortfall() * 100, than, against_text(*most.suspicion), most.test->name(),
                              more, outcome_text(most.again.seen)));
  }
  return all;
}

}  // namespace xferbench::fleet
