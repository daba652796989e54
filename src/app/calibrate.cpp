// Command `calibrate`: makes a profile for the simulated device from measurements.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/commands.hpp"
#include "app/explain/run_program.hpp"
#include "app/explain/temporary_folder.hpp"
#include "app/files.hpp"
#include "app/profile_input.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"
#include "core/shell.hpp"
#include "core/standard_error.hpp"
#include "report/calibrate/calibrate_report.hpp"
#include "results/json.hpp"
#include "results/output_file.hpp"

namespace xferbench::app {

namespace {

namespace fs = std::filesystem;

/// Returns the path of the results file that keeps the measurements. Without --json it is next to the profile:
/// mine.results.json for mine.json. Returns nullopt if there is neither --json nor a profile file.
std::optional<std::string> file_of_results(const cli::CalibrateCommand& command, const ResultsFile& profile) {
  if (command.json) return command.json;
  std::error_code unknown;
  const fs::path path = profile.path();
  const bool is_file = !profile.is_standard_output() && (!fs::exists(path, unknown) || profile.exists());
  if (!is_file) return std::nullopt;
  const fs::path name = path.extension() == ".json" ? path.stem() : path.filename();
  return (path.parent_path() / name).string() + ".results.json";
}

/// Runs suite `calibrate` in a child process, which prints progress and errors. Returns 0 if the suite ran to its end,
/// even with failed cases, and the child's exit code if the user interrupted it. Throws if the child could not measure.
int run_suite(const cli::CalibrateCommand& command, const std::string& file) {
  std::vector<std::string> words{"/proc/self/exe", "--suite", "calibrate", "--json=" + file};
  for (std::string& word : cli::flags_of(command.device)) words.push_back(std::move(word));
  if (command.show.quiet) words.emplace_back("--quiet");
  const ProgramEnd end = run_program(words, {}, StandardOutput::dropped);
  constexpr int kBySignal = 128;
  if (end.given_up() != 0) return kBySignal + end.given_up();
  if (end.signal == 0 && end.exit_code > kBySignal) return end.exit_code;
  if (end.code() == static_cast<int>(ExitCode::ok) || end.code() == static_cast<int>(ExitCode::failed)) return 0;
  const std::string what = fmt::format("xferbench --suite calibrate ended with exit code {}", end.code());
  if (end.code() == static_cast<int>(ExitCode::no_device)) throw NoDeviceError("calibrate needs a usable GPU");
  if (end.code() == static_cast<int>(ExitCode::usage)) throw UsageError(what);
  throw MeasurementError(what);
}

struct MeasuredHere {
  /// exit code if the user interrupted the suite, in which case `runs` is empty; 0 if not interrupted
  int given_up = 0;
  std::vector<NamedReport> runs{};
};

MeasuredHere measured_here(const cli::CalibrateCommand& command, const std::optional<std::string>& kept) {
  std::optional<TemporaryFolder> folder;
  if (!kept) folder.emplace();
  const std::string file = kept.value_or(folder ? (folder->path() / "calibrate.json").string() : "");
  if (const int code = run_suite(command, file); code != 0) {
    tell("interrupted: no profile was made" + (kept ? "; the results so far are in " + printable(*kept) : ""));
    return {.given_up = code};
  }
  return {.runs = {{kept ? printable(*kept) : "suite calibrate", read_report(file)}}};
}

/// Warns of failed cases. The profile lacks the numbers of failed cases, and no other message would tell the user.
void warn_of_failures(const std::vector<NamedReport>& runs) {
  for (const NamedReport& run : runs) {
    const std::vector<Result>& results = run.report.results;
    const auto failed = std::ranges::count(results, Status::failed, &Result::status);
    if (failed == 0) continue;
    tell(fmt::format("warning: {}: {} of {} cases failed; the profile is made from the others", run.name, failed,
                     results.size()));
  }
}

void tell_warnings(const cli::CalibrateCommand& command, const std::vector<NamedReport>& runs, const Calibration& made,
                   const std::vector<std::string>& dropped) {
  warn_of_failures(runs);
  for (const std::string& why : dropped) {
    tell(fmt::format("warning: rejected, and taken from {} instead: {}", command.base, why));
  }
  for (const std::string& missing : made.missing) {
    tell(fmt::format("warning: not in these results, and taken from {} instead: {}", command.base, missing));
  }
  for (const std::string& remark : made.remarks) tell("warning: " + remark);
}

std::string output_text(const Calibration& made, const std::string& output) {
  const std::string file =
      output == "-"
          ? "mine.json"
          : shell_word(output.find('/') == std::string::npos && !output.ends_with(".json") ? "./" + output : output);
  return fmt::format("{} numbers of {}{} calibrated; use them with xferbench --simulate {}", made.figures.size(),
                     made.simulated ? "a simulated " : "", made.gpu, file);
}

}  // namespace

int perform(const cli::CalibrateCommand& command) {
  refuse_same_twice(command.results);
  refuse_to_overwrite(command.results, std::array{cli::NamedFile{"output", command.output}});
  ResultsFile output(command.output, Previous::kept);
  const bool measures = command.results.empty();
  const std::optional<std::string> kept = measures ? file_of_results(command, output) : std::nullopt;
  const MeasuredHere from =
      measures ? measured_here(command, kept) : MeasuredHere{.runs = read_reports(command.results)};
  if (from.given_up != 0) return from.given_up;
  const bool simulated_too = command.allow_simulated || command.device.simulate.has_value();
  Calibration made = calibration_of(from.runs, command.base, simulated_too);
  const std::vector<std::string> dropped = drop_invalid_figures(made);
  if (!command.show.quiet) tell_warnings(command, from.runs, made, dropped);
  if (made.figures.empty())
    throw InputError("these results contain no number of a profile; measure some with xferbench --suite calibrate");
  const ProfileText profile{to_profile_json(made, command.name, command.base), "the new profile"};
  // Check the profile before it is written: origins_of() throws if the profile is unusable.
  static_cast<void>(origins_of(profile));
  output.finish(profile.json);
  if (command.show.quiet) return 0;
  tell(output_text(made, command.output));
  if (kept) tell(fmt::format("the measured results are in {}", printable(*kept)));
  if (measures && !kept) tell("the measured results are not kept; --json FILE or -o FILE keeps them");
  return 0;
}

}  // namespace xferbench::app
