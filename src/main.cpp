// Parse, perform, and turn what went wrong into one line and an exit code.
#include <fmt/format.h>

#include <string>
#include <variant>
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

/// What each command does.
struct Perform {
  const std::vector<std::string>& arguments;
  int operator()(const cli::RunCommand& command) const { return app::run(command, arguments); }
  int operator()(const cli::TuneCommand& command) const { return app::tune(command, arguments); }
  int operator()(const cli::CompareCommand& command) const { return app::compare(command); }
  int operator()(const cli::CheckCommand& command) const { return app::check(command); }
  int operator()(const cli::ListCommand& command) const { return app::list(command); }
  int operator()(const cli::InfoCommand& command) const { return app::info(command); }
  int operator()(const cli::TextCommand& command) const { return app::show(command); }
  int operator()(const cli::VersionCommand&) const { return app::version(); }
  int operator()(const cli::CompleteCommand& command) const { return app::complete(command); }
};

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
    return std::visit(Perform{arguments}, cli::parse(arguments, scenarios()));
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
