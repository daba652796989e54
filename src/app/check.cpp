#include "app/check.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "app/data_files.hpp"
#include "app/session.hpp"
#include "check/check.hpp"
#include "core/error.hpp"
#include "report/check_report.hpp"
#include "report/output.hpp"

namespace xferbench::app {

namespace {

/// Writes a file if it was asked for. True if it was standard output.
bool write(const std::optional<std::string>& path, const std::string& text) {
  if (!path) return false;
  const ResultsFile file(*path);
  file.finish(text);
  return file.is_standard_output();
}

}  // namespace

int check(const cli::Command& command) {
  const std::string expectations = find_data("expectations", command.expect).string();
  const check::Checked checked = check::check(read_report(command.results), command.results,
                                              check::read_expectations(expectations), command.allow_simulated);
  if (!checked.complete && !command.quiet) {
    fmt::print(stderr, "xferbench: warning: {}: the run has not come to its end\n", command.results);
  }
  const bool json = write(command.json, to_check_json(checked));
  const bool markdown = write(command.markdown, to_check_markdown(checked));
  if (!json && !markdown) write_standard_output(to_check_table(checked, style_of(command)));
  return static_cast<int>(checked.all_hold() ? ExitCode::ok : ExitCode::failed);
}

}  // namespace xferbench::app
