#include "inject/workers.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "recording/clock.hpp"

namespace xferbench::inject {

namespace {

/// A process with more of them starts new ones all the time, and none of them matters.
constexpr std::size_t kMostChildren = 256;

/// Appends the child processes of all threads of this process (proc_pid_task(5)). None where the kernel lacks the list.
void add_children_of(pid_t process, std::vector<pid_t>& found) {
  std::error_code gone;  // the process may end meanwhile
  for (std::filesystem::directory_iterator task(fmt::format("/proc/{}/task", process), gone), end; !gone && task != end;
       task.increment(gone)) {
    std::ifstream children(task->path() / "children");
    for (pid_t child = 0; found.size() < kMostChildren && children >> child;) found.push_back(child);
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
  try {
    std::map<pid_t, std::uint64_t> now_there;
    for (const pid_t child : descendants()) {
      const std::optional<std::uint64_t> cpu = cpu_of(child);
      if (!cpu) continue;
      const auto before = children_.find(child);
      const bool is_same = before != children_.end() && before->second <= *cpu;  // else the number was given again
      cpu_of_children_ += *cpu - (is_same ? before->second : 0);
      now_there[child] = *cpu;
    }
    children_ = std::move(now_there);
  } catch (const std::exception&) {  // out of memory: the children stay as they were
  }
  recorder_.add(recording::Type::workers, recording::Workers{.time = now(),
                                                             .cpu_of_process = nanoseconds_of(CLOCK_PROCESS_CPUTIME_ID),
                                                             .cpu_of_children = cpu_of_children_,
                                                             .children = static_cast<std::uint32_t>(children_.size())});
}

}  // namespace xferbench::inject
