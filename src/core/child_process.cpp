#include "core/child_process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <string_view>
#include <system_error>
#include <thread>

#include "core/descriptor.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration): not every libc declares it

namespace xferbench {

namespace {

/// Whether a launcher sets this environment variable. A child process that inherits the variable would take itself for
/// one of the launcher's ranks.
bool is_of_launcher(std::string_view variable) {
  constexpr auto kBeginnings = std::to_array<std::string_view>(
      {"OMPI_COMM_",   "OMPI_UNIVERSE_", "OMPI_APP_",     "OMPI_ARGV", "OMPI_COMMAND",  "OMPI_FILE_", "OMPI_FIRST_",
       "OMPI_MCA_ess", "OMPI_MCA_orte",  "OMPI_MCA_pmix", "OMPI_NUM_", "OMPI_RELEASE_", "ORTE_",      "PMIX_",
       "PMI_",         "PRTE_",          "MV2_COMM_",     "MPI_LOCAL", "HYDI_",         "SLURM_"});
  return std::ranges::any_of(kBeginnings, [variable](std::string_view b) { return variable.starts_with(b); });
}

std::vector<char*> environment_without_launcher() {
  std::vector<char*> kept;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!is_of_launcher(*variable)) kept.push_back(*variable);
  }
  kept.push_back(nullptr);
  return kept;
}

/// RAII owner of the file actions and attributes for posix_spawn.
class Spawning : NonCopyable {
 public:
  Spawning() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
  }
  ~Spawning() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }

  /// Returns the process id. Throws std::system_error.
  pid_t start(const std::string& program, std::vector<std::string>& words,
              std::span<const InheritedDescriptor> inherited) {
    for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
      posix_spawn_file_actions_addopen(&actions_, standard, "/dev/null", O_RDWR, 0);
    }
    // Duplicates each descriptor to a high number first, so that none is overwritten before it is inherited.
    constexpr int kHigh = 64;
    std::vector<Descriptor> copies;
    for (const InheritedDescriptor& one : inherited) {
      const Descriptor& copy = copies.emplace_back(fcntl(one.here, F_DUPFD_CLOEXEC, kHigh));
      if (!copy) throw std::system_error(errno, std::generic_category(), "cannot copy a descriptor for a process");
      posix_spawn_file_actions_adddup2(&actions_, copy.number(), one.there);
    }
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes_, 0);
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    const std::vector<char*> environment = environment_without_launcher();
    pid_t child = -1;
    const int error = posix_spawn(&child, program.c_str(), &actions_, &attributes_, argv.data(), environment.data());
    if (error != 0) throw std::system_error(error, std::generic_category(), "cannot start " + program);
    return child;
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

}  // namespace

ChildProcess::ChildProcess(const std::string& program, std::vector<std::string> words,
                           std::span<const InheritedDescriptor> inherited)
    : id_(Spawning().start(program, words, inherited)) {}

ChildProcess::~ChildProcess() {
  constexpr double kTimeout = 10;  // seconds; a process that waits for a broken disk cannot be killed
  if (!ended_) kill(-id_, SIGKILL);
  static_cast<void>(wait(kTimeout));
}

std::optional<int> ChildProcess::wait(double seconds) {
  using Steady = std::chrono::steady_clock;
  const auto begun = Steady::now();
  while (!ended_) {
    int status = 0;
    const pid_t found = waitpid(id_, &status, WNOHANG);
    if (found == id_) status_ = status;
    // If this process ignores SIGCHLD, waitpid() fails and the exit status is unknown.
    ended_ = found == id_ || (found < 0 && errno != EINTR);
    if (ended_ || std::chrono::duration<double>(Steady::now() - begun).count() > seconds) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return status_;
}

}  // namespace xferbench
