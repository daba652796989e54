// Command `explain`: what a program's transfers cost it.
#include "explain/explain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "app/commands.hpp"
#include "app/explain/machine_limits.hpp"
#include "app/explain/recording_folder.hpp"
#include "app/explain/watch.hpp"
#include "app/files.hpp"
#include "app/session.hpp"
#include "core/error.hpp"
#include "core/standard_error.hpp"
#include "explain/limits.hpp"
#include "report/explain/explain_report.hpp"
#include "report/explain/timeline.hpp"
#include "results/output_file.hpp"
#include "words/explain.hpp"

namespace xferbench::app {

namespace {

explain::Options options_of(const cli::ExplainCommand& command, const RecordedRun& run) {
  const std::optional<std::string> asked = run.range.empty() ? std::nullopt : std::optional(run.range);
  return {.range = command.range ? command.range : asked,
          .least_share = command.all ? explain::kLeastOfAll : explain::Options().least_share,
          .mended = command.mended};
}

bool is_simulated(const Recording& r) { return r.process.backend == recording::Backend::simulated; }

/// Whether the whole life of the process was recorded.
bool is_whole(const Recording& r, const RecordedRun& run) {
  return run.from == 0 && !r.torn && (!r.end || r.end->reason == recording::EndReason::exit);
}

/// What part of a run a recording covers.
struct Part {
  bool is_program = false;   ///< the started process, from its start to its end, without an exec
  bool is_only_one = false;  ///< the only process that used a GPU
};

/// The wall times of this process in baseline runs, without profiling. They are unknown for a child process. But if it
/// is the only one that used a GPU, the rest of the program is assumed to take the same time in both kinds of runs.
std::vector<double> bare_times(const Recording& r, const RecordedRun& run, const explain::Options& options,
                               const Part& part) {
  if (is_simulated(r)) return {};  // its clock is simulated
  if (options.range) return *options.range == run.range ? run.bare_range : std::vector<double>();
  if (!is_whole(r, run)) return {};
  if (part.is_program) return run.bare;
  if (!part.is_only_one) return {};
  const explain::Window life = explain::window_of(r, std::nullopt);
  const double rest = run.seconds() - 1e-9 * static_cast<double>(life.end - life.begin);
  std::vector<double> bare = run.bare;
  for (double& seconds : bare) seconds -= std::max(rest, 0.);
  return std::ranges::all_of(bare, [](double seconds) { return seconds > 0; }) ? bare : std::vector<double>();
}

/// The wall time as the parent process saw it, which is more exact than what the process recorded.
std::optional<double> wall_time(Recording& r, const RecordedRun& run, const Part& part) {
  if (!part.is_program || is_simulated(r) || !is_whole(r, run)) return std::nullopt;
  r.process.begin = run.begin;
  return run.seconds();
}

/// Moves the begin of the process to where recording began (--from): nothing earlier can be explained.
void begin_where_recorded(Recording& r, const RecordedRun& run) {
  recording::Process& process = r.process;
  const recording::Time begin = process.begin > 0 ? process.begin : process.loaded;
  if (run.from > 0) process.begin = begin + static_cast<recording::Time>(run.from * 1e9);
}

bool used_gpu(const Recording& r) { return !r.copies.empty() || !r.kernels.empty() || !r.fills.empty(); }

double busy(const explain::ProcessExplanation& p) { return p.shares.kernels + p.shares.copies + p.shares.both; }

/// The analysis, and the parts of the recordings that it is about.
struct Told {
  explain::Explanation explanation{};
  std::vector<RecordedStretch> stretches{};
  std::string missing_range{};  ///< why a process without the range is left out
};

void tell_process(Recording& r, const RecordedRun& run, const explain::Costs& costs, const explain::Options& options,
                  const Part& part, Told& told) {
  begin_where_recorded(r, run);
  const std::optional<double> watched = wall_time(r, run, part);
  explain::Explanation& all = told.explanation;
  try {
    const std::vector<double> bare = bare_times(r, run, options, part);
    all.processes.push_back(explain::explain(r, costs, bare, watched, options));
    told.stretches.push_back({r, explain::window_of(r, options.range)});
  } catch (const InputError& error) {  // other processes may have the range
    told.missing_range = error.what();
    all.warnings.push_back(told.missing_range);
  }
}

/// Warns if a signal ended the program or its exit code is not 0.
void tell_ending(const RecordedRun& run, std::vector<std::string>& warnings) {
  if (run.signal > 0) {
    const char* name = sigdescr_np(run.signal);
    warnings.push_back(
        fmt::format("The program was killed by signal {} ({})", run.signal, name != nullptr ? name : "unknown"));
  }
  if (run.exit_code > 0) warnings.push_back(fmt::format("The program ended with exit code {}", run.exit_code));
}

/// Warns if the limits are of another kind of GPU: they say nothing of this program.
void compare_gpus(const explain::Explanation& all, const Report& limits, std::vector<std::string>& warnings) {
  const Environment& from = limits.environment;
  if (all.processes.empty() || all.simulated) return;
  const std::vector<std::string>& used = all.processes.front().gpus;
  if (used.empty()) return;
  if (std::ranges::find(used, from.gpu.name) != used.end() && !from.simulated()) return;
  warnings.push_back(fmt::format("The limits were measured on {}{}, but the program ran on {}", from.gpu.name,
                                 from.simulated() ? " (simulated)" : "", fmt::join(used, ", ")));
}

Told told_of(const cli::ExplainCommand& command, RecordingFolder& folder) {
  Told told;
  explain::Explanation& all = told.explanation;
  const RecordedRun& run = folder.run;
  all.command = run.command;
  all.bare_runs = run.bare;
  all.watched_runs = run.watched;
  all.warnings = folder.warnings;
  tell_ending(run, all.warnings);
  explain::MachineLimits limits;
  if (folder.limits) limits = explain::limits_of(*folder.limits);
  all.blind = folder.blind;
  all.limits_of = limits.of;
  all.limits = limits.curves;
  all.limit_times = limits.times;
  const explain::Options options = options_of(command, run);
  const auto pid_of = [](const Recording& r) { return r.process.pid; };
  const bool once = std::ranges::count(folder.recordings, run.pid, pid_of) == 1;
  const bool alone = std::ranges::count_if(folder.recordings, used_gpu) == 1;
  for (Recording& r : folder.recordings) {
    if (is_simulated(r)) {
      all.simulated = true;
      all.profile = r.name(r.process.profile);
    }
    if (used_gpu(r)) {
      tell_process(r, run, limits.costs, options, {once && r.process.pid == run.pid, alone}, told);
    } else if (r.failed) {
      all.blind = r.notes.back();
    } else {
      all.warnings.insert(all.warnings.end(), r.notes.begin(), r.notes.end());
    }
  }
  const auto is_cut = [](const Recording& r) { return r.end && r.end->reason == recording::EndReason::max_records; };
  if (all.processes.empty() && all.blind.empty() && std::ranges::any_of(folder.recordings, is_cut)) {
    all.blind = "Recording stopped at --max-records before the program used a GPU";
  }
  if (all.processes.empty() && all.blind.empty() && run.from > 0) {
    all.blind = "The program made no CUDA call in the time that --from and --for select";
  }
  if (!all.processes.empty() && !all.blind.empty()) all.warnings.push_back(std::exchange(all.blind, {}));
  if (all.simulated) {  // these times are real, those of its processes are simulated
    all.bare_runs.clear();
    all.watched_runs.clear();
  }
  std::ranges::stable_sort(all.processes, std::ranges::greater(), busy);
  if (folder.limits) compare_gpus(all, *folder.limits, all.warnings);
  return told;
}

/// Throws InputError if no process has the requested range.
void refuse_missing_range(const Told& told) {
  if (told.explanation.processes.empty() && !told.missing_range.empty()) throw InputError(told.missing_range);
}

/// The files that are read, which no output may overwrite.
std::vector<std::string> inputs_of(const cli::ExplainCommand& command) {
  std::vector<std::string> inputs;
  if (command.limits) inputs.push_back(*command.limits);
  std::error_code unknown;
  for (const auto& entry : std::filesystem::directory_iterator(command.folder, unknown)) {
    const std::filesystem::path name = entry.path().filename();
    const bool is_read = name == kRunFile || name == kLimitsFile || name.extension() == recording::kExtension;
    if (is_read) inputs.push_back(entry.path().string());
  }
  return inputs;
}

/// What is shown on a terminal. Narrow ones have no room for bars.
ExplanationShown shown_by(const cli::ExplainCommand& command) {
  constexpr std::size_t kWide = 90;
  const Style style = style_of(command.show);
  return {.all_processes = command.all,
          .all_copies = command.all,
          .whole_stacks = command.all,
          .bars = style.columns == 0 || style.columns >= kWide ? 30U : 0U};
}

void write(const cli::ExplainCommand& command, const Told& told, JudgementFiles& files) {
  if (!command.show.quiet && !files.shows_table()) {  // the table contains them
    for (const std::string& warning : told.explanation.warnings) tell("warning: " + warning);
  }
  files.write({.document = [&] { return document_of(told.explanation); },
               .style = style_of(command.show),
               .shown = [&] { return document_of(told.explanation, shown_by(command)); },
               .json = [&] { return to_json(told.explanation); },
               .timeline = [&](const Sink& sink) { write_chrome_trace(told.stretches, sink); }});
}

}  // namespace

int perform(const cli::ExplainCommand& command) {
  JudgementFiles files(command.files, inputs_of(command));
  RecordingFolder folder = command.program.empty() ? read_recording_folder(command) : watch(command);
  if (folder.given_up != 0) return 128 + folder.given_up;
  const Told told = told_of(command, folder);
  refuse_missing_range(told);
  write(command, told, files);
  return command.exit_code ? folder.code() : static_cast<int>(ExitCode::ok);
}

}  // namespace xferbench::app
