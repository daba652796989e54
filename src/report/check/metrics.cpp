#include <algorithm>
#include <iterator>

#include "core/lists.hpp"
#include "core/printable.hpp"
#include "report/check/check_report.hpp"
#include "report/openmetrics/openmetrics.hpp"
#include "results/utc.hpp"

namespace xferbench {

namespace {

using check::Checked;
using openmetrics::Family;

void add_margins(Family& margins, const Checked& checked) {
  const std::vector<std::string> names =
      made_distinct(list_of(checked.rows, [](const check::Row& row) { return printable(row.name); }));
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!checked.rows[i].margin) continue;
    margins.samples.push_back(
        {.labels = {{"results", checked.results}, {"expectation", names[i]}}, .value = *checked.rows[i].margin});
  }
}

}  // namespace

std::string to_check_openmetrics(AllChecked all) {
  Family info{.name = "xferbench_check_results", .type = openmetrics::Type::info, .help = "A checked results file."};
  Family passes{.name = "xferbench_check_passes",
                .help = "1 if all expectations of the file hold (exit code 0), else 0."};
  Family complete{.name = "xferbench_check_complete", .help = "1 if the run of the file is complete, else 0."};
  Family verdicts{.name = "xferbench_check_expectations", .help = "Number of expectations with this verdict."};
  Family margins{.name = "xferbench_check_margin",
                 .unit = "ratio",
                 .help = "Distance of the number from its limit, as a share of the limit; below 0: outside."};
  Family measured{.name = "xferbench_check_measured_timestamp", .unit = "seconds", .help = "Start of the run."};
  std::map<std::string, const Checked*> files;  // key: file name; if a file was given twice, its first check counts
  for (const Checked& checked : all) files.emplace(checked.results, &checked);
  for (const auto& [results, checked] : files) {
    const std::vector<std::pair<std::string, std::string>> of{{"results", results}};
    openmetrics::Labels labels{{"results", results}, {"expectations", checked->expectations}, {"gpu", checked->gpu}};
    std::ranges::move(openmetrics::labels_of(trust_of({checked, 1})), std::back_inserter(labels));
    info.samples.push_back({.labels = std::move(labels), .value = 1});
    passes.samples.push_back({.labels = of, .value = checked->all_hold() ? 1.0 : 0.0});
    complete.samples.push_back({.labels = of, .value = checked->complete ? 1.0 : 0.0});
    for (const std::string_view verdict : texts_of(check::Verdict{})) {
      const auto count =
          std::ranges::count_if(checked->rows, [&](const check::Row& row) { return to_text(row.verdict) == verdict; });
      verdicts.samples.push_back(
          {.labels = {{"results", results}, {"verdict", std::string(verdict)}}, .value = static_cast<double>(count)});
    }
    add_margins(margins, *checked);
    if (const auto moment = parse_utc(checked->started_at)) {
      measured.samples.push_back({.labels = of, .value = static_cast<double>(*moment)});
    }
  }
  return openmetrics::to_text({info, passes, complete, verdicts, margins, measured});
}

}  // namespace xferbench
