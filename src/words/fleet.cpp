#include "words/fleet.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <tuple>

#include "core/lists.hpp"
#include "core/units.hpp"
#include "fleet/judgement.hpp"
#include "fleet/rank_places.hpp"
#include "measure/statistics.hpp"
#include "words/case_keys.hpp"
#include "words/fleet_maps.hpp"

namespace xferbench {

namespace {

using fleet::Summary;
using fleet::Test;

// --- Ranks in words -------------------------------------------------------------------------------------------------

std::string rank_text(const Fleet& fleet, int rank) { return fleet::rank_text(fleet, rank, fleet::Detail::place); }

/// Returns the rank that measured a value; for a transfer, both ranks.
std::string whose(const Fleet& fleet, const Test::Value& value) {
  if (!value.pair) return rank_text(fleet, value.rank);
  return fmt::format("{} to {}", rank_text(fleet, value.pair->first), rank_text(fleet, value.pair->second));
}

std::string ranks_text(const Fleet& fleet, const std::vector<int>& ranks) {
  return ranks.size() == 1 ? rank_text(fleet, ranks.front()) : fleet::ranks_text(ranks);
}

/// Returns a fact about GPUs and their links if it is the same on all ranks; else empty.
template <class Describe>
std::string common_fact(const Fleet& fleet, const Describe& describe) {
  const auto facts = set_of(fleet.ranks, [&](const RankPlace& place) { return describe(place.environment); });
  return facts.size() == 1 ? *facts.begin() : "";
}

std::string head_of(const Fleet& fleet) {
  std::vector<std::string> parts{gpus_text(fleet), fleet.mpi};
  if (fleet.ranks.size() > 1) parts.insert(parts.begin() + 1, fmt::format("{} ranks", fleet.ranks.size()));
  parts.push_back(common_fact(fleet, [](const Environment& e) {
    return e.gpu.pcie ? fmt::format("PCIe Gen{} x{}", e.gpu.pcie->generation, e.gpu.pcie->width) : std::string();
  }));
  parts.push_back(
      common_fact(fleet, [](const Environment& e) { return e.driver.empty() ? "" : "driver " + e.driver; }));
  std::erase(parts, "");
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// Returns lines about ranks that are simulated by other profiles than the first rank, such as one with a slow link.
std::vector<std::string> other_profiles(const Report& report) {
  std::vector<std::string> lines;
  std::map<std::string, std::vector<int>> others;
  for (const RankPlace& place : report.fleet->ranks) {
    const Environment& e = place.environment;
    if (e.simulated() && e.profile != report.environment.profile) others[e.profile].push_back(place.rank);
  }
  constexpr std::size_t kMostNamed = 3;
  if (others.size() > kMostNamed) {
    const std::size_t count = total_of(others, [](const auto& of_profile) { return of_profile.second.size(); });
    lines.push_back(
        fmt::format("SIMULATED by {} other profiles: {} other ranks; the results file names each rank's profile",
                    others.size(), count));
    return lines;
  }
  for (const auto& [profile, ranks] : others) {
    lines.push_back(fmt::format("SIMULATED by profile {}: {}", profile, ranks_text(*report.fleet, ranks)));
  }
  return lines;
}

// --- Cases ----------------------------------------------------------------------------------------------------------

/// Returns the part of a key that the cases do not share; empty for a scenario with a single case.
std::string rest_of(const std::string& key, const CommonKey& shared) {
  return fmt::format("{}", fmt::join(shared.own(key), " "));
}

std::string value_text(const Test& test, double value) { return format_with_unit(value, test.unit); }

Table table_of_tests(const Fleet& fleet, const std::vector<const Summary*>& rows, const CommonKey& shared) {
  Table table{.header = {"case", "concurrency", "median", "lowest", "lowest rank", "highest", "highest rank", "spread",
                         "sum of all ranks"},
              .left_columns = 2,
              .gap = 2,
              .least_important = {6, 5, 8}};
  // The sum of the ranks' rates is only real if all ranks measured at the same time.
  const auto moved_together = [](const Summary* s) { return s->together && s->test->pace == RankConcurrency::all; };
  const bool has_sum = std::ranges::any_of(rows, moved_together);
  const bool has_rest =
      std::ranges::any_of(rows, [&](const Summary* s) { return !rest_of(s->test->key, shared).empty(); });
  if (!has_sum) {
    table.header.pop_back();
    table.least_important.pop_back();
  }
  for (const Summary* s : rows) {
    const Test& test = *s->test;
    Table::Row row;
    row.cells = {rest_of(test.key, shared),         std::string(to_text(test.pace)), value_text(test, s->median),
                 value_text(test, s->lowest.value), whose(fleet, s->lowest),         value_text(test, s->highest.value),
                 whose(fleet, s->highest),          format_percent(s->spread)};
    if (has_sum) row.cells.push_back(moved_together(s) ? value_text(test, *s->together) : "");
    row.cells[2].tone = Tone::bold;
    table.rows.push_back(std::move(row));
  }
  if (!has_rest) table.erase_column(0);
  return table;
}

// --- Contention -----------------------------------------------------------------------------------------------------

/// Returns, for each node, the median of the values that the node's ranks measured in the test.
std::map<int, double> medians_by_node(const Fleet& fleet, const Test& test) {
  std::map<int, std::vector<double>> values;
  for (const Test::Value& value : test.values) {
    if (const RankPlace* place = fleet.place(value.rank)) values[place->node].push_back(value.value);
  }
  std::map<int, double> medians;
  for (const auto& [node, of_node] : values) medians[node] = statistics::median(of_node);
  return medians;
}

std::string host_of(const Fleet& fleet, int node) {
  const auto found = std::ranges::find(fleet.ranks, node, &RankPlace::node);
  return found == fleet.ranks.end() ? fmt::format("node {}", node) : found->host;
}

/// Returns the hosts whose numbers drop most and least when all ranks work at once, for example "a 0.45x, b 0.60x";
/// empty if all are alike.
std::string by_host(const Fleet& fleet, const Test& all, const Test& one) {
  constexpr double kDiffers = 0.05;  // smaller relative differences are not reported
  const std::map<int, double> together = medians_by_node(fleet, all);
  std::vector<std::pair<double, int>> ratios;
  for (const auto& [node, alone] : medians_by_node(fleet, one)) {
    const auto found = together.find(node);
    if (found != together.end() && alone > 0) ratios.emplace_back(found->second / alone, node);
  }
  if (ratios.size() < 2) return {};
  const auto [least, most] = std::ranges::minmax_element(ratios);
  if (most->first - least->first <= kDiffers * most->first) return {};
  return fmt::format("{} {:.2f}x, {} {:.2f}x", host_of(fleet, least->second), least->first,
                     host_of(fleet, most->second), most->first);
}

/// The results of one case at each concurrency, in the order of RankConcurrency; null if it was not run.
using AtConcurrency = std::array<const Summary*, texts_of(RankConcurrency{}).size()>;

Table::Row contention_row(const Fleet& fleet, const AtConcurrency& at, const std::string& name) {
  const auto [all, node, one] = at;
  const auto median = [](const Summary* s) { return s == nullptr ? "" : value_text(*s->test, s->median); };
  const auto ratio = [](const Summary* s, const Summary* to) {
    return s == nullptr || to == nullptr || to->median <= 0 ? "" : fmt::format("{:.2f}x", s->median / to->median);
  };
  return {{name, median(one), median(node), median(all), ratio(node, one),
           Cell(ratio(all, one == nullptr ? node : one), Tone::bold),
           all == nullptr || one == nullptr ? "" : by_host(fleet, *all->test, *one->test)}};
}

/// Removes the columns in which all rows are empty, except the first column.
void erase_empty_columns(Table& table) {
  const auto is_empty = [](const Table::Row& row, std::size_t i) { return row.cells[i].text.empty(); };
  for (std::size_t i = table.header.size(); i-- > 1;) {
    if (!std::ranges::all_of(table.rows, [&](const Table::Row& row) { return is_empty(row, i); })) continue;
    table.last_left = table.last_left && i + 1 < table.header.size();
    table.erase_column(i);
  }
}

Table table_of_contention(const Fleet& fleet, const std::vector<const Summary*>& rows, const CommonKey& shared) {
  Table table{.header = {"case", "one rank at a time", "one node at a time", "all ranks at once", "node / one",
                         "all / one", "by host"},
              .left_columns = 1,
              .last_left = true,
              .gap = 2,
              .least_important = {4, 2},
              .title = "Slow-down by contention"};
  for (const auto& [name, alike] :
       by_name(rows, [](const Summary* s) { return std::pair(s->test->key, s->test->metric); })) {
    AtConcurrency at{};
    for (const Summary* s : alike) at[static_cast<std::size_t>(s->test->pace)] = s;
    const auto paces = std::ranges::count_if(at, [](const Summary* s) { return s != nullptr; });
    if (paces > 1) table.rows.push_back(contention_row(fleet, at, rest_of(name.first, shared)));
  }
  erase_empty_columns(table);
  return table;
}

// --- Every rank -----------------------------------------------------------------------------------------------------

Table table_of_ranks(const Fleet& fleet, const std::vector<const Test*>& tests, const CommonKey& shared) {
  Table table{.header = {"rank", "host", "GPU"}, .left_columns = 3, .gap = 2, .in_pieces = true};
  std::map<int, std::vector<std::string>> values;
  for (std::size_t i = 0; i < tests.size(); ++i) {
    const std::string rest = rest_of(tests[i]->key, shared);
    table.header.push_back(fmt::format("{}{}{}", rest, rest.empty() ? "" : " ", to_text(tests[i]->pace)));
    for (const Test::Value& value : tests[i]->values) {
      std::vector<std::string>& of_rank = values[value.rank];
      of_rank.resize(tests.size());
      of_rank[i] = value_text(*tests[i], value.value);
    }
  }
  for (auto& [rank, cells] : values) {
    const RankPlace* place = fleet.place(rank);
    Table::Row& row = table.rows.emplace_back();
    row.cells = {fmt::format("{}", rank), place == nullptr ? "" : place->host,
                 place == nullptr ? "" : gpu_text(*place)};
    row.cells.insert(row.cells.end(), cells.begin(), cells.end());
  }
  return table;
}

void add_maps(const FleetMaps& maps, const std::vector<const Test*>& tests, const CommonKey& shared,
              Document& document) {
  for (const Test* test : tests) {
    if (!maps.has_map_of(*test)) continue;
    const std::string rest = rest_of(test->key, shared);
    const std::string title = fmt::format("{}{}concurrency {}: % of the median of its group", rest,
                                          rest.empty() ? "" : ", ", to_text(test->pace));
    document.add(maps.map_of(*test, title), true, Shown::pages);
  }
}

/// Adds the results of one scenario: a row for each case and concurrency, the cost of contention, and with `every_rank`
/// a table of all ranks.
void add_tests(const Fleet& fleet, const FleetMaps& maps, const std::vector<const Summary*>& rows, bool every_rank,
               Document& document) {
  const std::vector<const Test*> tests = list_of(rows, &Summary::test);
  const CommonKey shared = common_key(list_of(tests, &Test::key));  // the first part is the name of the scenario
  const std::vector<std::string> axes(shared.parts.begin() + 1, shared.parts.end());
  document.add(Heading{.text = shared.parts.front(), .common = axes, .marks = document.trust.words()}, true);
  document.add(table_of_tests(fleet, rows, shared));
  if (Table contention = table_of_contention(fleet, rows, shared); !contention.rows.empty()) {
    document.add(std::move(contention), true);
  }
  add_maps(maps, tests, shared, document);
  if (every_rank) document.add(table_of_ranks(fleet, tests, shared), true, Shown::terminal);
  if (fleet.ranks.size() <= kMostRanksInTables) {
    document.add(Fold{"Every rank", {{table_of_ranks(fleet, tests, shared)}}}, true, Shown::pages);
  }
}

void add_parts(const Fleet& fleet, const std::vector<Summary>& summaries, bool every_rank, Document& document) {
  const std::vector<Test> tests = list_of(summaries, [](const Summary& s) { return *s.test; });
  const FleetMaps maps(fleet, tests);
  const std::vector<const Summary*> all = pointers_to(summaries);
  const auto scenario_of = [](const Summary* s) { return s->test->key.substr(0, s->test->key.find('/')); };
  for (const auto& [scenario, of_it] : by_name(all, scenario_of)) add_tests(fleet, maps, of_it, every_rank, document);
}

// --- Sentences ------------------------------------------------------------------------------------------------------

std::vector<std::string> flagged_lines(const Fleet& fleet) {
  return list_of(fleet.flagged, [](const Flagged& f) {
    const std::string who = f.text.find(f.name) == std::string::npos ? f.name + ": " : "";
    return fmt::format("{}: {}{}", to_text(f.what), who, f.text);
  });
}

/// Returns a sentence if nothing is flagged. Its tone is good only if every test was judged and no suspicion is left.
std::optional<Sentence> nothing_flagged(const Report& report) {
  const Fleet& fleet = *report.fleet;
  if (!fleet.flagged.empty() || !report.complete) return std::nullopt;
  const FleetJudgement judgement = fleet.judgement.value_or(FleetJudgement{});
  const bool known = fleet.judgement.has_value();
  if (known && judgement.judged == 0) return Sentence{"no test could be judged", Tone::notice};
  Sentence nothing{"nothing is flagged", Tone::good};
  if (judgement.judged < judgement.tests) {
    nothing = {fmt::format("nothing is flagged in {} of {} tests; the others could not be judged", judgement.judged,
                           judgement.tests),
               Tone::notice};
  }
  if (judgement.unresolved > 0) {
    nothing.text +=
        fmt::format("; {} could be neither confirmed nor dismissed",
                    judgement.unresolved == 1 ? "a suspicion" : fmt::format("{} suspicions", judgement.unresolved));
    nothing.tone = Tone::notice;
  }
  return nothing;
}

/// Returns lines about the results with this status: one line for each case and reason, which names the ranks. Leaves
/// out ranks that were skipped in the second round, which repeats suspicious tests on few ranks.
std::vector<std::string> lines_of(const Report& report, Status status) {
  std::map<std::tuple<std::string, RankConcurrency, unsigned, std::string>, std::vector<int>> ranks;
  for (const Result& r : report.results) {
    if (r.status != status || !r.in_fleet || r.reason == kNotBegun) continue;
    if (status == Status::skipped && r.in_fleet->round > 1) continue;
    ranks[{r.config.key(), r.in_fleet->pace, r.in_fleet->round, r.reason}].push_back(r.in_fleet->rank);
  }
  constexpr std::size_t kMost = 20;
  std::vector<std::string> lines;
  for (const auto& [what, which] : ranks) {
    const auto& [key, pace, round, reason] = what;
    if (lines.size() == kMost) {
      lines.push_back(fmt::format("{} more are in the results file", ranks.size() - kMost));
      break;
    }
    const bool every = which.size() == report.fleet->ranks.size();
    lines.push_back(fmt::format("{} pace={}{}: {}: {}", key, to_text(pace), round > 1 ? ", measured again" : "",
                                every ? "every rank" : ranks_text(*report.fleet, which), reason));
  }
  return lines;
}

/// Returns a line for each missing rank that the judgement does not flag anyway.
std::vector<std::string> missing_lines(const Fleet& fleet) {
  std::vector<std::string> lines;
  for (const int rank : fleet.missing) {
    const bool is_flagged = std::ranges::any_of(
        fleet.flagged, [rank](const Flagged& f) { return f.what == Flagged::What::rank && has_item(f.ranks, rank); });
    if (!is_flagged) lines.push_back(rank_text(fleet, rank) + " is missing: it stopped answering");
  }
  return lines;
}

/// Returns the ranks that invalidated passes because they began late, the worst first; empty if there are none.
std::string late_line(const Report& report) {
  std::map<int, std::size_t> late;
  std::map<int, std::size_t> of;
  for (const Result& r : report.results) {
    if (!r.in_fleet) continue;
    if (r.in_fleet->late_passes > 0) late[r.in_fleet->rank] += r.in_fleet->late_passes;
    of[r.in_fleet->rank] += r.in_fleet->passes;
  }
  // A late pass now and then is normal. Files of older versions do not contain the number of passes.
  constexpr std::size_t kOneIn = 20;
  std::erase_if(late, [&](const auto& one) {
    const std::size_t passes = of[one.first];
    return passes == 0 || one.second * kOneIn < passes;
  });
  if (late.empty()) return {};
  std::vector<std::pair<std::size_t, int>> worst;
  for (const auto& [rank, passes] : late) worst.emplace_back(passes, rank);
  std::ranges::sort(
      worst, [](const auto& a, const auto& b) { return std::tie(b.first, a.second) < std::tie(a.first, b.second); });
  constexpr std::size_t kMost = 4;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < worst.size() && i < kMost; ++i) {
    const auto [passes, rank] = worst[i];
    names.push_back(fmt::format("{} in {}", rank_text(*report.fleet, rank), passes));
  }
  const std::string more = worst.size() > kMost ? fmt::format(" and {} more ranks", worst.size() - kMost) : "";
  return fmt::format("passes repeated because a rank started late: {}{}", fmt::join(names, ", "), more);
}

/// Returns sentences about differences between ranks, limitations of the judgement, late ranks and clock accuracy.
std::vector<std::string> notes_of(const Report& report) {
  std::vector<std::string> notes = report.fleet->differences;
  notes.insert(notes.end(), report.fleet->notes.begin(), report.fleet->notes.end());
  if (std::string late = late_line(report); !late.empty()) notes.push_back(std::move(late));
  if (const double sure = report.fleet->clock_uncertainty; sure > 0) {
    notes.push_back(fmt::format("common clock accurate to {}", format_seconds(sure)));
  }
  return notes;
}

void add_list(const char* title, const std::vector<std::string>& sentences, Tone tone, Document& document) {
  if (sentences.empty()) return;
  document.add(Heading{.text = title}, true, Shown::elsewhere);
  document.parts.push_back({.content = List(sentences, tone, 0), .apart = true});
}

}  // namespace

void add_fleet(const Report& report, bool every_rank, Document& document) {
  const Fleet& fleet = *report.fleet;
  document.trust.besides = other_profiles(report);
  document.add(Sentence{.text = head_of(fleet), .tone = Tone::bold});
  std::vector<std::string> failed = missing_lines(fleet);
  std::ranges::move(lines_of(report, Status::failed), std::back_inserter(failed));
  add_list("Flagged", flagged_lines(fleet), Tone::bad, document);
  add_list("Missing and failed", failed, Tone::bad, document);
  if (auto nothing = nothing_flagged(report)) document.add(*std::move(nothing), true);
  const std::vector<Test> tests = fleet::tests_of(report, 1);
  add_parts(fleet, fleet::summarise(tests), every_rank, document);
  const auto findings =
      those_of(report.findings, [](const Finding& f) { return !f.text.empty() && !f.row && !f.detail; });
  add_list("Findings", list_of(findings, &Finding::text), Tone::plain, document);
  add_list("Skipped", lines_of(report, Status::skipped), Tone::dim, document);
  add_list("Notes", notes_of(report), Tone::dim, document);
  Table places = table_of_places(fleet);
  if (places.rows.empty()) return;
  document.add(Heading{.text = "Ranks"}, true, Shown::pages);
  document.add(std::move(places), true, Shown::pages);
}

}  // namespace xferbench
