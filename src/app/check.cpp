#include <array>
#include <string>

#include "app/commands.hpp"
#include "app/data_files.hpp"
#include "app/files.hpp"
#include "app/session.hpp"
#include "check/check.hpp"
#include "core/error.hpp"
#include "report/check/check_report.hpp"
#include "results/json.hpp"

namespace xferbench::app {

int perform(const cli::CheckCommand& command) {
  const std::string expectations = find_data("expectations", command.expect).string();
  JudgementFiles files(command.files, std::array{command.results, expectations});
  const check::Checked checked = check::check(read_report(command.results), command.results,
                                              check::read_expectations(expectations), command.allow_simulated);
  files.write([&] { return to_check_json(checked); }, [&] { return to_check_markdown(checked); },
              [&] { return to_check_table(checked, style_of(command.show)); });
  return static_cast<int>(checked.all_hold() ? ExitCode::ok : ExitCode::failed);
}

}  // namespace xferbench::app
