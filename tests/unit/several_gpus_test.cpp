// Reports of several GPUs: matrices from GPU to GPU, findings about pairs, numbers per GPU.
#include <fmt/format.h>

#include <array>

#include "paper/writers.hpp"
#include "support/golden.hpp"
#include "unit/report_fixture.hpp"
#include "unit/support.hpp"
#include "words/run.hpp"

namespace xferbench::test {
namespace {

/// Copies from GPU to GPU at several sizes, and the latency of reads.
const ScenarioDescriptor& pair_descriptor() {
  using enum MetricDeclaration::Format;
  using enum MetricDeclaration::Companion;
  static const ScenarioDescriptor pair{
      .name = "pair",
      .summary = "copies between GPUs",
      .axes = {gpus_axis("from", {}, {}), gpus_axis("to", {}, {}), choice_axis("op", {"copy", "latency"}, {}),
               size_axis("size", {})},
      .metrics = {xferbench::measured("copy", "a copy").as_headline().column("time", {interval}),
                  derived("bandwidth", "GB/s", Better::higher, "payload over time").column("GB/s"),
                  derived_time("latency", "one read").column("latency")},
      .heat_maps = {{.rows = "from", .columns = "to", .metric = "bandwidth", .at_largest = "size"},
                    {.rows = "from", .columns = "to", .metric = "latency"}},
      .gpus = UsesGpus::several};
  return pair;
}

Result copied(int from, int to, std::uint64_t size, double rate) {
  const ScenarioDescriptor& pair = pair_descriptor();
  Case c(pair.name);
  c.set(pair.axes[0], std::to_string(from));
  c.set(pair.axes[1], std::to_string(to));
  c.set(pair.axes[2], std::string(size == 0 ? "latency" : "copy"));
  if (size > 0) c.set(pair.axes[3], size);
  Result r(c);
  r.gpus = {from, to};
  const double time = size == 0 ? rate : static_cast<double>(size) / rate * 1e-9;
  r.measurements = {measured("copy", Clock::event_gated, {time, time, time}, time, {0.999 * time, 1.001 * time})};
  if (size == 0) r.add("latency", rate, "s");
  if (size > 0) r.add("bandwidth", rate, "GB/s");
  return r;
}

/// All ordered pairs of `gpus` GPUs, at two sizes, and their latencies. Larger ids may come first.
Report all_pairs(int gpus) {
  Report report = real_report();
  for (int i = 0; i < gpus; ++i) {
    report.environment.gpus.push_back(report.environment.gpu);
    report.environment.gpus.back().index = i;
    report.environment.gpus.back().numa_node = i * 2 / gpus;
  }
  for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{4096}, std::uint64_t{1} << 28}) {
    for (int from = gpus - 1; from >= 0; --from) {
      for (int to = 0; to < gpus; ++to) {
        if (from == to) continue;
        const double rate = size == 0 ? (828 + from) * 1e-9 : size == 4096 ? 1.25 : 390.25 + 0.5 * from + to;
        report.results.push_back(copied(from, to, size, rate));
        report.environment.links.push_back({.from = from, .to = to, .access = true, .nvlinks = 18});
      }
    }
  }
  return report;
}

/// Sets the rate of one pair at the largest size.
void set_rate(Report& report, int from, int to, double rate) {
  for (Result& r : report.results) {
    const bool is_it = r.config.word("from") == std::to_string(from) && r.config.word("to") == std::to_string(to);
    if (is_it && r.config.count_or("size", 0) == 1U << 28) r = copied(from, to, 1U << 28, rate);
  }
}

std::string pairs_table(const Report& report, const Style& style = {}) {
  const std::array shown{&pair_descriptor()};
  return to_terminal(document_of(report, shown, {.every_row = style.every_row}), style);
}

std::string pairs_markdown(const Report& report) {
  const std::array shown{&pair_descriptor()};
  return to_markdown(document_of(report, shown));
}

std::string from_map_on(const std::string& text) { return text.substr(text.find("\n  bandwidth, GB/s")); }

TEST(SeveralGpus, AreMatricesOfTheLargestSize) {
  const Report report = all_pairs(2);
  expect_golden("gpus/two.txt", pairs_table(report));
  expect_golden("gpus/two.md", pairs_markdown(report));
}

TEST(SeveralGpus, AreInTheOrderOfTheirNumbers) {
  const std::string text = from_map_on(pairs_table(all_pairs(12)));
  EXPECT_LT(text.find("to GPU 2 "), text.find("to GPU 10")) << text;
  EXPECT_LT(text.find("from GPU 2"), text.find("from GPU 10")) << text;
}

TEST(SeveralGpus, DifferFromTheirLike) {
  Report report = all_pairs(4);
  EXPECT_FALSE(contains(pairs_table(report), "*"));
  set_rate(report, 3, 1, 200.5);
  expect_golden("gpus/odd.txt", from_map_on(pairs_table(report)));
  EXPECT_TRUE(contains(pairs_markdown(report), "*200.5"));
}

TEST(SeveralGpus, AreAlikeWhereTheyAreJoinedInOneWay) {
  Report report = all_pairs(4);
  for (const auto& [from, to] : {std::pair{0, 1}, {1, 0}, {2, 3}, {3, 2}}) set_rate(report, from, to, 55);
  const std::string text = pairs_table(report);
  EXPECT_FALSE(contains(text, "*")) << "those on one node are slower, all of them: " << text;
  set_rate(report, 0, 1, 40);
  EXPECT_TRUE(contains(pairs_table(report), "*40.00"));
  EXPECT_TRUE(contains(pairs_table(report), "of its group of 4 cells"));
}

TEST(SeveralGpus, FitIntoNarrowTerminals) {
  Report report = all_pairs(8);
  set_rate(report, 3, 1, 200.5);
  const std::string text = pairs_table(report, {.color = false, .columns = 80});
  EXPECT_TRUE(contains(text, "from GPU 7") && contains(text, "to GPU 7")) << text;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
}

TEST(SeveralGpus, HaveADashWhereACaseFailed) {
  Report report = all_pairs(2);
  report.results.back().status = Status::failed;
  report.results.back().reason = "wrong byte";
  const std::string text = from_map_on(pairs_table(report));
  EXPECT_TRUE(contains(text, "from GPU 0         -         -\n")) << text;
}

TEST(SeveralGpus, AreNotSaidTwiceWhereTheyAreMany) {
  const auto rows_of = [](const std::string& text) {
    std::size_t rows = 0;
    std::istringstream lines(text.substr(0, text.find("\n  bandwidth, GB/s")));
    for (std::string line; std::getline(lines, line);) rows += contains(line, "MiB") || contains(line, "KiB") ? 1 : 0;
    return rows;
  };
  EXPECT_FALSE(contains(pairs_table(all_pairs(3)), "left out")) << "18 rows are few";
  Report report = all_pairs(8);
  const std::string text = pairs_table(report);
  EXPECT_EQ(rows_of(text), 56U) << "those of the smaller size are in no matrix: " << text;
  EXPECT_TRUE(contains(text, "\n  112 rows not shown because the matrices have them; --wide shows them\n")) << text;
  EXPECT_TRUE(contains(text, "\n  latency, ns")) << text;
  const std::string all = pairs_table(report, {.every_row = true});
  EXPECT_EQ(rows_of(all), 112U) << "of two sizes, beside latencies";
  EXPECT_FALSE(contains(all, "left out")) << all;
  EXPECT_FALSE(contains(pairs_markdown(report), "left out"));
  Result& failed = report.results.back();
  failed.status = Status::failed;
  failed.reason = "wrong byte";
  report.results[1].status = Status::skipped;
  report.results[1].reason = "no way";
  const std::string doubtful = pairs_table(report);
  EXPECT_TRUE(contains(doubtful, "FAILED: wrong byte") && contains(doubtful, "skipped: no way")) << doubtful;
  EXPECT_TRUE(contains(doubtful, "\n  110 rows not shown")) << doubtful;
}

TEST(SeveralGpus, HaveSoManyMatricesAndANoteOfTheRest) {
  ScenarioDescriptor all_sizes = pair_descriptor();
  all_sizes.heat_maps = {{.rows = "from", .columns = "to", .metric = "bandwidth"}};
  Report report = all_pairs(2);
  report.results.clear();
  for (std::uint64_t size = 4096; size < 4096U << 14; size *= 2) {
    for (const int from : {0, 1}) report.results.push_back(copied(from, 1 - from, size, 390));
  }
  const std::array shown{&all_sizes};
  EXPECT_TRUE(contains(to_terminal(document_of(report, shown, {.every_row = false}), Style{}),
                       "\n  2 more heat maps not shown\n"));
  EXPECT_TRUE(contains(to_markdown(document_of(report, shown)), "\n- 2 more heat maps not shown\n"));
}

// --- Findings about pairs -------------------------------------------------------------------------------------------

Finding shared(int a, int b, double ratio, const std::string& pattern) {
  Finding f{.scenario = "pair",
            .kind = "shares",
            .labels = {{"pattern", pattern}, {"a", std::to_string(a)}, {"b", std::to_string(b)}},
            .metrics = {{"together_over_alone", ratio, "1"}, {"together_over_alone_low", ratio - 0.01, "1"}}};
  f.labels.emplace_back("outcome", ratio < 0.9 ? "shared" : "not shared");
  return f;
}

/// Three GPUs, of which 0 and 1 share a bottleneck.
Report pairs_report() {
  Report report = all_pairs(3);
  for (const char* pattern : {"h2d", "both"}) {
    for (const auto& [a, b] : {std::pair{0, 1}, {2, 0}, {1, 2}}) {
      report.findings.push_back(shared(a, b, a == 0 && b == 1 ? 0.667 : 0.998, pattern));
    }
  }
  return report;
}

TEST(SeveralGpus, HaveFindingsAboutPairsAsMatrices) {
  Report report = pairs_report();
  report.findings.push_back({.scenario = "pair", .kind = "bottleneck", .text = "0 and 1 share a bottleneck"});
  const std::string text = pairs_table(report);
  expect_golden("gpus/pairs.txt", text.substr(text.find("\n  Pairs of GPUs at the same time")));
  EXPECT_TRUE(contains(pairs_markdown(report), "\n| GPU 0 | - | 0.67 | 1.00 |\n"));
}

TEST(SeveralGpus, HaveMatricesOfFindingsThatAreSentencesAndDetails) {
  Report report = pairs_report();
  const std::string without = pairs_table(report);
  for (Finding& f : report.findings) {
    f.text = "a sentence";
    f.detail = true;
  }
  const std::string with = pairs_table(report);
  EXPECT_TRUE(with.starts_with(without)) << with;
  EXPECT_TRUE(contains(with, "6 more findings: --details shows them")) << with;
}

TEST(SeveralGpus, HaveAllTheirPairsShown) {
  Report report = all_pairs(8);
  for (int a = 0; a < 8; ++a) {
    for (int b = a + 1; b < 8; ++b) report.findings.push_back(shared(a, b, 0.5, "both"));
  }
  const std::string text = pairs_table(report);
  EXPECT_FALSE(contains(text, "--details")) << text;
  EXPECT_TRUE(contains(text, "GPU 7")) << text;
}

// --- Numbers per GPU ------------------------------------------------------------------------------------------------

const ScenarioDescriptor& group_descriptor() {
  static const ScenarioDescriptor group{
      .name = "group",
      .summary = "all at once",
      .axes = {gpus_axis("group", {}, {}), choice_axis("pattern", {"h2d", "both"}, {})},
      .metrics = {xferbench::measured("makespan", "all").as_headline().column("time"),
                  derived("bandwidth", "GB/s", Better::higher, "all bytes over the makespan").column("GB/s"),
                  xferbench::measured("end", "until a GPU is done").column("end"),
                  derived("gpu_bandwidth", "GB/s", Better::higher, "of one GPU").column("GB/s of each"),
                  derived("gpu_bytes", "B", Better::neither, "of one GPU")}};
  return group;
}

Result grouped(const std::vector<int>& gpus, const std::string& pattern, double rate) {
  const ScenarioDescriptor& group = group_descriptor();
  Case c(group.name);
  c.set(group.axes[0], gpus_text(gpus));
  c.set(group.axes[1], pattern);
  Result r(c);
  r.gpus = gpus;
  r.measurements = {measured("makespan", Clock::event_gated, {0.005}, 0.005, {0.005, 0.005})};
  r.add("bandwidth", rate * static_cast<double>(gpus.size()), "GB/s");
  for (const int gpu : gpus) {
    r.measurements.push_back(measured("end", Clock::event, {0.004}, 0.004 + 1e-4 * gpu, {0.004, 0.005}));
    r.measurements.back().gpu = gpu;
    r.add("gpu_bandwidth", rate + 0.5 * gpu, "GB/s", gpu);
    r.add("gpu_bytes", 1e9, "B", gpu);
  }
  return r;
}

Report groups_report(int gpus) {
  Report report = real_report();
  std::vector<int> all;
  for (int i = 0; i < gpus; ++i) {
    all.push_back(i);
    report.results.push_back(grouped({i}, "h2d", 55.25));
  }
  report.results.push_back(grouped(all, "h2d", 54));
  report.results.push_back(grouped(all, "both", 31.5));
  return report;
}

std::string groups_table(const Report& report, std::size_t columns = 0) {
  const std::array shown{&group_descriptor()};
  return to_terminal(document_of(report, shown, {.every_row = false}), Style{.color = false, .columns = columns});
}

TEST(SeveralGpus, HaveAColumnEach) {
  const std::array shown{&group_descriptor()};
  expect_golden("gpus/groups.txt", groups_table(groups_report(2)));
  EXPECT_TRUE(contains(to_markdown(document_of(groups_report(2), shown)), "\n| 1 | h2d | | 4.100 ms |\n"));
}

TEST(SeveralGpus, HaveColumnsBeneathEachOtherWhereTheTerminalIsNarrow) {
  const std::string text = groups_table(groups_report(8), 60);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 60U) << line;
  for (int gpu = 0; gpu < 8; ++gpu) EXPECT_TRUE(contains(text, fmt::format("GPU {}", gpu)));
}

TEST(SeveralGpus, AreNamedBesideWhatIsTheirs) {
  Report report = real_report();
  report.results = {grouped({0, 3}, "h2d", 54)};
  const std::string text = groups_table(report);
  EXPECT_TRUE(contains(text, "  end, GPU 3 ")) << text;
}

TEST(SeveralGpus, AreNotSpokenOfWhereThereIsOne) {
  Report report = real_report();
  Result one = grouped({0}, "h2d", 55);
  std::erase_if(one.measurements, [](const Measurement& m) { return m.gpu.has_value(); });
  std::erase_if(one.metrics, [](const Metric& m) { return m.gpu.has_value(); });
  report.results = {one};
  EXPECT_FALSE(contains(groups_table(report), "GPU by GPU"));
}

TEST(SeveralGpus, HaveRowsOfTheirOwnInCsv) {
  Report report = real_report();
  report.results = {grouped({0, 3}, "h2d", 54)};
  const std::array shown{&group_descriptor()};
  const std::string csv = to_csv(report, shown);
  EXPECT_TRUE(contains(csv, ",metric,gpu_bandwidth,GB/s,55.5,,,,,,,,,,,3,")) << csv;
  EXPECT_TRUE(contains(csv, ",measurement,end,s,0.0043,")) << csv;
}

}  // namespace
}  // namespace xferbench::test
