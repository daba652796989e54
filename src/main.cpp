// Parses the command line, performs the command, and turns an error into one line of text and an exit code.
#include <fmt/format.h>

#include <new>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "app/commands.hpp"
#include "app/fleet/rank_session.hpp"
#include "app/process.hpp"
#include "core/error.hpp"
#include "core/standard_error.hpp"
#include "scenarios/scenarios.hpp"

namespace {

int complain(std::string_view what, xferbench::ExitCode code) noexcept {
  xferbench::tell(what);
  return static_cast<int>(code);
}

/// Prints an error in the command line. Under mpirun or srun all ranks find the same error, so only one prints it.
int complain_once(const char* what) noexcept {
  const auto launch = xferbench::app::launch_from_environment();
  if (!launch || xferbench::app::may_print(*launch)) xferbench::tell(what);
  return static_cast<int>(xferbench::ExitCode::usage);
}

/// Prints an error about a file. Under mpirun or srun every rank prints its error, with its rank and host in front,
/// because the file may be fine on other hosts.
int complain_here(const char* what) {
  const auto launch = xferbench::app::launch_from_environment();
  const bool alone = !launch || launch->size.value_or(2) == 1;
  xferbench::tell(alone ? what : fmt::format("{}: {}", xferbench::app::rank_label(*launch), what));
  return static_cast<int>(xferbench::ExitCode::usage);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace xferbench;
  const ProcessSetup process;
  try {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    return std::visit([](const auto& command) { return app::perform(command); }, cli::parse(arguments, scenarios()));
  } catch (const ClosedPipeError& error) {
    process.end_by_closed_pipe();
    return complain(error.what(), ExitCode::usage);
  } catch (const UsageError& error) {
    return complain_once(error.what());
  } catch (const InputError& error) {
    return complain_here(error.what());
  } catch (const std::bad_alloc& error) {
    return complain("out of memory", exit_code_of(error));
  } catch (const std::exception& error) {
    return complain(message_of(error), exit_code_of(error));
  }
}
