#include "inject/workers.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "core/descriptor.hpp"

namespace xferbench::inject {

namespace {

/// Maximum number of child processes to sample, so that sampling takes a bounded time.
constexpr std::size_t kMostChildren = 256;

/// Appends the child processes of all threads of this process (proc_pid_task(5)). None where the kernel lacks the list.
void add_children_of(pid_t process, std::vector<pid_t>& found) {
  std::error_code gone;  // the process may end meanwhile
  for (std::filesystem::directory_iterator task(fmt::format("/proc/{}/task", process), gone), end; !gone && task != end;
       task.increment(gone)) {
    // No stream of the standard library: the program's children must not inherit the descriptor.
    const Descriptor list(open((task->path() / "children").c_str(), O_RDONLY | O_CLOEXEC));  // NOLINT
    std::array<char, 8 * kMostChildren> text{};
    const ssize_t length = list ? ::read(list.number(), text.data(), text.size()) : 0;
    const char* const last = text.data() + std::max<ssize_t>(length, 0);
    pid_t child = 0;
    for (const char* next = text.data(); found.size() < kMostChildren; ++next) {
      const auto [behind, error] = std::from_chars(next, last, child);
      if (error != std::errc()) break;
      found.push_back(child);
      next = behind;
    }
  }
}

std::vector<pid_t> descendants() {
  std::vector<pid_t> found;
  add_children_of(getpid(), found);
  for (std::size_t i = 0; i < found.size(); ++i) add_children_of(found[i], found);
  return found;
}

/// Returns the CPU time of all threads of a process in nanoseconds; nothing if the process has ended.
std::optional<std::uint64_t> cpu_of(pid_t process) {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) return std::nullopt;
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace

void WorkerSampler::sample() noexcept {
  std::uint32_t there = 0;
  try {
    for (const pid_t child : descendants()) {
      const std::optional<std::uint64_t> now_used = cpu_of(child);
      if (!now_used) continue;
      std::uint64_t& used = children_[child];
      if (*now_used < used) used = 0;  // the process number was reused
      cpu_ += *now_used - std::exchange(used, *now_used);
      ++there;
    }
  } catch (const std::exception&) {  // out of memory: some children are left out
  }
  recorder_.add(recording::Type::workers, recording::Workers{.time = now(), .cpu = cpu_, .children = there});
}

}  // namespace xferbench::inject
