#include "app/explain/profile_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <system_error>
#include <utility>

#include "app/explain/machine_limits.hpp"
#include "app/explain/run_program.hpp"
#include "app/explain/temporary_folder.hpp"
#include "app/session.hpp"
#include "core/error.hpp"
#include "core/standard_error.hpp"
#include "explain/program.hpp"
#include "ranks/plugin_paths.hpp"
#include "recording/recording_request.hpp"
#include "results/json.hpp"
#include "results/output_file.hpp"

namespace xferbench::app {

namespace fs = std::filesystem;

namespace {

constexpr const char* kLibrary = "libxferbench-inject.so";
constexpr const char* kCudaVariable = "CUDA_INJECTION64_PATH";
constexpr const char* kNvtxVariable = "NVTX_INJECTION64_PATH";
constexpr const char* kHowToGetLibrary =
    "install the package xferbench-inject, or build with CUDA and CUPTI's headers (they come with the CUDA Toolkit, in "
    "package cuda-cupti-dev)";

/// Returns the path of the profiling library, next to the executable or installed; empty if this build has none.
std::string library() {
  std::error_code unknown;
  for (const fs::path& place : plugin_paths(kLibrary)) {
    if (fs::exists(place, unknown)) return place.string();
  }
  return {};
}

void refuse_if_profiled_already() {
  const char* other = std::getenv(kCudaVariable);
  if (other == nullptr || *other == '\0') return;
  throw UsageError(
      fmt::format("{} is set ({}): another tool would profile the program, and only one tool can; unset it, or run "
                  "explain outside that tool",
                  kCudaVariable, other));
}

/// Creates the recording's folder before the program is run, so that a mistyped path is reported at once.
void make_new_folder(const fs::path& folder) {
  std::error_code failed;
  if (fs::exists(folder, failed) && !fs::is_empty(folder, failed)) {
    throw UsageError(fmt::format("--recording {}: the path exists already; name a new folder", folder.string()));
  }
  fs::create_directories(folder, failed);
  if (failed) throw OutputError(fmt::format("cannot make {}: {}", folder.string(), failed.message()));
}

struct ProfiledRun {
  ProgramEnd end{};
  fs::path folder{};
  double seconds = 0;  ///< duration in seconds of the program, or of the requested NVTX range
};

/// Runs the program several times without and with profiling, one run after the other, and keeps the results.
class Runs {
 public:
  Runs(const cli::ExplainCommand& command, fs::path folder)
      : command_(command), folder_(std::move(folder)), library_(library()) {
    if (library_.empty() && !command.show.quiet) {
      tell(
          fmt::format("warning: the library that profiles CUDA programs is missing, so only simulated runs of "
                      "xferbench are recorded; {}",
                      kHowToGetLibrary));
    }
  }

  void baseline(RecordedRun& run) {
    Variables variables;
    RecordingRequest request = this->request(fs::path("bare") += std::to_string(run.baseline.size() + 1));
    if (command_.range && !library_.empty()) {
      request.only_ranges = true;
      variables = to_environment(request);
      variables.emplace_back(kNvtxVariable, library_);
    }
    const ProgramEnd end = run_program(command_.program, variables);
    given_up_ = end.given_up();
    if (end.interrupted != 0) return;  // the user interrupted the program, so its duration is meaningless
    run.baseline.push_back(end.seconds());
    bare_code_ = end.code();
    if (!command_.range) return;
    if (const auto seconds = seconds_of_range(request.folder)) run.baseline_range.push_back(*seconds);
  }

  void profiled(RecordedRun& run) {
    const RecordingRequest request = this->request(fs::path("watched") += std::to_string(all_.size() + 1));
    Variables variables = to_environment(request);
    if (!library_.empty()) {
      variables.emplace_back(kCudaVariable, library_);
      variables.emplace_back(kNvtxVariable, library_);
      if (command_.file_reads) variables.emplace_back("LD_PRELOAD", preloaded());
    }
    ProfiledRun one{.end = run_program(command_.program, variables), .folder = request.folder};
    given_up_ = one.end.given_up();
    // ignore this interrupted run, because earlier profiled runs are complete
    if (given_up_ != 0 && !all_.empty()) return;
    if (one.end.interrupted != 0) run.baseline.clear();
    run.profiled.push_back(one.end.seconds());
    one.seconds = seconds_of_range(request.folder).value_or(one.end.seconds());
    if (bare_code_ && *bare_code_ != one.end.code() && given_up_ == 0) {
      warnings_.push_back(
          fmt::format("The program ended with exit code {} when profiled, and with {} in the baseline run",
                      one.end.code(), *bare_code_));
    }
    all_.push_back(std::move(one));
  }

  [[nodiscard]] const ProfiledRun& median() const {
    std::vector<std::size_t> order(all_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [this](std::size_t i) { return all_[i].seconds; });
    return all_[order[(order.size() - 1) / 2]];
  }
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }
  /// Returns the signal by which the user stopped the last run, after which no more runs are started; 0 if none.
  [[nodiscard]] int given_up() const { return given_up_; }
  [[nodiscard]] bool has_profiled() const { return !all_.empty(); }
  /// Returns the reason why CUDA programs cannot be profiled; empty if they can. Simulated runs always can.
  [[nodiscard]] std::string why_no_trace() const {
    if (!library_.empty()) return {};
    return fmt::format("CUDA programs cannot be profiled: {} is missing; {}", kLibrary, kHowToGetLibrary);
  }

 private:
  /// Returns the value of LD_PRELOAD: what the user preloads, which may have to be first, and the library.
  [[nodiscard]] std::string preloaded() const {
    if (library_.find_first_of(" :") != std::string::npos) {
      throw UsageError(fmt::format("--files cannot preload {}: its path has a blank or a colon; move it", library_));
    }
    const char* const before = std::getenv("LD_PRELOAD");
    return before == nullptr || *before == '\0' ? library_ : fmt::format("{}:{}", before, library_);
  }

  RecordingRequest request(const fs::path& name) {
    const fs::path folder = folder_ / name;
    fs::create_directory(folder);
    return {.folder = folder.string(),
            .max_records = command_.max_records,
            .from = command_.from,
            .seconds = command_.seconds,
            .range = command_.range,
            .stacks = command_.stacks};
  }

  /// Returns the duration in seconds of the NVTX range in the first process that has this range.
  std::optional<double> seconds_of_range(const fs::path& folder) const {
    if (!command_.range) return std::nullopt;
    std::vector<std::string> ignored;
    for (const Recording& r : read_recordings(folder, ignored)) {
      try {
        const explain::Window window = explain::window_of(r, command_.range);
        return 1e-9 * static_cast<double>(window.end - window.begin);
      } catch (const InputError&) {  // this process lacks the range, but another one may have it
      }
    }
    return std::nullopt;
  }

  const cli::ExplainCommand& command_;
  fs::path folder_;
  std::string library_;
  std::optional<int> bare_code_;
  int given_up_ = 0;
  std::vector<ProfiledRun> all_;
  std::vector<std::string> warnings_;
};

RecordedRun begin_run(const cli::ExplainCommand& command) {
  return {.command = command.program,
          .started_at = utc_now(),
          .version = this_tool().version,
          .range = command.range.value_or(""),
          .from = command.from};
}

void keep(const RecordingFolder& folder, const ProfiledRun& one, const fs::path& to) {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(one.folder)) {
    if (fs::copy_file(entry.path(), to / entry.path().filename(), failed)) continue;
    throw OutputError(fmt::format("cannot store the recording in {}: {}", to.string(), failed.message()));
  }
  ResultsFile((to / kRunFile).string()).finish(to_json(folder.run));
  if (folder.limits) ResultsFile((to / kLimitsFile).string()).finish(to_json(*folder.limits));
}

}  // namespace

RecordingFolder profile_program(const cli::ExplainCommand& command) {
  refuse_if_profiled_already();
  // Read the limits first: an unreadable file must be reported now and not after hours of profiling.
  const std::optional<Report> given = command.limits ? std::optional(read_report(*command.limits)) : std::nullopt;
  if (command.recording) make_new_folder(*command.recording);
  const TemporaryFolder temporary;
  RecordingFolder folder;
  folder.run = begin_run(command);
  Runs runs(command, temporary.path());
  for (std::size_t i = 0; i < command.runs && runs.given_up() == 0; ++i) {
    if (command.baseline) runs.baseline(folder.run);
    if (runs.given_up() == 0) runs.profiled(folder.run);
  }
  if (!runs.has_profiled()) {
    tell("stopped in the baseline run, before the program was profiled; --no-baseline skips that run");
    folder.given_up = runs.given_up();
    return folder;
  }
  const ProfiledRun& one = runs.median();
  folder.warnings = runs.warnings();
  folder.run.pid = static_cast<std::uint32_t>(one.end.pid);
  folder.run.begin = one.end.begin;
  folder.run.end = one.end.end;
  folder.run.exit_code = one.end.exit_code;
  folder.run.signal = one.end.signal;
  folder.recordings = read_recordings(one.folder, folder.warnings);
  if (folder.recordings.empty()) folder.no_trace = runs.why_no_trace();
  folder.limits = given ? given : machine_limits(command, folder.recordings, folder.warnings);
  if (command.recording) keep(folder, one, *command.recording);
  return folder;
}

}  // namespace xferbench::app
