#include "app/pooled_run.hpp"

#include <utility>

#include "app/session.hpp"
#include "app/stored_cases.hpp"
#include "core/error.hpp"
#include "run/findings.hpp"
#include "scenarios/scenarios.hpp"
#include "words/run.hpp"

namespace xferbench::app {

namespace {

Report with_axes(Report report) {
  for (Result& result : report.results) {
    const Scenario* scenario = scenario_of(result.config);
    try {
      if (scenario != nullptr) result.config = legal_case(*scenario, result.config);
    } catch (const UsageError&) {
    }
  }
  return report;
}

}  // namespace

PooledRun pooled(compare::Processes processes) {
  const std::size_t count = processes.size();
  NamedReport whole = compare::pooled_run(std::move(processes));
  PooledRun run{.name = std::move(whole.name), .report = with_axes(std::move(whole.report)), .processes = count};
  run.findings_of_first = count > 1 && !conclude_anew(scenarios(), run.report);
  return run;
}

Document document_of_pooled(const PooledRun& run, bool details, bool every_row) {
  Document document = document_of(run.report, descriptors(),
                                  {.details = details,
                                   .every_row = every_row,
                                   .processes = run.processes,
                                   .findings_of_first = run.findings_of_first});
  if (run.processes > 1) document.parts.insert(document.parts.begin(), {Sentence{.text = "medians of " + run.name}});
  return document;
}

}  // namespace xferbench::app
