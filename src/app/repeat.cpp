#include "app/repeat.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "app/session.hpp"
#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "measure/statistics.hpp"
#include "report/run/repeat_table.hpp"
#include "results/json.hpp"
#include "results/output_file.hpp"
#include "results/same_case.hpp"

namespace xferbench::app {

namespace {

[[noreturn]] void exec_child(const std::vector<std::string>& arguments) {
  constexpr int kCannotRun = 127;  // as a shell says it
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  setpgid(0, 0);  // a terminal's Ctrl-C reaches the parent alone, which tells this one: a second signal would kill it
  std::vector<char*> argv;
  std::string name = "xferbench";
  argv.push_back(name.data());
  std::vector<std::string> words = arguments;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere >= 0) dup2(nowhere, STDOUT_FILENO);
  execv("/proc/self/exe", argv.data());
  _exit(kCannotRun);
}

/// What ends this process ends the other, too.
int wait_for(pid_t child) {
  constexpr auto kBetween = std::chrono::milliseconds(20);
  int status = 0;
  bool forwarded = false;
  pid_t ended = 0;
  for (; ended == 0; ended = waitpid(child, &status, WNOHANG)) {
    if (interrupted() != 0 && !std::exchange(forwarded, true)) kill(child, interrupted());
    std::this_thread::sleep_for(kBetween);
  }
  if (ended < 0) throw std::system_error(errno, std::generic_category(), "waiting for a process");
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  if (interrupted() == 0) fmt::print(stderr, "xferbench: the process was ended by signal {}\n", WTERMSIG(status));
  return 128 + WTERMSIG(status);
}

int run_process(const std::vector<std::string>& arguments) {
  std::signal(SIGCHLD, SIG_DFL);  // whoever started this program may ignore it; then nobody learns how a child ended
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "starting a process");
  if (child == 0) exec_child(arguments);
  return wait_for(child);
}

bool could_run(int code) {
  return code == static_cast<int>(ExitCode::ok) || code == static_cast<int>(ExitCode::failed);
}

/// The medians of each case that was sampled, in the order of the first process.
std::vector<RepeatedCase> cases_of(std::span<const Report> processes) {
  std::vector<const Report*> reports;
  for (const Report& process : processes) reports.push_back(&process);
  std::vector<RepeatedCase> cases;
  for (const auto& [key, results] : same_cases(reports)) {
    std::vector<double> medians;
    RepeatedCase c{.key = std::string(key)};
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (results[i] == nullptr) continue;
      const Measurement* sampled =
          headline_of(*results[i], declared_for(reports[i]->metrics_declared, results[i]->config.scenario()));
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

void report(const cli::RunCommand& command, const std::vector<std::string>& files) {
  std::vector<Report> processes;
  for (const std::string& file : files) processes.push_back(read_report(file));
  const std::vector<RepeatedCase> cases = cases_of(processes);
  write_standard_output(
      to_repeat_table(processes.front().environment, cases, processes.size(), style_of(command.measuring.show)));
}

}  // namespace

std::string numbered(const std::string& file, std::size_t number) {
  std::filesystem::path path(file);
  const std::string extension = path.extension().string();
  return path.replace_extension().string() + fmt::format("-{}", number) + extension;
}

std::vector<std::string> arguments_for(const std::vector<std::string>& arguments, const std::string& file) {
  std::vector<std::string> own{"--json=" + file};  // first: nothing that follows -- is a flag
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const bool replaced = argument == "--repeat" || argument == "--json";
    if (replaced) ++i;  // and its value
    if (!replaced && !argument.starts_with("--repeat=") && !argument.starts_with("--json=")) own.push_back(argument);
  }
  return own;
}

int repeat(const cli::RunCommand& command, const std::vector<std::string>& arguments) {
  install_interrupt_handlers();
  std::vector<std::string> files;
  int code = 0;
  for (std::size_t i = 1; i <= *command.repeat; ++i) {
    const std::string file = numbered(*command.measuring.files.json, i);
    if (!command.measuring.show.quiet)
      fmt::print(stderr, "xferbench: process {} of {}, writing {}\n", i, *command.repeat, file);
    const int ended = run_process(arguments_for(arguments, file));
    if (!could_run(ended)) return interrupted() != 0 ? 128 + interrupted() : ended;
    if (interrupted() != 0) return 128 + interrupted();
    code = std::max(code, ended);
    files.push_back(file);
  }
  report(command, files);
  return code;
}

}  // namespace xferbench::app
