// Command `explain`: reports how much time a program's transfers cost.
#include "explain/explain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "app/commands.hpp"
#include "app/explain/machine_limits.hpp"
#include "app/explain/profile_program.hpp"
#include "app/explain/recording_folder.hpp"
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
          .fixed = command.fixed};
}

bool is_simulated(const Recording& r) { return r.process.backend == recording::Backend::simulated; }

/// Returns whether the process was recorded from its start to its exit.
bool is_whole(const Recording& r, const RecordedRun& run) {
  return run.from == 0 && !r.torn && (!r.end || r.end->reason == recording::EndReason::exit);
}

/// How a recorded process relates to the program that was run.
struct Part {
  bool is_program = false;   ///< true if this is the process that was started, and it never called exec
  bool is_only_one = false;  ///< true if no other process used a GPU
};

/// Returns the wall times in seconds of this process in the baseline runs, which are not profiled. They are unknown for
/// a child process, unless it is the only process that used a GPU. For such a child, the rest of the program is assumed
/// to take the same time with and without profiling.
std::vector<double> baseline_times(const Recording& r, const RecordedRun& run, const explain::Options& options,
                                   const Part& part) {
  if (is_simulated(r)) return {};  // a simulated process has no wall times, only times of a virtual clock
  if (options.range) return *options.range == run.range ? run.baseline_range : std::vector<double>();
  if (!is_whole(r, run)) return {};
  if (part.is_program) return run.baseline;
  if (!part.is_only_one) return {};
  const explain::Window life = explain::window_of(r, std::nullopt);
  const double rest = run.seconds() - 1e-9 * static_cast<double>(life.end - life.begin);
  std::vector<double> baseline = run.baseline;
  for (double& seconds : baseline) seconds -= std::max(rest, 0.);
  return std::ranges::all_of(baseline, [](double seconds) { return seconds > 0; }) ? baseline : std::vector<double>();
}

/// Returns the seconds that xferbench measured from the program's start to its end, and sets that start time in `r`.
std::optional<double> wall_time(Recording& r, const RecordedRun& run, const Part& part) {
  if (!part.is_program || is_simulated(r) || !is_whole(r, run)) return std::nullopt;
  r.process.begin = run.begin;
  return run.seconds();
}

/// With --from, moves the process's start to the time at which recording began: nothing earlier was recorded.
void begin_at_recording(Recording& r, const RecordedRun& run) {
  recording::Process& process = r.process;
  const recording::Time begin = process.begin > 0 ? process.begin : process.loaded;
  if (run.from > 0) process.begin = begin + static_cast<recording::Time>(run.from * 1e9);
}

bool used_gpu(const Recording& r) { return !r.copies.empty() || !r.kernels.empty() || !r.fills.empty(); }

double busy(const explain::ProcessExplanation& p) { return p.shares.kernels + p.shares.copies + p.shares.both; }

/// The analysis of all processes, and the recorded time windows that it covers.
struct Analysis {
  explain::Explanation explanation{};
  std::vector<RecordedWindow> windows{};
  /// message for a process that was left out because it lacks the requested NVTX range; empty if none
  std::string missing_range{};
};

void add_process_analysis(Recording& r, const RecordedRun& run, const explain::Costs& costs,
                          const explain::Options& options, const Part& part, Analysis& analysis) {
  begin_at_recording(r, run);
  const std::optional<double> profiled = wall_time(r, run, part);
  explain::Explanation& all = analysis.explanation;
  try {
    const std::vector<double> baseline = baseline_times(r, run, options, part);
    all.processes.push_back(explain::explain(r, costs, baseline, profiled, options));
    analysis.windows.push_back({r, explain::window_of(r, options.range)});
  } catch (const InputError& error) {  // this process lacks the requested NVTX range, but other processes may have it
    analysis.missing_range = error.what();
    all.warnings.push_back(analysis.missing_range);
  }
}

void warn_of_ending(const RecordedRun& run, std::vector<std::string>& warnings) {
  if (run.signal > 0) {
    const char* name = sigdescr_np(run.signal);
    warnings.push_back(
        fmt::format("The program was killed by signal {} ({})", run.signal, name != nullptr ? name : "unknown"));
  }
  if (run.exit_code > 0) warnings.push_back(fmt::format("The program ended with exit code {}", run.exit_code));
}

/// Warns if the limits were measured on another GPU model than the program used, because they do not apply then.
void compare_gpus(const explain::Explanation& all, const Report& limits, std::vector<std::string>& warnings) {
  const Environment& from = limits.environment;
  if (all.processes.empty() || all.simulated) return;
  const std::vector<std::string>& used = all.processes.front().gpus;
  if (used.empty()) return;
  if (std::ranges::find(used, from.gpu.name) != used.end() && !from.simulated()) return;
  warnings.push_back(fmt::format("The limits were measured on {}{}, but the program ran on {}", from.gpu.name,
                                 from.simulated() ? " (simulated)" : "", fmt::join(used, ", ")));
}

Analysis analyse(const cli::ExplainCommand& command, RecordingFolder& folder) {
  Analysis analysis;
  explain::Explanation& all = analysis.explanation;
  const RecordedRun& run = folder.run;
  all.command = run.command;
  all.baseline_runs = run.baseline;
  all.profiled_runs = run.profiled;
  all.warnings = folder.warnings;
  warn_of_ending(run, all.warnings);
  explain::MachineLimits limits;
  if (folder.limits) limits = explain::limits_of(*folder.limits);
  all.no_trace = folder.no_trace;
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
      add_process_analysis(r, run, limits.costs, options, {once && r.process.pid == run.pid, alone}, analysis);
    } else if (r.failed) {
      all.no_trace = r.notes.back();
    } else {
      all.warnings.insert(all.warnings.end(), r.notes.begin(), r.notes.end());
    }
  }
  const auto is_cut = [](const Recording& r) { return r.end && r.end->reason == recording::EndReason::max_records; };
  if (all.processes.empty() && all.no_trace.empty() && std::ranges::any_of(folder.recordings, is_cut)) {
    all.no_trace = "Recording stopped at --max-records before the program used a GPU";
  }
  if (all.processes.empty() && all.no_trace.empty() && run.from > 0) {
    all.no_trace = "The program made no CUDA call in the time that --from and --for select";
  }
  const auto has_streams = [](const Recording& r) { return !r.streams.empty(); };
  if (all.processes.empty() && all.no_trace.empty() && std::ranges::any_of(folder.recordings, has_streams)) {
    all.no_trace = run.range.empty()
                       ? "The program made no copy, fill or launch"
                       : fmt::format("The program did nothing on the GPU in an NVTX range '{}'", run.range);
  }
  if (!all.processes.empty() && !all.no_trace.empty()) all.warnings.push_back(std::exchange(all.no_trace, {}));
  if (all.simulated) {  // The run times are real; they cannot be compared with the simulated times of the processes.
    all.baseline_runs.clear();
    all.profiled_runs.clear();
  }
  std::ranges::stable_sort(all.processes, std::ranges::greater(), busy);
  explain::note_waits_between(all.processes);
  if (folder.limits) compare_gpus(all, *folder.limits, all.warnings);
  return analysis;
}

/// The files that the command reads, which no output may overwrite.
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

/// Returns what the terminal output contains. Terminals with fewer than 90 columns have no room for bar charts.
ExplanationView shown_by(const cli::ExplainCommand& command) {
  constexpr std::size_t kWide = 90;
  const Style style = style_of(command.show);
  return {.all_processes = command.all,
          .all_copies = command.all,
          .whole_stacks = command.all,
          .bars = style.columns == 0 || style.columns >= kWide ? 30U : 0U};
}

void write(const cli::ExplainCommand& command, const Analysis& analysis, JudgementFiles& files) {
  if (!command.show.quiet && !files.shows_table()) {  // if a table is shown, it contains the warnings
    for (const std::string& warning : analysis.explanation.warnings) tell("warning: " + warning);
  }
  files.write({.document = [&] { return document_of(analysis.explanation); },
               .style = style_of(command.show),
               .shown = [&] { return document_of(analysis.explanation, shown_by(command)); },
               .json = [&] { return to_json(analysis.explanation); },
               .timeline = [&](const Sink& sink) { write_chrome_trace(analysis.windows, sink); }});
}

}  // namespace

int perform(const cli::ExplainCommand& command) {
  JudgementFiles files(command.files, inputs_of(command));
  RecordingFolder folder = command.program.empty() ? read_recording_folder(command) : profile_program(command);
  if (folder.given_up != 0) return 128 + folder.given_up;
  const Analysis analysis = analyse(command, folder);
  if (analysis.explanation.processes.empty() && !analysis.missing_range.empty()) {
    throw InputError(analysis.missing_range);
  }
  write(command, analysis, files);
  return command.exit_code ? folder.code() : static_cast<int>(ExitCode::ok);
}

}  // namespace xferbench::app
