// Facts about the host, from /proc and the control group.
#include "device/host.hpp"

#include <sched.h>
#include <sys/utsname.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <thread>

#include "device/numa.hpp"

namespace xferbench {

namespace {

/// Value in bytes of a "Name:  123 kB" line of /proc/meminfo; 0 if it is not there.
std::uint64_t meminfo(const std::string& name) {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(name + ":")) continue;
    std::istringstream text(line.substr(name.size() + 1));
    std::uint64_t kib = 0;
    text >> kib;
    return kib * 1024;
  }
  return 0;
}

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return {};
}

std::uint64_t read_number(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  return file >> number ? number : 0;  // "max" and missing files mean no limit
}

/// The number after `name` in a file of "name number" lines; 0 if it is not there.
std::uint64_t statistic(const std::filesystem::path& path, const std::string& name) {
  std::ifstream file(path);
  std::string word;
  for (std::uint64_t number = 0; file >> word >> number;) {
    if (word == name) return number;
  }
  return 0;
}

/// What the control group (version 2) still allows; the largest number where it sets no limit.
std::uint64_t control_group_headroom() {
  constexpr auto kUnlimited = std::numeric_limits<std::uint64_t>::max();
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("0::")) continue;
    const std::filesystem::path group = "/sys/fs/cgroup" + line.substr(3);
    const std::uint64_t limit = read_number(group / "memory.max");
    const std::uint64_t used = read_number(group / "memory.current");
    // Page cache that nobody has used lately counts as used, yet is given back when memory is asked for.
    const std::uint64_t reclaimable = std::min(used, statistic(group / "memory.stat", "inactive_file"));
    if (limit != 0) return limit > used - reclaimable ? limit - (used - reclaimable) : 0;
  }
  return kUnlimited;
}

/// The NUMA node that holds every CPU this process may run on, if it is a single one.
std::optional<int> allowed_numa_node() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return std::nullopt;
  std::optional<int> node;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    const std::filesystem::path folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu);
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
      const std::string name = entry.path().filename();
      if (!name.starts_with("node") || name.size() == 4) continue;
      const int here = std::stoi(name.substr(4));
      if (node && *node != here) return std::nullopt;
      node = here;
    }
  }
  return node;
}

}  // namespace

Environment::Host describe_host() {
  Environment::Host host;
  host.cpu = cpu_model();
  host.logical_cpus = std::thread::hardware_concurrency();
  host.memory_bytes = meminfo("MemTotal");
  host.numa_node = allowed_numa_node();
  utsname system{};
  if (uname(&system) == 0) host.kernel = system.release;
  return host;
}

std::optional<std::uint64_t> available_host_memory() {
  const std::uint64_t available = meminfo("MemAvailable");
  if (available == 0) return std::nullopt;
  return std::min({available, control_group_headroom(), available_bound_memory().value_or(available)});
}

}  // namespace xferbench
