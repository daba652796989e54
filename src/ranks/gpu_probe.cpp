#include "ranks/gpu_probe.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "core/descriptor.hpp"
#include "ranks/timed_collectives.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration): not every libc declares it

namespace xferbench {

namespace {

using ProbeClock = std::chrono::steady_clock;

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
class Spawning {
 public:
  Spawning() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
  }
  Spawning(const Spawning&) = delete;
  Spawning& operator=(const Spawning&) = delete;
  ~Spawning() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }

  /// Starts this program with these arguments in a process group of its own, so that its children can be killed with
  /// it. Its standard output goes to `output`. Returns the process id; -1 on an error.
  pid_t start(std::vector<std::string> words, int output) {
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes_, 0);
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    const std::vector<char*> environment = environment_without_launcher();
    pid_t child = -1;
    const int error = posix_spawn(&child, "/proc/self/exe", &actions_, &attributes_, argv.data(), environment.data());
    return error == 0 ? child : -1;
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

/// Waits for a child process and returns its exit status. Kills it after `timeout` seconds. Returns nullopt if the
/// child was killed or its status is unknown.
std::optional<int> wait_for_end(pid_t child, double timeout) {
  const auto begun = ProbeClock::now();
  int status = 0;
  while (true) {
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) return status;
    // If this process ignores SIGCHLD, waitpid() fails and the exit status is unknown.
    if (ended < 0 && errno != EINTR) return std::nullopt;
    if (std::chrono::duration<double>(ProbeClock::now() - begun).count() > timeout) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  kill(-child, SIGKILL);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return std::nullopt;
}

/// Returns the first line that is in the pipe now. Does not wait for more data, because another process may still hold
/// the write end open.
std::string text_in(int pipe) {
  std::string text;
  std::array<char, 512> some{};
  pollfd there{.fd = pipe, .events = POLLIN, .revents = 0};
  while (text.size() < some.size() && poll(&there, 1, 0) > 0) {
    const ssize_t length = read(pipe, some.data(), some.size());
    if (length <= 0) break;
    text.append(some.data(), static_cast<std::size_t>(length));
  }
  return text.substr(0, text.find('\n'));
}

}  // namespace

std::string why_mpi_takes_no_gpu_memory(int gpu, double timeout) {
  std::array<int, 2> ends{-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    return fmt::format("cannot create a pipe to the process that tests it: {}", strerror(errno));
  const Descriptor reading(ends[0]);
  pid_t child = -1;
  {
    const Descriptor writing(ends[1]);
    child = Spawning().start({"xferbench", kGpuProbeArgument, std::to_string(gpu)}, writing.number());
  }
  if (child < 0) return "the process that tests it cannot be started";
  const std::optional<int> status = wait_for_end(child, timeout);
  if (!status) return fmt::format("the process that tested it did not end within {} s", timeout);
  if (WIFSIGNALED(*status)) return fmt::format("the process that tested it was killed by signal {}", WTERMSIG(*status));
  if (WEXITSTATUS(*status) == 0) return {};
  const std::string said = text_in(reading.number());
  return said.empty() ? fmt::format("the process that tested it ended with exit code {}", WEXITSTATUS(*status)) : said;
}

std::string try_gpu_memory(Communicator& alone, Device& device, double timeout) {
  constexpr std::size_t kBytes = std::size_t{4} << 20;  // so large that MPI does not copy the message through a buffer
  constexpr int kTag = 1;
  const HostBuffer host = device.allocate_host(kBytes, HostMemory::pageable);
  const DeviceBuffer source = device.allocate_device(kBytes);
  const DeviceBuffer destination = device.allocate_device(kBytes);
  const std::span<std::byte> bytes(host.data, kBytes);
  const auto expected = [](std::size_t i) { return static_cast<std::byte>((i * 2654435761U) >> 24U); };
  const auto put = [&](const DeviceBuffer& memory) {
    device.copy_and_wait({memory.data, host.data, kBytes, Direction::h2d});
  };
  for (std::size_t i = 0; i < kBytes; ++i) bytes[i] = ~expected(i);
  put(destination);
  for (std::size_t i = 0; i < kBytes; ++i) bytes[i] = expected(i);
  put(source);
  for (const std::size_t length : {std::size_t{1024}, kBytes}) {
    const PendingPtr received = alone.receive(alone.rank(), kTag, {destination.data, length});
    const PendingPtr sent = alone.send(alone.rank(), kTag, {source.data, length});
    const Timeout waiting{.seconds = timeout};
    wait_for(*sent, waiting, "sending GPU memory");
    wait_for(*received, waiting, "receiving GPU memory");
  }
  std::ranges::fill(bytes, std::byte{});
  device.copy_and_wait({host.data, destination.data, kBytes, Direction::d2h});
  for (std::size_t i = 0; i < kBytes; ++i) {
    if (bytes[i] != expected(i)) return fmt::format("received byte {} is wrong", i);
  }
  return {};
}

}  // namespace xferbench
