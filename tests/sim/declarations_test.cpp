// Every metric that a scenario writes is declared with its unit, and every declared metric is written.
#include "support/declarations.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/units.hpp"
#include "run/tuner.hpp"
#include "sim/simulated_ranks.hpp"

namespace xferbench::test {

namespace {

using Kind = MetricDeclaration::Kind;

const Scenario& scenario_named(std::string_view name) {
  return **std::ranges::find(scenarios(), name, [](const Scenario* s) { return s->descriptor().name; });
}

/// Commands that together make a scenario write all of its metrics. `tunes` are run by tune, for metrics that only tune
/// writes.
struct Everything {
  std::vector<Words> runs;
  std::vector<Words> tunes{};
};

std::vector<Result> results_of(const Everything& commands) {
  std::vector<Result> all;
  for (const Words& words : commands.runs) {
    if (cases_of(words).front().scenario->descriptor().needs_ranks) {
      for (OfRank& of_rank : run_ranks(cases_of(words), {.nodes = {0, 1}}))
        std::ranges::move(of_rank, std::back_inserter(all));
      continue;
    }
    const auto machine = capable_machine_for(cases_of(words).front());
    RunContext bench = quick_bench(machine->device());
    bench.trace = true;
    for (Result& r : run_all(expanded(cases_of(words), {machine->device().capabilities().environment}), bench)) {
      EXPECT_EQ(r.status, Status::ok) << r.config.key() << ": " << r.reason;
      all.push_back(std::move(r));
    }
  }
  return all;
}

std::vector<Result> tuned_results_of(const Everything& commands) {
  std::vector<Result> all;
  const TuneObserver nobody{.progress = [](const TuneProgress&) {}, .measured = [](const std::vector<Result>&) {}};
  for (const Words& words : commands.tunes) {
    const std::vector<PlannedCase> cases = cases_of(words);
    const auto machine = capable_machine_for(cases.front());
    const std::vector<Case> space = feasible(cases, *machine, true, std::nullopt);
    const auto command_of = [](const Case& c) { return c.key(); };
    for (const Objective objective : {Objective::device, Objective::wall}) {
      RunContext bench = quick_bench(machine->device());
      bench.objective = objective;
      for (Result& r : tune(*cases.front().scenario, space, bench, command_of, nobody).results) {
        all.push_back(std::move(r));
      }
    }
  }
  return all;
}

const std::vector<std::pair<std::string, Everything>>& commands() {
  static const std::vector<std::pair<std::string, Everything>> all{
      {"overlap",
       {.runs = {{"overlap", "--size", "1M", "--chunks", "2", "--rounds", "2"},
                 {"overlap", "--size", "4M", "--streams", "2", "--chunks", "4", "--kernels-per-chunk", "2"},
                 {"overlap", "--size", "4M", "--strategy", "serial,zero-copy,batch,graph"},
                 {"overlap", "--size", "4M", "--kernel-file", example_kernel("sobel"), "--kernel-name", "sobel"},
                 {"overlap", "--size", "4M", "--chunks", "4", "--split", "each"},
                 {"overlap", "--size", "4M", "--chunks", "4", "--strategy", "multipath"}},
        .tunes = {{"tune", "overlap", "--size", "4M", "--strategy", "streams", "--streams", "2,4", "--chunks", "4,8",
                   "--growth", "1"}}}},
      {"memcpy",
       {.runs = {{"memcpy", "--size", "4M", "--host", "pinned,pageable,registered"},
                 {"memcpy", "--size", "16M", "--host", "pinned", "--dir", "bidirectional"}}}},
      {"p2p", {.runs = {{"p2p", "--pairs", "0-1", "--size", "1M", "--dir", "write,bidirectional"}}}},
      {"together", {.runs = {{"together", "--pattern", "both", "--group", "0+1", "--size", "1M"}}}},
      {"multipath",
       {.runs = {{"multipath", "--dir", "h2d", "--size", "16M"}},
        .tunes = {{"tune", "multipath", "--target", "0", "--via", "1", "--size", "16M", "--share", "40,50", "--chunk",
                   "4M", "--slots", "2"}}}},
      {"exchange", {.runs = {{"exchange", "--size", "1M"}, {"exchange", "--size", "8B"}}}},
      {"async", {.runs = {{"async", "--size", "1M", "--host", "pinned"}}}},
      {"latency", {.runs = {{"latency", "--op", "copy,launch,graph,wait,event-wait", "--schedule", "spin"}}}},
      {"alloc", {.runs = {{"alloc", "--size", "2M", "--memory", "malloc,pinned,register,device,device-pool"}}}},
      {"scatter",
       {.runs = {{"scatter", "--size", "1M", "--way", "calls,kernel", "--beside", "none,compute"}},
        .tunes = {{"tune", "scatter", "--dir", "h2d", "--size", "1M", "--way", "calls,batch"}}}},
      {"storage",
       {.runs = {{"storage", "--size", "1M", "--way", "read,threads,uring", "--threads", "1", "--layout",
                  "whole,tensors"},
                 {"storage", "--size", "1M", "--way", "read,threads", "--threads", "1", "--dir", "save"}},
        .tunes = {{"tune", "storage", "--size", "1M", "--cache", "cold", "--way", "threads,direct,mmap-threads",
                   "--threads", "1"}}}},
      {"staging", {.runs = {{"staging", "--size", "4M", "--threads", "2"}}}},
      {"callback",
       {.runs = {{"callback", "--size", "1M"},
                 {"callback", "--size", "1M", "--kernel-file", example_kernel("sobel"), "--kernel-name", "sobel"}}}},
      {"smem",
       {.runs = {{"smem", "--size", "1M", "--method", "sync,bulk", "--op", "copy,read", "--intensity", "2", "--stages",
                  "1", "--schedule", "dynamic"}},
        .tunes = {{"tune", "smem", "--size", "1M", "--method", "sync,bulk", "--stages", "1", "--schedule", "dynamic",
                   "--tile", "4K", "--threads", "128", "--intensity", "2", "--l2", "resident"}}}},
      {"dynpar", {.runs = {{"dynpar", "--task", "children", "--children", "16"}}}},
  };
  return all;
}

class Declarations : public testing::TestWithParam<std::size_t> {
 protected:
  const Everything& everything_ = commands()[GetParam()].second;
  const ScenarioDescriptor& scenario_ = scenario_named(commands()[GetParam()].first).descriptor();
};

/// The headline of every result is declared as one and has a column.
void expect_headlines(std::span<const Result> results, const ScenarioDescriptor& scenario) {
  for (const Result& r : results) {
    const Measurement* headline = headline_of(r, scenario.metrics);
    ASSERT_NE(headline, nullptr) << r.config.key();
    const auto* declared = find(scenario.metrics, Kind::measurement, headline->name);
    ASSERT_NE(declared, nullptr) << r.config.key();
    EXPECT_TRUE(declared->headline) << r.config.key() << " is about " << headline->name;
    EXPECT_NE(declared->heading, "");
  }
}

TEST_P(Declarations, AreWhatTheScenarioWrites) {
  const std::vector<Result> results = results_of(everything_);
  expect_headlines(results, scenario_);
  const std::set<std::string> written = written_in(results);
  const std::set<std::string> tuned = written_in(tuned_results_of(everything_));
  const std::set<std::string> declared = declared_by(scenario_);
  const std::set<std::string> of_tune = declared_by(tuned_descriptor(scenario_));
  const std::set<std::string> none;
  EXPECT_EQ(without(written, declared), none) << "is written and not declared";
  EXPECT_EQ(without(tuned, of_tune), none) << "is written by tune and not declared";
  const auto usual = without(without(declared, of_cufile()), of_slow_peers());
  const auto unwritten = without(without(usual, written), tuned);
  EXPECT_EQ(without(without(without(unwritten, of_chases_and_sorts()), of_peer_reads()), of_link_bytes()), none)
      << "is declared and never written";
  if (!tuned.empty()) {
    EXPECT_EQ(without(without(of_tune, declared), tuned), none) << "is declared by tune and never written";
  }
}

TEST_P(Declarations, AreExplained) {
  EXPECT_EQ(declared_by(scenario_).size(), scenario_.metrics.size()) << "something is declared twice";
  for (const MetricDeclaration& m : scenario_.metrics) {
    EXPECT_NE(m.help, "") << m.name;
    EXPECT_EQ(m.unit.empty(), m.kind == Kind::label) << m.name;
    EXPECT_TRUE(m.companion.empty() || !m.heading.empty()) << m.name;
    if (m.kind != Kind::measurement && !m.companion.empty()) {
      EXPECT_EQ(m.companion, std::vector{MetricDeclaration::Companion::interval}) << m.name;
      EXPECT_NE(find(scenario_.metrics, Kind::metric, m.name + "_low"), nullptr) << "the ends of its interval";
      EXPECT_NE(find(scenario_.metrics, Kind::metric, m.name + "_high"), nullptr) << m.name;
    }
    EXPECT_TRUE(!m.headline || m.kind == Kind::measurement) << m.name;
  }
}

INSTANTIATE_TEST_SUITE_P(OfEvery, Declarations, testing::Range(std::size_t{0}, commands().size()),
                         [](const auto& scenario) { return commands()[scenario.param].first; });

TEST(DeclarationsOfScenarios, AreCheckedForEveryScenario) { EXPECT_EQ(commands().size(), scenarios().size()); }

}  // namespace

}  // namespace xferbench::test
