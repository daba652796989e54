#include "app/check.hpp"

#include <array>
#include <optional>
#include <string>

#include "app/data_files.hpp"
#include "app/files.hpp"
#include "app/session.hpp"
#include "check/check.hpp"
#include "core/error.hpp"
#include "report/check/check_report.hpp"
#include "results/json.hpp"
#include "results/output_file.hpp"

namespace xferbench::app {

namespace {

/// The file, if one was asked for.
std::optional<ResultsFile> opened(const std::optional<std::string>& path) {
  return path ? std::optional(ResultsFile(*path)) : std::nullopt;
}

/// True if the file is standard output.
bool write(const std::optional<ResultsFile>& file, const std::string& text) {
  if (!file) return false;
  file->finish(text);
  return file->is_standard_output();
}

}  // namespace

int check(const cli::CheckCommand& command) {
  const std::string expectations = find_data("expectations", command.expect).string();
  refuse_to_overwrite(std::array{command.results, expectations},
                      std::array{AskedFile{"json", command.files.json}, AskedFile{"markdown", command.files.markdown}});
  const std::optional<ResultsFile> json = opened(command.files.json);
  const std::optional<ResultsFile> markdown = opened(command.files.markdown);
  if (json && markdown)
    cli::refuse_shared_files(
        std::array{cli::NamedFile{"json", json->target()}, cli::NamedFile{"markdown", markdown->target()}});
  const check::Checked checked = check::check(read_report(command.results), command.results,
                                              check::read_expectations(expectations), command.allow_simulated);
  const bool json_shown = write(json, to_check_json(checked));
  const bool markdown_shown = write(markdown, to_check_markdown(checked));
  if (!json_shown && !markdown_shown) write_standard_output(to_check_table(checked, style_of(command.show)));
  return static_cast<int>(checked.all_hold() ? ExitCode::ok : ExitCode::failed);
}

}  // namespace xferbench::app
