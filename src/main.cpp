// Parse, perform, and turn what went wrong into one line and an exit code.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "app/check.hpp"
#include "app/commands.hpp"
#include "app/compare.hpp"
#include "app/tune.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"
#include "scenarios/scenarios.hpp"

namespace xferbench {

namespace {

int perform(const cli::Command& command, const std::vector<std::string>& arguments) {
  switch (command.action) {
    case cli::Action::run: return app::run(command, arguments);
    case cli::Action::dry_run: return app::dry_run(command);
    case cli::Action::tune: return app::tune(command, arguments);
    case cli::Action::dry_tune: return app::dry_tune(command);
    case cli::Action::compare: return app::compare(command.compare);
    case cli::Action::list: return app::list(command);
    case cli::Action::info: return app::info(command);
    case cli::Action::help: return app::help(command);
    case cli::Action::version: return app::version();
    case cli::Action::completion: return app::completion(command);
    case cli::Action::man: return app::man();
    case cli::Action::check: return app::check(command);
  }
  return 0;
}

int complain(const char* what, ExitCode code) {
  fmt::print(stderr, "xferbench: {}\n", printable(what));
  return static_cast<int>(code);
}

}  // namespace

}  // namespace xferbench

int main(int argc, char** argv) {
  using namespace xferbench;
  try {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    return perform(cli::parse(arguments, scenarios()), arguments);
  } catch (const UsageError& error) {
    return complain(error.what(), ExitCode::usage);
  } catch (const InputError& error) {
    return complain(error.what(), ExitCode::usage);
  } catch (const OutputError& error) {
    return complain(error.what(), ExitCode::usage);
  } catch (const NoDeviceError& error) {
    return complain(error.what(), ExitCode::no_device);
  } catch (const std::exception& error) {
    return complain(error.what(), ExitCode::failed);
  }
}
