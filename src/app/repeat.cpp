#include "app/repeat.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include "app/files.hpp"
#include "app/pooled_run.hpp"
#include "app/session.hpp"
#include "compare/spreads.hpp"
#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/lists.hpp"
#include "core/shell.hpp"
#include "core/standard_error.hpp"
#include "measure/statistics.hpp"
#include "paper/writers.hpp"
#include "report/run/run_report.hpp"
#include "results/json.hpp"
#include "results/output_file.hpp"
#include "results/replaced_file.hpp"
#include "results/spread_file.hpp"
#include "words/repeat.hpp"

namespace xferbench::app {

namespace {

/// Returns the set of signals that contains only SIGTSTP, which a terminal sends for Ctrl-Z.
sigset_t stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTSTP);
  return signals;
}

/// Runs in the child process. Ends it if the parent process was interrupted since the fork: exec would discard that
/// signal, and the parent forwards a signal only once.
void exit_if_signalled() {
  for (const int signal : {SIGINT, SIGTERM}) {
    if (std::signal(signal, SIG_DFL) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
  if (interrupted() != 0) _exit(128 + interrupted());
}

/// Runs the same command line again with --process as the first word. After a "--" it would not be read as a flag.
[[noreturn]] void exec_child(std::size_t number, const std::vector<std::string>& arguments) {
  constexpr int kCannotRun = 127;  // exit code of shells for a command that is not found
  exit_if_signalled();
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  std::signal(SIGTTOU, SIG_IGN);  // ignored because a terminal may send it to background processes that write
  const sigset_t stop = stop_signals();
  sigprocmask(SIG_UNBLOCK, &stop, nullptr);
  setpgid(0, 0);  // Ctrl-C then reaches only the parent, which forwards it once; a second signal would kill the child
  std::vector<std::string> words{"xferbench", fmt::format("--process={}", number)};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv = list_of(words, [](std::string& word) { return word.data(); });
  argv.push_back(nullptr);
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere >= 0) dup2(nowhere, STDOUT_FILENO);
  execv("/proc/self/exe", argv.data());
  _exit(kCannotRun);
}

/// Handles Ctrl-Z at a terminal: stops the child with SIGSTOP and then this process; both continue together. SIGTSTP
/// would not work, because it does not stop orphaned process groups.
void stop_with(pid_t child) {
  kill(-child, SIGSTOP);
  std::raise(SIGSTOP);
  kill(-child, SIGCONT);
}

/// Waits for the child and returns its exit code. Forwards an interrupt to the child, and stops the child on Ctrl-Z.
int wait_for(pid_t child) {
  constexpr timespec kBetween{.tv_sec = 0, .tv_nsec = 20'000'000};
  const sigset_t stop = stop_signals();
  int status = 0;
  bool forwarded = false;
  pid_t ended = 0;
  for (; ended == 0; ended = waitpid(child, &status, WNOHANG)) {
    if (interrupted() != 0 && !std::exchange(forwarded, true)) kill(child, interrupted());
    if (sigtimedwait(&stop, nullptr, &kBetween) == SIGTSTP) stop_with(child);
  }
  if (ended < 0) throw std::system_error(errno, std::generic_category(), "waiting for a process");
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  if (interrupted() == 0) tell(fmt::format("the process was killed by signal {}", WTERMSIG(status)));
  return 128 + WTERMSIG(status);
}

int run_process(std::size_t number, const std::vector<std::string>& arguments) {
  // A parent may have set SIGCHLD to be ignored, and then the child's exit code would be lost.
  std::signal(SIGCHLD, SIG_DFL);
  const sigset_t stop = stop_signals();
  sigprocmask(SIG_BLOCK, &stop, nullptr);  // wait_for() polls for SIGTSTP instead, so that it can stop the child first
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "starting a process");
  if (child == 0) exec_child(number, arguments);
  setpgid(child, child);  // done in parent and child, because either may run first
  return wait_for(child);
}

/// For each case, returns the median, minimum and maximum of the headlines (main measurements) of all processes.
std::vector<RepeatedCase> cases_of(std::span<const Report> processes) {
  std::vector<RepeatedCase> cases;
  for (const auto& [identity, results] : same_cases(pointers_to(processes))) {
    std::vector<double> medians;
    RepeatedCase c{.key = identity};
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (results[i] == nullptr) continue;
      const Measurement* sampled =
          headline_of(*results[i], declared_for(processes[i].metrics_declared, results[i]->config.scenario()));
      if (sampled == nullptr) continue;
      if (medians.empty()) c.unit = sampled->unit;
      medians.push_back(sampled->median);
    }
    if (medians.empty()) continue;
    c.median = statistics::median(medians);
    c.low = std::ranges::min(medians);
    c.high = std::ranges::max(medians);
    c.processes = medians.size();
    cases.push_back(std::move(c));
  }
  return cases;
}

/// Adds the variation between the processes to the --spread file. Throws UsageError if that file is from another GPU.
void save_spread(const std::string& path, ResultsFile& file, const std::vector<Report>& processes) {
  SpreadFile spread = compare::spread_between(processes);
  if (file.exists()) {
    const SpreadFile known = read_spread(path);
    if (!compare::of_same_gpu(known, processes.front().environment)) {
      throw UsageError(
          fmt::format("--spread {} was measured on {} ({}), but this machine has {} ({}); name another file", path,
                      compare::kind_of(known), known.uuid, compare::kind_of(processes.front().environment),
                      processes.front().environment.gpu.uuid));
    }
    spread = compare::merged(known, std::move(spread));
  }
  file.finish(to_json(spread));
}

Document document_of_spreads(const std::vector<Report>& processes) {
  return document_of(processes.front(), cases_of(processes), processes.size());
}

/// Writes the merged results and, from their medians, the other outputs that the command names. Prints the spreads.
void write_merged(const cli::RunCommand& command, JudgementFiles& files, std::vector<Report> processes) {
  const Document spreads = document_of_spreads(processes);
  const Report merged = merge_processes(std::move(processes));
  const PooledRun whole = pooled(by_process({{.name = *command.measuring.files.json, .report = merged}}));
  files.write({.document = [&] { return document_of_pooled(whole, command.measuring.show.details, true); },
               .style = style_of(command.measuring.show),
               .shown = [&] { return spreads; },
               .json = [&] { return to_json(merged); },
               .openmetrics = [&] { return to_openmetrics(whole.report, descriptors()); },
               .csv = [&](const Sink& sink) { write_csv(whole.report, descriptors(), sink); }});
}

/// If a case failed in a later process, swaps that result with the one in the first process. Readers that look only at
/// the first process then see the failure.
void show_failures(std::vector<Result>& first, std::vector<Result>& further) {
  for (Result& r : further) {
    const auto same = [&r](const Result& other) { return other.identity() == r.identity(); };
    const auto shown = std::ranges::find_if(first, same);
    if (r.status == Status::failed && shown != first.end() && shown->status == Status::ok) std::swap(*shown, r);
  }
}

/// Prints how to resume process number `last` (from 1), which was interrupted. Each process is resumed separately.
void print_resume_hint(const std::vector<std::string>& files, std::size_t last) {
  if (std::filesystem::exists(files[last - 1])) {
    tell(fmt::format("continue: xferbench --resume {}", shell_word(files[last - 1])));
  }
  if (last > 1) tell("the files of the earlier processes are complete: xferbench compare takes several files");
  if (last < files.size()) {
    const std::string which = last + 1 == files.size() ? fmt::format("process {}", last + 1)
                                                       : fmt::format("processes {} to {}", last + 1, files.size());
    tell(which + " did not start; running the command again measures all of them again");
  }
}

/// Throws UsageError if files of an earlier --repeat with more processes exist: they would be taken for new results.
void refuse_longer_repeat(const std::string& json, std::size_t processes) {
  std::error_code unknown;
  const std::filesystem::path folder = std::filesystem::absolute(json, unknown).parent_path();
  const std::string front = std::filesystem::path(json).stem().string() + "-";
  for (const auto& entry : std::filesystem::directory_iterator(folder, unknown)) {
    const std::string name = entry.path().filename().string();
    std::size_t number = 0;
    const char* const begin = name.data() + std::min(front.size(), name.size());
    const auto [end, error] = std::from_chars(begin, name.data() + name.size(), number);
    if (error != std::errc() || number <= processes) continue;
    if (std::filesystem::path(numbered(json, number)).filename() != name) continue;
    throw UsageError(
        fmt::format("--repeat {}: {} exists, from an earlier repeat with more processes, and would be taken as one of "
                    "these; remove it, or give another --json",
                    processes, numbered(json, number)));
  }
}

/// Returns the name of a process's temporary results file, for results that are merged into one file later.
std::string part_of(const std::string& file, std::size_t number) { return fmt::format("{}.process-{}", file, number); }

}  // namespace

std::string numbered(const std::string& file, std::size_t number) {
  std::filesystem::path path(file);
  const std::string extension = path.extension().string();
  return path.replace_extension().string() + fmt::format("-{}", number) + extension;
}

Report merge_processes(std::vector<Report> processes) {
  Report all = std::move(processes.front());
  std::erase_if(all.command, [](const std::string& word) { return word.starts_with("--process="); });
  for (Report& one : std::span(processes).subspan(1)) {
    all.complete = all.complete && one.complete;
    all.verified = all.verified && one.verified;
    show_failures(all.results, one.results);
    all.further_processes.push_back({std::move(one.started_at), std::move(one.results)});
  }
  return all;
}

cli::RunCommand one_process(const cli::RunCommand& command) {
  cli::RunCommand one = command;
  const std::string& json = *command.measuring.files.json;
  const std::string file = command.repeat ? numbered(json, *command.process) : part_of(json, *command.process);
  if (!command.repeat) one.measuring.files = {};  // all other files are written by the parent process
  one.measuring.files.json = file;
  // each simulated process gets different noise, because the rank is part of its seed
  one.measuring.device.rank = static_cast<int>(*command.process);
  return one;
}

int repeat(const cli::RunCommand& command) {
  install_interrupt_handlers(HangUp::ignored, command.measuring.show.quiet ? Acknowledge::no : Acknowledge::yes);
  const std::string& json = *command.measuring.files.json;
  if (!command.into_one_file) refuse_longer_repeat(json, *command.repeat);
  std::optional<ResultsFile> spread;
  // move an old file away, which would otherwise be taken for the result of these processes
  std::optional<JudgementFiles> merged;
  if (command.into_one_file) {
    set_aside(json);
    merged.emplace(command.measuring.files, std::span<const std::string>());
  }
  if (command.spread) spread.emplace(*command.spread);
  // Read the spread file now, so that an unreadable file is reported before hours of measuring.
  if (spread && spread->exists()) read_spread(*command.spread);
  std::vector<std::string> files;
  for (std::size_t i = 1; i <= *command.repeat; ++i) {
    files.push_back(command.into_one_file ? part_of(json, i) : numbered(json, i));
  }
  // Move old files away. Otherwise each would be taken for a result of this command until its process has run.
  for (const std::string& file : files) set_aside(file);
  int code = 0;
  for (std::size_t i = 1; i <= files.size(); ++i) {
    if (!command.measuring.show.quiet) tell(fmt::format("process {} of {}, writing {}", i, files.size(), files[i - 1]));
    const int ended = run_process(i, command.measuring.arguments);
    if (interrupted() != 0) {
      if (!command.measuring.show.quiet) print_resume_hint(files, i);
      return 128 + interrupted();
    }
    if (ended != static_cast<int>(ExitCode::ok) && ended != static_cast<int>(ExitCode::failed)) return ended;
    code = std::max(code, ended);
  }
  std::vector<Report> processes = list_of(files, read_report);
  if (spread) save_spread(*command.spread, *spread, processes);
  if (merged) {
    write_merged(command, *merged, std::move(processes));
    for (const std::string& file : files) std::filesystem::remove(file);
  } else {
    write_standard_output(to_terminal(document_of_spreads(processes), style_of(command.measuring.show)));
  }
  return code;
}

}  // namespace xferbench::app
