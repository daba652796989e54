#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "app/calibrated.hpp"
#include "app/commands.hpp"
#include "app/explain/run_program.hpp"
#include "app/explain/temporary_folder.hpp"
#include "app/files.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"
#include "core/shell.hpp"
#include "core/standard_error.hpp"
#include "report/calibrate/calibrate_report.hpp"
#include "results/json.hpp"
#include "results/output_file.hpp"

namespace xferbench::app {

namespace {

std::vector<NamedReport> read_runs(const std::vector<std::string>& files) {
  std::vector<NamedReport> runs;
  for (const std::string& file : files) {
    runs.push_back({file == "-" ? "standard input" : printable(file), read_report(file)});
  }
  return runs;
}

/// Suite `calibrate`, in a process of its own, which shows its progress and what is wrong.
std::vector<NamedReport> measured(const cli::CalibrateCommand& command) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "calibrate.json").string();
  std::vector<std::string> words{"/proc/self/exe", "--suite", "calibrate", "--json", file};
  if (command.device.gpu) words.insert(words.end(), {"--gpu", std::to_string(*command.device.gpu)});
  if (command.device.simulate) words.push_back("--simulate=" + *command.device.simulate);
  if (command.show.quiet) words.emplace_back("--quiet");
  const ProgramEnd end = run_program(words, {}, StandardOutput::dropped);
  if (end.code() == static_cast<int>(ExitCode::no_device)) throw NoDeviceError("there is nothing to calibrate");
  if (end.code() != static_cast<int>(ExitCode::ok)) {
    throw MeasurementError(fmt::format("measuring (xferbench --suite calibrate) ended with exit code {}", end.code()));
  }
  return {{"suite calibrate", read_report(file)}};
}

std::string what_was_made(const Calibration& made, const std::string& output) {
  const std::string file =
      output == "-"
          ? "mine.json"
          : shell_word(output.find('/') == std::string::npos && !output.ends_with(".json") ? "./" + output : output);
  return fmt::format("{} numbers of {}{}; xferbench --simulate {}", made.figures.size(),
                     made.simulated ? "a simulated " : "", made.gpu, file);
}

}  // namespace

int perform(const cli::CalibrateCommand& command) {
  refuse_same_twice(command.results);
  refuse_to_overwrite(command.results, std::array{cli::NamedFile{"output", command.output}});
  ResultsFile output(command.output, Previous::kept);
  const std::vector<NamedReport> runs = command.results.empty() ? measured(command) : read_runs(command.results);
  const bool simulated_too = command.allow_simulated || command.device.simulate.has_value();
  Calibration made = calibration_of(runs, command.base, simulated_too);
  const std::vector<std::string> dropped = drop_impossible(made);
  if (made.figures.empty()) throw InputError("these results say nothing of what a profile has");
  const ProfileText profile{to_profile_json(made, command.name, command.base), "the profile that was made"};
  static_cast<void>(origins_of(profile));  // rather no file than one that is refused when it is used
  output.finish(profile.json);
  if (command.show.quiet) return 0;
  for (const std::string& why : dropped) {
    tell(fmt::format("warning: left out, and taken from {}: {}", command.base, why));
  }
  for (const std::string& missing : made.missing) {
    tell(fmt::format("warning: taken from {}, since these results do not tell it: {}", command.base, missing));
  }
  for (const std::string& remark : made.remarks) tell("warning: " + remark);
  tell(what_was_made(made, command.output));
  return 0;
}

}  // namespace xferbench::app
