// The host of the GPUs: facts for reports, available memory, and NUMA placement of the process. A copy whose host
// memory lies on another NUMA node than the GPU also crosses the link between the CPU sockets and is slower.
#pragma once

#include <sched.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/enum_text.hpp"
#include "core/environment.hpp"
#include "core/non_copyable.hpp"

namespace xferbench {

/// Which NUMA node the process runs on and allocates memory from.
struct NumaPolicy {
  enum class Kind {
    local,  ///< the GPU's node, as far as the system permits binding to it
    node,   ///< node number `node`; an error if binding to it is impossible
    none,   ///< no binding: the system, taskset or numactl decide
    each,   ///< no binding: cases are measured from each node in turn
  };
  Kind kind = Kind::local;
  int node = 0;  ///< Linux's number of the node; used only for Kind::node
};
constexpr auto texts_of(NumaPolicy::Kind) { return std::to_array<std::string_view>({"local", "node", "none", "all"}); }

/// Throws UsageError if the policy names a node that this machine does not have. Changes nothing.
void require_node(const NumaPolicy& policy);

/// Binds CPUs and memory of the calling thread, and of all threads it starts later, to the policy's node. Call it
/// before anything is allocated. `gpu_node` is the GPU's node, if known. Returns why Kind::local could not be applied
/// in full; empty on success. Throws UsageError if Kind::node cannot be applied.
std::string place_process(const NumaPolicy& policy, std::optional<int> gpu_node);

/// Like place_process() above, but for several GPUs. Kind::local binds to their common_node(), if they have one.
std::string place_process(const NumaPolicy& policy, std::span<const std::optional<int>> gpu_nodes);

/// Returns the NUMA node of all these GPUs; nothing if they are on different nodes or one is unknown.
std::optional<int> common_node(std::span<const std::optional<int>> gpu_nodes);

/// Whether host memory for each GPU must come from that GPU's own node: true for Kind::local with GPUs on different
/// nodes.
bool bind_each_to_own_node(const NumaPolicy& policy, std::span<const std::optional<int>> gpu_nodes);

/// Scope guard: within the scope, the calling thread allocates memory from the node. Has no effect without a node, if a
/// memory policy was already set, or if the system does not permit memory policies.
class MemoryFromNode : NonCopyable {
 public:
  explicit MemoryFromNode(std::optional<int> node);
  ~MemoryFromNode();

 private:
  bool changed_ = false;
};

/// Scope guard: within the scope, the calling thread, and threads that it starts, run on the node and allocate memory
/// from it, as far as the system permits that.
class OnNode : NonCopyable {
 public:
  explicit OnNode(int node);
  ~OnNode();

 private:
  MemoryFromNode memory_;
  std::unique_ptr<cpu_set_t> before_;  // the CPUs of the thread before; null if it was not moved
};

/// Returns the bytes available without swapping on the nodes that the calling thread's memory is bound to; nothing if
/// that memory is not bound to nodes, if there is only one node, or if the system does not report the bytes.
std::optional<std::uint64_t> available_bound_memory();

/// The huge pages that the system has reserved (hugetlb).
struct ReservedPages {
  std::uint64_t page = 0;  ///< bytes of one page
  std::uint64_t total = 0;
  std::uint64_t free = 0;  ///< neither used nor promised
};
ReservedPages reserved_pages();

/// Returns a short text: the number of NUMA nodes, or that memory cannot be bound to them here.
std::string describe_numa();

/// Returns facts for reports: CPU, memory, kernel, NUMA node of the calling thread. Call after place_process().
Environment::Host describe_host();

/// Returns the bytes that the memory limits of this process's control groups still allow: the smallest of its group and
/// of all groups above it, of version 1 or 2; nothing without a limit. Tests give other places for both files.
std::optional<std::uint64_t> control_group_headroom(
    const std::filesystem::path& groups_of_process = "/proc/self/cgroup",
    const std::filesystem::path& mounts = "/sys/fs/cgroup");

/// Returns why a system with this kernel may refuse to pin free memory; empty if no reason is known.
std::string pinning_hint(std::string_view kernel, std::uint64_t bytes);

/// Returns the bytes of host memory available without swapping, within this process's control group and the NUMA nodes
/// that the calling thread's memory is bound to; nothing if the system does not report the bytes.
std::optional<std::uint64_t> available_host_memory();

}  // namespace xferbench
