// Host facts come from /proc, /sys and the control group. NUMA placement uses the scheduler for CPUs and libnuma for
// memory. Only this file includes libnuma's headers.
#include "device/host.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numa.h>
#include <numaif.h>
#include <sched.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/lists.hpp"
#include "core/spelling.hpp"

// libnuma reports internal errors through these two functions, which print to standard error unless the program
// defines them. We silence them and check return values instead.
extern "C" {
void numa_error(char* /*where*/) {}
void numa_warn(int /*number*/, char* /*format*/, ...) {}  // NOLINT(cert-dcl50-cpp): libnuma's interface
}

namespace xferbench {

namespace {

using std::filesystem::path;

/// Returns the number that follows the word `name` in a file such as /proc/meminfo; 0 if there is none.
std::uint64_t number_after(std::string_view name, const path& file) {
  std::ifstream text(file);
  std::uint64_t number = 0;
  for (std::string word; text >> word;) {
    if (word == name && text >> number) return number;
  }
  return 0;
}

constexpr const char* kMeminfo = "/proc/meminfo";  // values in KiB

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return {};
}

/// The file names of one version of control groups. A missing file and the word "max" mean no limit.
struct MemoryFiles {
  std::vector<const char*> limits;  ///< files with limits; the smallest limit applies
  const char* used;
  const char* reclaimable;  ///< in memory.stat: page cache, which counts as used, but is freed when memory is needed
};

/// Returns the bytes that one control group still allows; nothing if it sets no limit.
std::optional<std::uint64_t> headroom_of(const path& group, const MemoryFiles& files) {
  const auto read = [&](const char* name) {
    std::ifstream file(group / name);
    std::uint64_t number = 0;
    return file >> number ? std::optional(number) : std::nullopt;
  };
  std::optional<std::uint64_t> limit;
  for (const char* name : files.limits) {
    if (const auto one = read(name)) limit = std::min(limit.value_or(*one), *one);
  }
  if (!limit) return std::nullopt;
  const std::uint64_t used = read(files.used).value_or(0);
  const std::uint64_t kept = used - std::min(used, number_after(files.reclaimable, group / "memory.stat"));
  return *limit > kept ? *limit - kept : 0;
}

// --- NUMA -----------------------------------------------------------------------------------------------------------

using NodeMask = std::unique_ptr<bitmask, decltype(&numa_bitmask_free)>;

NodeMask no_nodes() { return {numa_allocate_nodemask(), &numa_bitmask_free}; }

NodeMask only(int node) {
  NodeMask mask = no_nodes();
  numa_bitmask_setbit(mask.get(), static_cast<unsigned>(node));
  return mask;
}

path folder_of(int node) { return "/sys/devices/system/node/node" + std::to_string(node); }

/// Returns the NUMA node numbers of this machine, ascending, possibly with gaps. Without NUMA support in the kernel,
/// returns one node, number 0.
std::vector<int> all_nodes() {
  std::vector<int> nodes;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder_of(0).parent_path(), ignored)) {
    const std::string name = entry.path().filename();
    const bool is_node = name.starts_with("node") && name.size() > 4 && std::isdigit(name[4]) != 0;
    if (is_node) nodes.push_back(std::stoi(name.substr(4)));
  }
  if (nodes.empty()) nodes.push_back(0);
  std::ranges::sort(nodes);
  return nodes;
}

/// Returns the CPUs that the calling thread may run on; empty if the system does not report them.
std::set<int> allowed_cpus() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  std::set<int> cpus;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) cpus.insert(cpu);
  }
  return cpus;
}

bool is_on(int node, int cpu) {
  std::error_code ignored;
  return std::filesystem::exists(folder_of(node) / ("cpu" + std::to_string(cpu)), ignored);
}

/// Narrows the calling thread's CPU affinity to the node's CPUs. Returns false and changes nothing if no CPU is left.
/// numa_run_on_node() is unsuitable: it takes all CPUs of the node and so undoes taskset, and it is undefined where
/// memory policies are forbidden (numa(3)), as in many containers.
bool run_on(int node) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  for (const int cpu : allowed_cpus()) {
    if (is_on(node, cpu)) CPU_SET(cpu, &cpus);
  }
  return CPU_COUNT(&cpus) > 0 && sched_setaffinity(0, sizeof(cpus), &cpus) == 0;
}

/// Returns the nodes that the calling thread's memory is bound to; null if it is not bound.
NodeMask bound_nodes() {
  NodeMask nodes = no_nodes();
  int mode = MPOL_DEFAULT;
  const bool known = get_mempolicy(&mode, nodes->maskp, nodes->size + 1, nullptr, 0) == 0;
  if (!known || mode != MPOL_BIND) nodes.reset();
  return nodes;
}

/// Whether the calling thread has a memory policy, for example from numactl, other than a binding to the node.
bool has_other_policy(int node) {
  int mode = MPOL_DEFAULT;
  if (get_mempolicy(&mode, nullptr, 0, nullptr, 0) != 0 || mode == MPOL_DEFAULT) return false;
  const NodeMask bound = bound_nodes();
  return !bound || numa_bitmask_equal(bound.get(), only(node).get()) == 0;
}

/// Binds the calling thread's memory to the node. Returns why that failed; empty on success. It binds and does not
/// merely prefer the node: if a preferred node is full, memory silently comes from another node, which changes the
/// results. If a bound node is full, allocations fail, and available_bound_memory() lets a run skip such a case.
/// numa_set_membind() is unsuitable because it does not report failure.
std::string bind_memory(int node) {
  const NodeMask nodes = only(node);
  if (set_mempolicy(MPOL_BIND, nodes->maskp, nodes->size + 1) == 0) return {};
  if (errno == EPERM || errno == ENOSYS) return "this system does not allow setting a memory policy";
  if (errno == EINVAL) return "it has no memory that this process may use";
  return "setting a memory policy: " + std::generic_category().message(errno);
}

/// Binds CPUs and memory of the calling thread to the node. Returns why that failed; empty on success. If `yielding`, a
/// memory policy that is already set is kept.
std::string bind_to(int node, bool yielding) {
  if (!run_on(node)) return fmt::format("NUMA node {} has no CPU that this process may run on", node);
  const bool has_libnuma = numa_available() >= 0;  // if not, no other libnuma function may be called
  const std::string why = !has_libnuma                         ? "this system does not allow setting a memory policy"
                          : yielding && has_other_policy(node) ? "a memory policy is set already, and is kept"
                                                               : bind_memory(node);
  return why.empty() ? "" : fmt::format("only CPUs, not memory, are bound to NUMA node {}: {}", node, why);
}

/// Returns the bytes of a node that are free or hold file pages, which the kernel can reclaim.
std::uint64_t available_on(int node) {
  std::uint64_t kib = 0;
  for (const char* name : {"MemFree:", "Active(file):", "Inactive(file):"}) {
    kib += number_after(name, folder_of(node) / "meminfo");
  }
  return kib * 1024;
}

/// Returns the NUMA node that holds all CPUs on which this process may run; nothing if they span several nodes.
std::optional<int> allowed_numa_node() {
  const std::vector<int> nodes = all_nodes();
  std::optional<int> found;
  for (const int cpu : allowed_cpus()) {
    for (const int node : nodes) {
      if (!is_on(node, cpu)) continue;
      if (found.value_or(node) != node) return std::nullopt;
      found = node;
    }
  }
  return found;
}

}  // namespace

ReservedPages reserved_pages() {
  constexpr std::uint64_t kUsualSize = 2048;  // KiB; for systems without hugetlb, which say nothing
  const std::uint64_t size = number_after("Hugepagesize:", kMeminfo);
  const std::uint64_t free = number_after("HugePages_Free:", kMeminfo);
  return {.page = 1024 * (size == 0 ? kUsualSize : size),
          .total = number_after("HugePages_Total:", kMeminfo),
          .free = free - std::min(free, number_after("HugePages_Rsvd:", kMeminfo))};
}

std::string describe_numa() {
  if (numa_available() < 0) return "unavailable: this system does not allow setting a memory policy";
  const std::size_t nodes = all_nodes().size();
  return fmt::format("{} node{}", nodes, nodes == 1 ? "" : "s");
}

std::optional<std::uint64_t> control_group_headroom(const path& groups_of_process, const path& mounts) {
  static const MemoryFiles kVersion1 = {{"memory.limit_in_bytes"}, "memory.usage_in_bytes", "total_inactive_file"};
  static const MemoryFiles kVersion2 = {{"memory.max", "memory.high"}, "memory.current", "inactive_file"};
  std::optional<std::uint64_t> least;
  std::ifstream file(groups_of_process);
  for (std::string line; std::getline(file, line);) {  // number:controllers:path
    const std::size_t controllers = line.find(':') + 1;
    const std::size_t place = line.find(':', controllers) + 1;
    if (controllers == 0 || place == 0) continue;
    const std::string names = "," + line.substr(controllers, place - 1 - controllers) + ",";
    const bool is_version2 = names == ",,";
    if (!is_version2 && names.find(",memory,") == std::string::npos) continue;
    const path top = is_version2 ? mounts : mounts / "memory";
    // A container may have a group whose path it cannot see. Then the group that is mounted at the top is its own.
    for (path rest = path(line.substr(place)).relative_path();; rest = rest.parent_path()) {
      const auto one = headroom_of(top / rest, is_version2 ? kVersion2 : kVersion1);
      if (one) least = std::min(least.value_or(*one), *one);
      if (rest.empty()) break;
    }
  }
  return least;
}

Environment::Host describe_host() {
  Environment::Host host;
  host.cpu = cpu_model();
  host.logical_cpus = std::thread::hardware_concurrency();
  host.memory_bytes = 1024 * number_after("MemTotal:", kMeminfo);
  host.numa_node = allowed_numa_node();
  if (std::vector<int> nodes = all_nodes(); nodes.size() > 1) host.numa_nodes = std::move(nodes);
  utsname system{};
  if (uname(&system) == 0) host.kernel = system.release;
  return host;
}

std::optional<std::uint64_t> available_host_memory() {
  const std::uint64_t available = 1024 * number_after("MemAvailable:", kMeminfo);
  if (available == 0) return std::nullopt;
  return std::min(
      {available, control_group_headroom().value_or(available), available_bound_memory().value_or(available)});
}

std::string pinning_hint(std::string_view kernel, std::uint64_t bytes) {
  if (lower_case(kernel).find("microsoft") == std::string::npos) {
    constexpr std::uint64_t kLarge = 64 * GiB;
    return bytes < kLarge ? "" : "drivers refuse to pin very much in one call: pin it in pieces (alloc --chunk 8G)";
  }
  return "under WSL2 Windows pins only a part of the memory, less than is free: choose a smaller --size, or pageable "
         "memory";
}

void require_node(const NumaPolicy& policy) {
  if (policy.kind != NumaPolicy::Kind::node) return;
  const std::vector<int> nodes = all_nodes();
  if (has_item(nodes, policy.node)) return;
  const bool gaps = nodes.back() != static_cast<int>(nodes.size()) - 1;
  const std::string there = gaps ? fmt::format("{}", fmt::join(nodes, ", ")) : "numbered from 0";
  throw UsageError(fmt::format("there is no NUMA node {}: this machine has {}, {}; choose another --numa", policy.node,
                               nodes.size(), there));
}

std::string place_process(const NumaPolicy& policy, std::optional<int> gpu_node) {
  require_node(policy);
  if (policy.kind == NumaPolicy::Kind::none || policy.kind == NumaPolicy::Kind::each) return {};
  const bool local = policy.kind == NumaPolicy::Kind::local;
  const std::vector<int> nodes = all_nodes();
  const bool only_one = nodes.size() == 1;
  if (local && !gpu_node && !only_one) return "the GPU's NUMA node is unknown";
  const int node = only_one ? nodes.front() : local ? *gpu_node : policy.node;
  std::string why = bind_to(node, local);
  if (only_one) return {};  // with a single node, a failure to bind does not matter
  if (local || why.empty()) return why;
  throw UsageError(
      fmt::format("--numa {}: {}; choose another node, or local, which runs without binding if it fails", node, why));
}

std::optional<int> common_node(std::span<const std::optional<int>> gpu_nodes) {
  const auto is_first = [gpu_nodes](const std::optional<int>& node) { return node == gpu_nodes.front(); };
  return !gpu_nodes.empty() && std::ranges::all_of(gpu_nodes, is_first) ? gpu_nodes.front() : std::nullopt;
}

bool bind_each_to_own_node(const NumaPolicy& policy, std::span<const std::optional<int>> gpu_nodes) {
  const std::vector<int> nodes = found_for(gpu_nodes);
  const std::set<int> known(nodes.begin(), nodes.end());
  return policy.kind == NumaPolicy::Kind::local && known.size() > 1;
}

std::string place_process(const NumaPolicy& policy, std::span<const std::optional<int>> gpu_nodes) {
  if (bind_each_to_own_node(policy, gpu_nodes)) {
    return "the GPUs are on several NUMA nodes: the process is bound to none, and each GPU's host memory comes from "
           "that GPU's node";
  }
  return place_process(policy, common_node(gpu_nodes));
}

MemoryFromNode::MemoryFromNode(std::optional<int> node) {
  if (!node || numa_available() < 0) return;
  int mode = MPOL_DEFAULT;
  if (get_mempolicy(&mode, nullptr, 0, nullptr, 0) != 0 || mode != MPOL_DEFAULT) return;
  changed_ = bind_memory(*node).empty();
}

OnNode::OnNode(int node) : memory_(node) {
  auto before = std::make_unique<cpu_set_t>();
  if (sched_getaffinity(0, sizeof(*before), before.get()) == 0 && run_on(node)) before_ = std::move(before);
}

OnNode::~OnNode() {
  if (before_) static_cast<void>(sched_setaffinity(0, sizeof(*before_), before_.get()));
}

MemoryFromNode::~MemoryFromNode() {
  if (changed_) static_cast<void>(set_mempolicy(MPOL_DEFAULT, nullptr, 0));
}

std::optional<std::uint64_t> available_bound_memory() {
  if (numa_available() < 0) return std::nullopt;
  const NodeMask bound = bound_nodes();
  // Some virtual machines report only a part of their memory as that of their only node.
  if (!bound || all_nodes().size() == 1) return std::nullopt;
  std::uint64_t bytes = 0;
  for (const int node : all_nodes()) {
    if (numa_bitmask_isbitset(bound.get(), static_cast<unsigned>(node)) != 0) bytes += available_on(node);
  }
  return bytes > 0 ? std::optional(bytes) : std::nullopt;
}

}  // namespace xferbench
