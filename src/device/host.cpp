// Facts about the host from /proc, /sys and the control group; NUMA placement: CPUs through the scheduler, memory
// through libnuma. The only file that includes libnuma's headers.
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
#include <limits>
#include <memory>
#include <set>
#include <system_error>
#include <thread>
#include <vector>

#include "core/error.hpp"

// libnuma reports what goes wrong inside it through these two, which print to standard error unless a program defines
// them. Here standard error is ours, and whatever matters is seen by its return value.
extern "C" {
void numa_error(char* /*where*/) {}
void numa_warn(int /*number*/, char* /*format*/, ...) {}  // NOLINT(cert-dcl50-cpp): libnuma's interface
}

namespace xferbench {

namespace {

using std::filesystem::path;

/// The number after the word `name` in a file of such pairs; 0 if it is not there.
std::uint64_t number_after(std::string_view name, const path& file) {
  std::ifstream text(file);
  std::uint64_t number = 0;
  for (std::string word; text >> word;) {
    if (word == name && text >> number) return number;
  }
  return 0;
}

constexpr const char* kMeminfo = "/proc/meminfo";  // in KiB

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return {};
}

std::uint64_t read_number(const path& file_path) {
  std::ifstream file(file_path);
  std::uint64_t number = 0;
  return file >> number ? number : 0;  // "max" and missing files mean no limit
}

/// What the control group (version 2) still allows; the largest number where it sets no limit.
std::uint64_t control_group_headroom() {
  constexpr auto kUnlimited = std::numeric_limits<std::uint64_t>::max();
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("0::")) continue;
    const path group = "/sys/fs/cgroup" + line.substr(3);
    const std::uint64_t limit = read_number(group / "memory.max");
    const std::uint64_t used = read_number(group / "memory.current");
    // Page cache that nobody has used lately counts as used, yet is given back when memory is asked for.
    const std::uint64_t reclaimable = std::min(used, number_after("inactive_file", group / "memory.stat"));
    if (limit != 0) return limit > used - reclaimable ? limit - (used - reclaimable) : 0;
  }
  return kUnlimited;
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

/// The numbers of this machine's nodes, in order; they may have gaps. A kernel without NUMA has one, number 0.
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

/// CPUs that the calling thread may run on; none where the system does not tell.
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

/// Narrows the calling thread's CPUs to those of the node; false, and no change, if none is left. Not with
/// numa_run_on_node(), which takes all CPUs of the node and so undoes taskset, and which is undefined where memory
/// policies are forbidden (numa(3)), as in many containers; choosing CPUs is not.
bool run_on(int node) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  for (const int cpu : allowed_cpus()) {
    if (is_on(node, cpu)) CPU_SET(cpu, &cpus);
  }
  return CPU_COUNT(&cpus) > 0 && sched_setaffinity(0, sizeof(cpus), &cpus) == 0;
}

/// Nodes that the calling thread's memory is bound to; null if it is not bound.
NodeMask bound_nodes() {
  NodeMask nodes = no_nodes();
  int mode = MPOL_DEFAULT;
  const bool known = get_mempolicy(&mode, nodes->maskp, nodes->size + 1, nullptr, 0) == 0;
  if (!known || mode != MPOL_BIND) nodes.reset();
  return nodes;
}

/// Whether numactl, say, has given the calling thread a memory policy other than binding it to the node.
bool has_other_policy(int node) {
  int mode = MPOL_DEFAULT;
  if (get_mempolicy(&mode, nullptr, 0, nullptr, 0) != 0 || mode == MPOL_DEFAULT) return false;
  const NodeMask bound = bound_nodes();
  return !bound || numa_bitmask_equal(bound.get(), only(node).get()) == 0;
}

/// Why the memory of the calling thread cannot be bound to the node; empty if it now is. Binds instead of preferring:
/// a node that is merely preferred gives way to another when it is full, and the numbers would be those of another
/// machine without a word. A bound one that is full fails the allocation, and available_bound_memory() lets the run
/// skip such a case before. Not with numa_set_membind(), which tells nobody whether it worked.
std::string bind_memory(int node) {
  const NodeMask nodes = only(node);
  if (set_mempolicy(MPOL_BIND, nodes->maskp, nodes->size + 1) == 0) return {};
  if (errno == EPERM || errno == ENOSYS) return "this system does not allow setting a memory policy";
  if (errno == EINVAL) return "it has no memory that this process may use";
  return "setting a memory policy: " + std::generic_category().message(errno);
}

/// Why the process cannot be bound to the node; empty if it now is. Policies set from outside are kept if `yielding`.
std::string bind_to(int node, bool yielding) {
  if (!run_on(node)) return fmt::format("NUMA node {} has no CPU that this process may run on", node);
  const bool has_libnuma = numa_available() >= 0;  // if not, nothing else of it may be called
  const std::string why = !has_libnuma                         ? "this system does not allow setting a memory policy"
                          : yielding && has_other_policy(node) ? "a memory policy was set before, and is kept"
                                                               : bind_memory(node);
  return why.empty() ? "" : fmt::format("only CPUs, not memory, are bound to NUMA node {}: {}", node, why);
}

/// Bytes of a node that are free or hold pages of files, which are given back when memory is asked for.
std::uint64_t available_on(int node) {
  std::uint64_t kib = 0;
  for (const char* name : {"MemFree:", "Active(file):", "Inactive(file):"}) {
    kib += number_after(name, folder_of(node) / "meminfo");
  }
  return kib * 1024;
}

/// The NUMA node that holds every CPU this process may run on, if it is a single one.
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

std::string describe_numa() {
  if (numa_available() < 0) return "not here: this system does not allow setting a memory policy";
  const std::size_t nodes = all_nodes().size();
  return fmt::format("{} node{}", nodes, nodes == 1 ? "" : "s");
}

Environment::Host describe_host() {
  Environment::Host host;
  host.cpu = cpu_model();
  host.logical_cpus = std::thread::hardware_concurrency();
  host.memory_bytes = 1024 * number_after("MemTotal:", kMeminfo);
  host.numa_node = allowed_numa_node();
  utsname system{};
  if (uname(&system) == 0) host.kernel = system.release;
  return host;
}

std::optional<std::uint64_t> available_host_memory() {
  const std::uint64_t available = 1024 * number_after("MemAvailable:", kMeminfo);
  if (available == 0) return std::nullopt;
  return std::min({available, control_group_headroom(), available_bound_memory().value_or(available)});
}

void require_node(const NumaPolicy& policy) {
  if (policy.kind != NumaPolicy::Kind::node) return;
  const std::vector<int> nodes = all_nodes();
  if (std::ranges::find(nodes, policy.node) != nodes.end()) return;
  const bool gaps = nodes.back() != static_cast<int>(nodes.size()) - 1;
  const std::string there = gaps ? fmt::format("{}", fmt::join(nodes, ", ")) : "numbered from 0";
  throw UsageError(fmt::format("there is no NUMA node {}: this machine has {}, {}; choose another --numa", policy.node,
                               nodes.size(), there));
}

std::string place_process(const NumaPolicy& policy, std::optional<int> gpu_node) {
  require_node(policy);
  if (policy.kind == NumaPolicy::Kind::none) return {};
  const bool local = policy.kind == NumaPolicy::Kind::local;
  const std::vector<int> nodes = all_nodes();
  const bool only_one = nodes.size() == 1;
  if (local && !gpu_node && !only_one) return "the GPU's NUMA node is not known";
  const int node = only_one ? nodes.front() : local ? *gpu_node : policy.node;
  std::string why = bind_to(node, local);
  if (only_one) return {};  // everything is on the only node, bound or not
  if (local || why.empty()) return why;
  throw UsageError(fmt::format("--numa {}: {}; choose another node, or local to go on without", node, why));
}

std::optional<int> common_node(std::span<const std::optional<int>> gpu_nodes) {
  const auto is_first = [gpu_nodes](const std::optional<int>& node) { return node == gpu_nodes.front(); };
  return !gpu_nodes.empty() && std::ranges::all_of(gpu_nodes, is_first) ? gpu_nodes.front() : std::nullopt;
}

bool each_from_its_own(const NumaPolicy& policy, std::span<const std::optional<int>> gpu_nodes) {
  std::set<int> known;
  for (const std::optional<int>& node : gpu_nodes) {
    if (node) known.insert(*node);
  }
  return policy.kind == NumaPolicy::Kind::local && known.size() > 1;
}

std::string place_process(const NumaPolicy& policy, std::span<const std::optional<int>> gpu_nodes) {
  if (each_from_its_own(policy, gpu_nodes)) {
    return "the GPUs are on several NUMA nodes: the process is bound to none of them, and host memory for each GPU "
           "comes from its own";
  }
  return place_process(policy, common_node(gpu_nodes));
}

MemoryFromNode::MemoryFromNode(std::optional<int> node) {
  if (!node || numa_available() < 0) return;
  int mode = MPOL_DEFAULT;
  if (get_mempolicy(&mode, nullptr, 0, nullptr, 0) != 0 || mode != MPOL_DEFAULT) return;
  changed_ = bind_memory(*node).empty();
}

MemoryFromNode::~MemoryFromNode() {
  if (changed_) static_cast<void>(set_mempolicy(MPOL_DEFAULT, nullptr, 0));
}

std::optional<std::uint64_t> available_bound_memory() {
  if (numa_available() < 0) return std::nullopt;
  const NodeMask bound = bound_nodes();
  if (!bound) return std::nullopt;
  std::uint64_t bytes = 0;
  for (const int node : all_nodes()) {
    if (numa_bitmask_isbitset(bound.get(), static_cast<unsigned>(node)) != 0) bytes += available_on(node);
  }
  return bytes > 0 ? std::optional(bytes) : std::nullopt;
}

}  // namespace xferbench
