#include <fmt/ranges.h>

#include <array>

#include "core/lists.hpp"
#include "report/check/check_report.hpp"
#include "results/json_codec.hpp"

/// A namespace of its own, because the format of results uses the same names.
namespace xferbench::check_json {

namespace {

using namespace json;
using check::Checked;
using check::Row;
using enum Rule;

constexpr std::string_view kVersion1 = "xferbench-check/1";

constexpr std::array kNumberFields{
    field<&Metric::value, kNumber>("value"),
    field<&Metric::unit, kText>("unit", "Unit, as in results: s, GB/s, 1 for ratios."),
};
constexpr Codec kMetric = named("number", record(kNumberFields));

/// The result of one expectation (a row of the check), and the results file that was checked.
struct Check {
  const Row* row = nullptr;
  std::string results;
};

/// Describes a JSON field whose value is a member of Check::row.
template <auto member, const Codec& shape = default_codec<decltype(value_of(member))>()>
constexpr Field of_row(std::string_view name, Rule rule = required, std::string_view help = {}) {
  Field of_row = field<member, shape>(name, rule, help);
  of_row.from = [](const void* check, bool always) { return from(as<Check>(check).row->*member, always); };
  return of_row;
}

constexpr std::array kCheckFields{
    of_row<&Row::name, kText>("name"),
    of_row<&Row::expected, kText>("expected", required, "The limits as text, such as at least 52 GB/s."),
    of_row<&Row::verdict>("verdict", required,
                          "Verdict. no case: no case has the number, but one should. not measured: no case has the "
                          "number, and none has to."),
    of_row<&Row::cases>("cases", required, "Number of checked cases."),
    of_row<&Row::found, kMetric>("found", omit_empty, "Number of the deciding case, or the median of all cases."),
    of_row<&Row::shown>("shown", omit_empty, "The number in the unit of the limit: 55.03 GB/s, 95.51 % (55.03 GB/s)."),
    of_row<&Row::limit, kMetric>("nearest_limit", omit_empty,
                                 "The limit; the nearer one if there are two. A share is converted to an amount."),
    of_row<&Row::margin, kNumber>("margin", omit_empty,
                                  "Distance of the number from the limit, as a share of the limit; below 0: outside."),
    of_row<&Row::key>("case", omit_empty, "Key of the deciding case; for fleets with pace and rank."),
    of_row<&Row::place>("place", omit_empty, "For fleets: where it was measured, as text."),
    of_row<&Row::note>("note", omit_empty, "Why there is no number."),
    of_row<&Row::command>("command", omit_empty, "Command that measures it, if no case matches."),
    field<&Check::results, kText>("results", "Results file of this check."),
};
constexpr Codec kCheck = record(kCheckFields);

/// Facts about one file, or about all files together.
struct Said {
  std::string results;
  std::string gpu;
  std::string started_at{};
  std::size_t processes = 1;
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
    field<&Said::processes>("processes", optional, "Number of processes whose medians were checked."),
    field<&Said::simulated>("simulated"),
    field<&Said::complete>("complete"),
    field<&Said::verified>("verified"),
    field<&Said::all_hold>("all_hold"),
    field<&Said::note>("note", omit_empty),
    field<&Said::injected_fault>("injected_fault", omit_empty,
                                 "Fault injected on purpose: the numbers are not measurements."),
};
constexpr Codec kFile = record(kFileFields);

/// Describes a JSON field whose value is a member of All::said.
template <auto member, const Codec& shape = default_codec<decltype(value_of(member))>()>
constexpr Field of_all(std::string_view name, Rule rule, std::string_view help) {
  Field of_all = field<member, shape>(name, rule, help);
  of_all.from = [](const void* all, bool always) { return from(as<All>(all).said.*member, always); };
  return of_all;
}

constexpr std::array kAllFields{
    part("schema", kSchema<kVersion1>),
    of_all<&Said::results, kText>("results", required, "The results file, or several names joined by commas."),
    field<&All::expectations, kText>("expectations", "The file of expectations."),
    of_all<&Said::gpu, kText>("gpu", required,
                              "Name of the GPU; for several files, the different names joined by commas."),
    of_all<&Said::simulated>("simulated", required, "Whether any file is simulated."),
    of_all<&Said::complete>("complete", required, "Whether the run of every file is complete."),
    of_all<&Said::verified>("verified", required, "Whether no run used --no-verify."),
    of_all<&Said::all_hold>("all_hold", required, "Whether every file passes (exit code 0)."),
    field<&All::checks, kListOf<Check, kCheck>>("checks", "One entry for each expectation, file by file."),
    of_all<&Said::note>("note", omit_empty, "Command that continues the first incomplete run."),
    field<&All::files, kListOf<Said, kFile>>("files", "One entry for each results file, in the given order."),
};
constexpr Codec kAll = on_many_lines(record(kAllFields,
                                            "File that xferbench check --json writes, version 1. Fields are added, "
                                            "never renamed or removed. Unknown values are absent."));

Said said_of(const Checked& checked) {
  return {.results = checked.results,
          .gpu = checked.gpu,
          .started_at = checked.started_at,
          .processes = checked.processes,
          .simulated = !checked.simulated.empty(),
          .complete = checked.complete,
          .verified = checked.verified,
          .all_hold = checked.all_hold(),
          .note = incomplete(checked),
          .injected_fault = checked.injected_fault};
}

/// Returns the distinct values of the member `text` of all files, in order, separated by commas.
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
