// Published names, which docs/stability.md promises to keep. The tests collect them from their declarations and compare
// them with tests/published/names.txt.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check/check.hpp"
#include "cli/command.hpp"
#include "compare/compare.hpp"
#include "report/check/check_report.hpp"
#include "report/run/run_report.hpp"
#include "report/soak/soak_report.hpp"
#include "scenarios/scenarios.hpp"
#include "support/files.hpp"

namespace xferbench::published {
namespace {

namespace fs = std::filesystem;

using Names = std::set<std::string>;

const fs::path& root() {
  static const fs::path folder = XFERBENCH_SOURCE_DIR;
  return folder;
}

Names lines_of(const std::string& text) {
  Names lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && !line.starts_with('#')) lines.insert(line);
  }
  return lines;
}

/// All matches of the expression's first group in the text.
Names found_in(const std::string& text, const std::regex& expression) {
  Names found;
  for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at) found.insert((*at)[1]);
  return found;
}

// --- Collecting the names -------------------------------------------------------------------------------------------

std::vector<const ScenarioDescriptor*> all_scenarios() {
  std::vector<const ScenarioDescriptor*> all;
  for (const Scenario* scenario : scenarios()) all.push_back(&scenario->descriptor());
  return all;
}

void add_scenarios(Names& names) {
  for (const ScenarioDescriptor* scenario : all_scenarios()) {
    for (const Axis& axis : scenario->axes) {
      names.insert("axis " + scenario->name + " " + axis.name);
      for (const std::string& word : axis.choices)
        names.insert("word " + scenario->name + " " + axis.name + " " + word);
    }
    for (const MetricDeclaration& m : scenario->metrics) {
      names.insert(std::string(to_text(m.kind)) + " " + scenario->name + " " + m.name +
                   (m.unit.empty() ? "" : " in " + m.unit) + (m.headline ? ", a headline" : ""));
    }
  }
}

/// What shell completion offers; hidden flags are not published.
Names offered(const std::vector<std::string>& words) {
  return lines_of(cli::complete(words, scenarios(), {.expectations = {}, .suites = {}}));
}

void add_flags(Names& names) {
  Names scenario_names;
  for (const ScenarioDescriptor* scenario : all_scenarios()) scenario_names.insert(scenario->name);
  for (const std::string& flag : offered({"--"})) names.insert("flag of a run " + flag);
  for (const std::string& command : offered({""})) {
    if (command.starts_with("-") || command.starts_with(":")) continue;
    names.insert((scenario_names.contains(command) ? "scenario " : "command ") + command);
    if (scenario_names.contains(command)) continue;  // its flags are listed as axes
    for (const std::string& flag : offered({command, "--"})) {
      if (flag.starts_with("--")) names.insert("flag of " + command + " " + flag);
    }
  }
}

void add_exit_codes(Names& names) {
  using enum ExitCode;
  for (const auto& [code, name] : {std::pair{ok, "ok"}, std::pair{failed, "failed"}, std::pair{usage, "usage"},
                                   std::pair{no_device, "no device"}, std::pair{undecided, "undecided"},
                                   std::pair{nothing_measured, "nothing measured"}, std::pair{stuck, "stuck"}}) {
    names.insert("exit code " + std::to_string(static_cast<int>(code)) + " " + name);
  }
}

/// Adds the fields of a JSON schema at any depth.
void add_fields(const nlohmann::json& schema, const std::string& of, Names& names) {
  if (schema.is_array()) {
    for (const auto& part : schema) add_fields(part, of, names);
  }
  if (!schema.is_object()) return;
  for (const auto& [key, part] : schema.items()) {
    add_fields(part, of, names);
    if (key != "properties") continue;
    for (const auto& [field, about] : part.items()) names.insert("field of " + of + " " + field);
  }
}

/// Adds names and versions of file formats, from string literals in src/, and their fields, from the schemas in docs/.
void add_formats(Names& names) {
  static const std::regex format("\"(xferbench[a-z-]*/[0-9]+)\"");
  for (const auto& entry : fs::recursive_directory_iterator(root() / "src")) {
    if (!entry.is_regular_file()) continue;
    for (const std::string& name : found_in(test::read_file(entry.path()), format)) names.insert("format " + name);
  }
  for (const auto& entry : fs::directory_iterator(root() / "docs")) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with("-schema.json")) continue;
    add_fields(nlohmann::json::parse(test::read_file(entry.path())), name.substr(0, name.find("-schema")), names);
  }
  const std::string header = to_csv({}, all_scenarios());
  std::istringstream columns(header.substr(0, header.find('\n')));
  for (std::string column; std::getline(columns, column, ',');) names.insert("column of --csv " + column);
}

template <class Enumeration>
void add_words(Names& names, const std::string& what) {
  for (const std::string_view word : texts_of(Enumeration{})) names.insert(what + " " + std::string(word));
}

/// One case per headline, so that each metric family has a sample.
Report with_every_headline() {
  Report report;
  report.started_at = "2026-11-21T10:00:00Z";
  for (const ScenarioDescriptor* scenario : all_scenarios()) {
    for (const MetricDeclaration& declared : scenario->metrics) {
      if (!declared.headline) continue;
      Case c(scenario->name);
      c.set({.name = "of", .kind = AxisKind::text}, declared.name);
      Result result(c);
      Measurement m;
      m.name = declared.name;
      m.unit = declared.unit;
      m.samples = {1};
      m.median = 1;
      result.measurements.push_back(m);
      report.results.push_back(result);
    }
  }
  return report;
}

/// OpenMetrics text of a soak in which every value is known.
std::string soak_openmetrics() {
  SoakInterval last;
  last.gpus = {{.gpu = 0,
                .rates = {{.load = SoakLoad::h2d, .median = 1, .lowest = 1, .highest = 1, .turns = 1}},
                .health = {.link_generation = 5, .link_width = 16, .power = 1, .temperature = 1},
                .clocks = {.sm = 1, .memory = 1}}};
  last.so_far.loads = {{.gpu = 0, .load = SoakLoad::h2d, .baseline = 1}};
  last.so_far.counters = {{.gpu = 0, .ecc_corrected = 0, .ecc_uncorrected = 0, .pcie_replays = 0}};
  SoakHeader header;
  header.environment.backend = "cuda";
  return openmetrics::to_text(soak_metrics(header, last));
}

/// Every OpenMetrics text that the program can write.
std::vector<std::string> openmetrics_texts() {
  check::Checked checked;
  checked.results = "r.json";
  checked.started_at = "2026-11-21T10:00:00Z";
  checked.rows = {{.name = "a",
                   .expected = "",
                   .found = {},
                   .shown = "",
                   .limit = {},
                   .margin = 0.1,
                   .key = "",
                   .note = "",
                   .command = ""}};
  return {to_openmetrics(with_every_headline(), all_scenarios()), to_check_openmetrics(std::span(&checked, 1)),
          soak_openmetrics()};
}

void add_openmetrics(Names& names) {
  static const std::regex sample("(?:^|\n)# TYPE ([a-z0-9_]+) ");
  for (const std::string& text : openmetrics_texts()) {
    for (const std::string& name : found_in(text, sample)) names.insert("openmetrics " + name);
  }
}

Names all_names() {
  Names names;
  add_scenarios(names);
  add_flags(names);
  add_exit_codes(names);
  add_formats(names);
  add_words<Status>(names, "status of a case");
  add_words<Clock>(names, "clock");
  add_words<check::Verdict>(names, "verdict of check");
  add_words<compare::Verdict>(names, "verdict of compare");
  add_openmetrics(names);
  return names;
}

// --- Comparing with the list ----------------------------------------------------------------------------------------

Names without(const Names& all, const Names& some) {
  Names left;
  std::ranges::set_difference(all, some, std::inserter(left, left.end()));
  return left;
}

std::string joined(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += "  " + name + "\n";
  return text;
}

/// Adds new names. Names that are gone stay in the file: removing one must be a deliberate edit.
void add_to_list(const fs::path& list, const Names& known, const Names& more) {
  Names all = known;
  all.insert(more.begin(), more.end());
  std::ofstream out(list, std::ios::binary);
  out << "# Names that are published: docs/stability.md. Made by unit_tests; a line goes only by hand.\n";
  for (const std::string& name : all) out << name << "\n";
}

TEST(Published, NamesStay) {
  const fs::path list = root() / "tests" / "published" / "names.txt";
  const Names known = lines_of(test::read_file(list));
  const Names now = all_names();
  const Names gone = without(known, now);
  const Names added = without(now, known);
  EXPECT_TRUE(gone.empty()) << "Published, and not there any more:\n"
                            << joined(gone)
                            << "Scripts, stored results and dashboards of others rely on these names. Keep them; where "
                               "one has to go, docs/stability.md says how, and that is when its line in "
                            << list << " goes, too.";
  const char* update = std::getenv("XFERBENCH_UPDATE_GOLDEN");
  if (update != nullptr && std::string_view(update) == "1") return add_to_list(list, known, added);
  EXPECT_TRUE(added.empty()) << "New, and published from the next release on:\n"
                             << joined(added)
                             << "If these are the names that are to stay, run the test with XFERBENCH_UPDATE_GOLDEN=1 "
                                "and commit "
                             << list << ".";
}

// Rules of OpenMetrics: suffixes reserved for types, base units only, no reserved labels.
TEST(Published, MetricsAreWhatReadersTake) {
  for (const std::string& text : openmetrics_texts()) {
    for (const char* bad :
         {"# TYPE \\w+_(total|created|count|sum|bucket|gcount|gsum) ", "# TYPE (?![a-z][a-z0-9_]* (gauge|counter)\n)",
          "# UNIT \\w+ (?!(seconds|bytes|bytes_per_second|ratio|celsius|watts|joules|hertz|volts)\n)",
          "# UNIT \\w+_(\\w+)_\\1 ", "# HELP \\w+ *\n", "(\\{|\",)(__|le=|quantile=|[^a-z_])",
          "_total(\\{.*\\})? (-|N|\\+)"}) {
      std::smatch found;
      EXPECT_FALSE(std::regex_search(text, found, std::regex(bad))) << found.str();
    }
  }
}

TEST(Published, ListKnowsEachKindOfName) {
  const Names now = all_names();
  for (const char* name :
       {"scenario memcpy", "command check", "axis memcpy dir", "word memcpy dir h2d", "metric memcpy bandwidth in GB/s",
        "flag of a run --json", "flag of check --junit", "exit code 3 no device", "format xferbench-check/1",
        "column of --csv value", "status of a case skipped", "clock event-gated", "verdict of compare regressed",
        "openmetrics xferbench_check_margin_ratio", "openmetrics xferbench_overlap_pipeline_seconds"}) {
    EXPECT_TRUE(now.contains(name)) << name << " is not in\n" << joined(now);
  }
}

}  // namespace
}  // namespace xferbench::published
