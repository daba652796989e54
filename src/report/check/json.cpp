#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "core/lists.hpp"
#include "report/check/check_report.hpp"
#include "results/json_shape.hpp"

/// A namespace of its own, because results use the same names.
namespace xferbench::check_json {

namespace {

using namespace json;
using check::Checked;
using check::Row;
using enum Rule;

constexpr std::string_view kVersion1 = "xferbench-check/1";

constexpr std::array kNumberFields{
    field<&Metric::value, kNumber>("value"),
    field<&Metric::unit, kText>("unit", "As results have it: s, GB/s, 1 for ratios."),
};
constexpr Shape kMetric = named("number", record(kNumberFields));

/// A row of a check, and the results file that it is about.
struct Check {
  const Row* row = nullptr;
  std::string results;
};

/// A field of the check's row.
template <auto member, const Shape& shape = usual_shape<decltype(value_of(member))>()>
constexpr Field of_row(std::string_view name, Rule rule = required, std::string_view help = {}) {
  Field of_row = field<member, shape>(name, rule, help);
  of_row.from = [](const void* check, bool always) { return from(as<Check>(check).row->*member, always); };
  return of_row;
}

constexpr std::array kCheckFields{
    of_row<&Row::name, kText>("name"),
    of_row<&Row::expected, kText>("expected", required, "The limits in words: at least 52 GB/s."),
    of_row<&Row::verdict>("verdict", required, "no case: one should have the number. not measured: none has to."),
    of_row<&Row::cases>("cases", required, "That were looked at."),
    of_row<&Row::found, kMetric>("found", if_known, "Of the case that decides, or the median of all."),
    of_row<&Row::shown>("shown", if_known, "In the unit of the limit: 55.03 GB/s, 95.51 % (55.03 GB/s)."),
    of_row<&Row::limit, kMetric>("nearest_limit", if_known, "Of two the nearer; a share as an amount."),
    of_row<&Row::margin, kNumber>("margin", if_known, "Share of the limit by which it is inside; below 0: outside."),
    of_row<&Row::key>("case", if_known, "That decides, of fleets with pace and rank."),
    of_row<&Row::place>("place", if_known, "Of fleets, where that was measured: for people."),
    of_row<&Row::note>("note", if_known, "Why there is no number."),
    of_row<&Row::command>("command", if_known, "What would measure it, where no case matches."),
    field<&Check::results, kText>("results", "The file that it is about."),
};
constexpr Shape kCheck = record(kCheckFields);

/// Facts about one file, or about all files together.
struct Said {
  std::string results;
  std::string gpu;
  std::string started_at{};
  bool simulated = false;
  bool complete = true;
  bool verified = true;
  bool all_hold = true;
  std::string note{};
  std::string injected_fault{};
};
struct All {
  Said said;
  std::string expectations;
  std::vector<Check> checks{};
  std::vector<Said> files{};
};

constexpr std::array kFileFields{
    field<&Said::results, kText>("results"),
    field<&Said::gpu, kText>("gpu"),
    field<&Said::started_at, kText>("started_at"),
    field<&Said::simulated>("simulated"),
    field<&Said::complete>("complete"),
    field<&Said::verified>("verified"),
    field<&Said::all_hold>("all_hold"),
    field<&Said::note>("note", if_known),
    field<&Said::injected_fault>("injected_fault", if_known, "Given on purpose: no measurements."),
};
constexpr Shape kFile = record(kFileFields);

/// A field of All::said.
template <auto member, const Shape& shape = usual_shape<decltype(value_of(member))>()>
constexpr Field of_all(std::string_view name, Rule rule, std::string_view help) {
  Field of_all = field<member, shape>(name, rule, help);
  of_all.from = [](const void* all, bool always) { return from(as<All>(all).said.*member, always); };
  return of_all;
}

constexpr std::array kAllFields{
    part("schema", kSchema<kVersion1>),
    of_all<&Said::results, kText>("results", required, "The results file; of several their names, joined by commas."),
    field<&All::expectations, kText>("expectations", "The file of expectations."),
    of_all<&Said::gpu, kText>("gpu", required, "The GPU's name; of several files each name once, joined by commas."),
    of_all<&Said::simulated>("simulated", required, "Whether any file is simulated."),
    of_all<&Said::complete>("complete", required, "Whether every file is of a run that came to its end."),
    of_all<&Said::verified>("verified", required, "Whether no file is of a run with --no-verify."),
    of_all<&Said::all_hold>("all_hold", required, "Whether every file passes: exit code 0."),
    field<&All::checks, kListOf<Check, kCheck>>("checks", "One for each expectation, file after file."),
    of_all<&Said::note>("note", if_known, "Of the first file that is not complete: the command that goes on with it."),
    field<&All::files, kListOf<Said, kFile>>("files", "One for each results file, in the order given."),
};
constexpr Shape kAll = on_many_lines(record(kAllFields,
                                            "What xferbench check --json writes, version 1. Fields are added, never "
                                            "renamed or removed. What is unknown is absent."));

Said said_of(const Checked& checked) {
  return {.results = checked.results,
          .gpu = checked.gpu,
          .started_at = checked.started_at,
          .simulated = !checked.simulated.empty(),
          .complete = checked.complete,
          .verified = checked.verified,
          .all_hold = checked.all_hold(),
          .note = incomplete(checked),
          .injected_fault = checked.injected_fault};
}

/// Distinct values, in order.
std::string joined(AllChecked all, std::string Checked::*text) {
  std::vector<std::string> texts;
  for (const Checked& checked : all) add_new(texts, checked.*text);
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace

}  // namespace xferbench::check_json

namespace xferbench {

std::string to_check_json(AllChecked checked) {
  using namespace check_json;
  All all{.said = {.results = joined(checked, &Checked::results), .gpu = joined(checked, &Checked::gpu)},
          .expectations = checked.front().expectations};
  for (const Checked& one : checked) {
    for (const Row& row : one.rows) all.checks.push_back({&row, one.results});
    const Said& said = all.files.emplace_back(said_of(one));
    all.said.simulated |= said.simulated;
    all.said.complete &= said.complete;
    all.said.verified &= said.verified;
    all.said.all_hold &= said.all_hold;
    if (all.said.note.empty()) all.said.note = said.note;
  }
  return json::text_of(kAll, &all);
}

std::string check_schema() { return json::schema_of(check_json::kAll); }

}  // namespace xferbench
