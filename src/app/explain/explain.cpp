#include "explain/explain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
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

namespace xferbench::app {

namespace {

explain::Options options_of(const cli::ExplainCommand& command, const RecordedRun& run) {
  const std::optional<std::string> asked = run.range.empty() ? std::nullopt : std::optional(run.range);
  return {.range = command.range ? command.range : asked,
          .least_share = command.all ? 0.001 : explain::Options().least_share,
          .mended = command.mended};
}

/// The wall times that this process's stretch took unwatched; of a child nobody knows them.
std::vector<double> bare_times(const Recording& r, const RecordedRun& run, const explain::Options& options) {
  if (r.process.backend == recording::Backend::simulated) return {};  // its clock is not ours
  if (options.range) return *options.range == run.range ? run.bare_range : std::vector<double>();
  return r.process.pid == run.pid ? run.bare : std::vector<double>();
}

/// From its start to its end as who started it saw them, which is more exact than what it knows itself.
std::optional<double> wall_time(Recording& r, const RecordedRun& run) {
  if (r.process.pid != run.pid || r.process.backend == recording::Backend::simulated) return std::nullopt;
  r.process.begin = run.begin;
  return 1e-9 * static_cast<double>(run.end - run.begin);
}

bool used_gpu(const Recording& r) { return !r.copies.empty() || !r.kernels.empty() || !r.fills.empty(); }

double busy(const explain::ProcessExplanation& p) { return p.shares.kernels + p.shares.copies + p.shares.both; }

/// All that there is to tell, and the parts of the recordings that it is about.
struct Told {
  explain::Explanation explanation{};
  std::vector<RecordedStretch> stretches{};
};

void tell_process(Recording& r, const RecordedRun& run, const explain::Costs& costs, const explain::Options& options,
                  Told& told) {
  const std::optional<double> watched = wall_time(r, run);
  explain::Explanation& all = told.explanation;
  try {
    all.processes.push_back(explain::explain(r, costs, bare_times(r, run, options), watched, options));
    told.stretches.push_back({r, explain::window_of(r, options.range)});
  } catch (const InputError& error) {  // the others may have the range
    all.warnings.emplace_back(error.what());
  }
}

/// How the program ended, where that is worth a word.
void tell_ending(const RecordedRun& run, std::vector<std::string>& warnings) {
  if (run.signal > 0) warnings.push_back(fmt::format("The program was ended by signal {}", run.signal));
  if (run.exit_code > 0) warnings.push_back(fmt::format("The program ended with exit code {}", run.exit_code));
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
  all.limits_of = limits.of;
  all.limits = limits.curves;
  const explain::Options options = options_of(command, run);
  for (Recording& r : folder.recordings) {
    if (r.process.backend == recording::Backend::simulated) {
      all.simulated = true;
      all.profile = r.name(r.process.profile);
    }
    if (used_gpu(r)) {
      tell_process(r, run, limits.costs, options, told);
    } else {
      all.warnings.insert(all.warnings.end(), r.notes.begin(), r.notes.end());
    }
  }
  std::ranges::stable_sort(all.processes, std::ranges::greater(), busy);
  return told;
}

/// The range that was asked for is in none of the processes.
void refuse_missing_range(const cli::ExplainCommand& command, const Told& told) {
  if (!command.range || !told.explanation.processes.empty() || told.explanation.warnings.empty()) return;
  throw InputError(told.explanation.warnings.back());
}

void write(const cli::ExplainCommand& command, const Told& told, JudgementFiles& files,
           std::optional<ResultsFile>& timeline) {
  if (!command.show.quiet) {
    for (const std::string& warning : told.explanation.warnings) tell("warning: " + warning);
  }
  files.write([&] { return to_json(told.explanation); }, [&] { return to_markdown(told.explanation); },
              [&] { return to_table(told.explanation, command.all, style_of(command.show)); });
  if (timeline) timeline->finish([&](const Sink& sink) { write_chrome_trace(told.stretches, sink); });
}

}  // namespace

int perform(const cli::ExplainCommand& command) {
  JudgementFiles files(command.files, {});
  std::optional<ResultsFile> timeline;
  if (command.files.timeline) timeline.emplace(*command.files.timeline);
  RecordingFolder folder = command.program.empty() ? read_recording_folder(command) : watch(command);
  const Told told = told_of(command, folder);
  refuse_missing_range(command, told);
  write(command, told, files, timeline);
  return command.exit_code ? folder.code() : static_cast<int>(ExitCode::ok);
}

}  // namespace xferbench::app
