// What tables say of a report, before it is drawn for a terminal or as Markdown. Pure functions from records to cells.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/scenario_descriptor.hpp"
#include "report/grid.hpp"
#include "report/run/heatmap.hpp"
#include "report/run/matrix.hpp"
#include "report/run/run_report.hpp"
#include "results/result.hpp"

namespace xferbench {

/// Which rows a section's first table has.
enum class RowsShown {
  all,
  not_in_matrices,  ///< where there are many, those whose numbers matrices from GPU to GPU show are left out, and of
                    ///< the others those after the first thousand
};

/// The results of one scenario.
struct Section {
  const ScenarioDescriptor* scenario = nullptr;            ///< outlives the section
  std::vector<const Result*> results;                      ///< into the report
  std::vector<std::pair<std::string, std::string>> fixed;  ///< axes with one value: {"size", "1 MiB"}
  std::optional<int> on_gpu;                               ///< the one that it is about, where the run has others
  Grid headline;                     ///< the other axes, and the scenario's columns that say something
  std::vector<std::string> skipped;  ///< for each reason of several cases that were, which are left out of it, a line
  std::size_t in_matrices = 0;       ///< rows left out of it, as matrices show them
  std::size_t too_many = 0;          ///< and rows left out behind it, as nobody would read them all
  std::size_t not_begun = 0;         ///< cases left out of it, to which an interrupted run never came
  Grid measurements;  ///< of the one result, where there is a single one: what the headline was made from; else empty
  std::vector<std::pair<std::string, Grid>> by_gpu;  ///< numbers of single GPUs, a column for each; by what they are
  HeatMaps maps;
  std::vector<std::pair<std::string, Grid>> findings;  ///< by kind
  std::vector<Matrix> pairs;                           ///< findings about two GPUs each
  std::vector<std::string> sentences;                  ///< findings that are text
  std::size_t more = 0;                                ///< findings that are not shown
};

/// One section for each scenario that has results. The report must outlive them.
std::vector<Section> sections_of(const Report& report, Descriptors scenarios, FindingsShown which, RowsShown rows);

/// "61 more findings: --all-findings shows them"; empty where all are shown.
std::string more_line(const Section& section);

/// "SIMULATED by profile h200: modelled times, not measurements of this machine"; empty for a real run.
std::string simulated_line(const Environment& environment);

/// What is said above all results that are not what they might be taken for: simulated, not verified, of a device
/// that was given a fault.
std::vector<std::string> alarms(const Report& report);
std::vector<std::string> alarms(const Environment& environment, bool verified = true);
/// The same beside the name of each scenario: "SIMULATED", "NOT VERIFIED".
std::vector<std::string> marks(const Report& report);

}  // namespace xferbench
