// Command `expect`: derives limits from runs that are known to be good.
#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

#include "app/commands.hpp"
#include "app/files.hpp"
#include "app/session.hpp"
#include "check/derive.hpp"
#include "core/shell.hpp"
#include "core/standard_error.hpp"
#include "core/units.hpp"
#include "report/check/check_report.hpp"
#include "results/output_file.hpp"

namespace xferbench::app {

namespace {

std::string output_text(const check::Derived& derived, const std::string& output) {
  const std::size_t limits = derived.expectations.all.size();
  const std::string file = output == "-" ? "mine.json" : shell_word(output);
  const std::string least = format_percent(derived.least_margin);
  const std::string most = format_percent(derived.most_margin);
  return fmt::format(
      "{} limit{}, {} beyond the worst of these runs; check results with xferbench check new.json --expect {}", limits,
      limits == 1 ? "" : "s", least == most ? least : least + " to " + most, file);
}

}  // namespace

int perform(const cli::ExpectCommand& command) {
  refuse_same_twice(command.good);
  refuse_to_overwrite(command.good, std::array{cli::NamedFile{"output", command.output}});
  // The user may have edited the limits by hand, so a previous file is kept as a backup.
  ResultsFile output(command.output, Previous::kept);
  const std::vector<NamedReport> runs = by_process(read_reports(command.good));
  check::DeriveOptions options{.allow_simulated = command.allow_simulated,
                               .allow_doubtful = command.allow_doubtful,
                               .assumed_spread = command.assumed_spread,
                               .metrics_declared = declared_by(descriptors())};
  const check::Derived derived = check::derive(runs, options);
  output.finish(to_expect_json(derived.expectations));
  if (command.show.quiet) return 0;
  for (const std::string& warning : derived.warnings) tell("warning: " + warning);
  tell(output_text(derived, command.output));
  return 0;
}

}  // namespace xferbench::app
