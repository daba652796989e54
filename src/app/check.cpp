// Command `check`: checks results against expectations.
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "app/commands.hpp"
#include "app/data_files.hpp"
#include "app/files.hpp"
#include "app/session.hpp"
#include "check/check.hpp"
#include "compare/processes.hpp"
#include "core/error.hpp"
#include "core/standard_error.hpp"
#include "report/annotations.hpp"
#include "report/check/check_report.hpp"
#include "results/json.hpp"
#include "words/check.hpp"

namespace xferbench::app {

int perform(const cli::CheckCommand& command) {
  refuse_same_twice(command.results);
  const std::string expected = find_data("expectations", command.expect).string();
  std::vector<std::string> inputs = command.results;
  inputs.push_back(expected);
  JudgementFiles files(command.files, inputs);
  const check::Expectations expectations = check::read_expectations(expected);
  const std::vector<const ScenarioDescriptor*> scenarios = descriptors();
  const check::Options options{.allow_simulated = command.allow_simulated, .scenarios = scenarios};
  std::vector<check::Checked> all;
  // Read and check one file at a time, so that the samples of only one file are in memory.
  for (const std::string& results : command.results) {
    xferbench::compare::Processes processes = by_process({{.name = results, .report = read_report(results)}});
    const std::size_t count = processes.size();
    const Report report = xferbench::compare::pooled_run(std::move(processes)).report;
    all.push_back(check::check(report, results, expectations, options));
    all.back().processes = count;
  }
  if (command.annotations == cli::Annotations::github) {
    for (const std::string& line : github_lines(annotations_of(all))) show_line(line);
  }
  files.write({.document = [&] { return document_of(all); },
               .style = style_of(command.show),
               .json = [&] { return to_check_json(all); },
               .junit = [&] { return to_check_junit(all); },
               .openmetrics = [&] { return to_check_openmetrics(all); }});
  return static_cast<int>(all_hold(all) ? ExitCode::ok : ExitCode::failed);
}

}  // namespace xferbench::app
