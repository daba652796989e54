// The host around the GPU: facts for reports, available memory, and NUMA placement of the process. A copy whose host
// memory lies on another NUMA node than the GPU also crosses the link between the CPU sockets and is slower.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/enum_text.hpp"
#include "core/environment.hpp"
#include "core/non_copyable.hpp"

namespace xferbench {

/// The NUMA node that the process runs on and takes its memory from.
struct NumaPolicy {
  enum class Kind {
    local,  ///< the node that the GPU is attached to, as far as the system permits
    node,   ///< node number `node`; an error if that is impossible
    none,   ///< no binding: the system, taskset or numactl decide
  };
  Kind kind = Kind::local;
  int node = 0;  ///< Linux's number of the node; used only for Kind::node
};
constexpr auto texts_of(NumaPolicy::Kind) { return std::to_array<std::string_view>({"local", "node", "none"}); }

/// Throws UsageError if the policy names a node that this machine does not have. No side effects.
void require_node(const NumaPolicy& policy);

/// Binds CPUs and memory of the calling thread, and of all threads it starts later, to the policy's node. Call it
/// before anything allocates. `gpu_node`: the GPU's node, if known. Returns why Kind::local could not be applied in
/// full; empty on success. Throws UsageError if Kind::node cannot be applied.
std::string place_process(const NumaPolicy& policy, std::optional<int> gpu_node);

/// Like place_process() for one GPU, but for several. Kind::local binds nothing if they have no common_node().
std::string place_process(const NumaPolicy& policy, std::span<const std::optional<int>> gpu_nodes);

/// The node that all GPUs share; nothing if one is unknown or they differ.
std::optional<int> common_node(std::span<const std::optional<int>> gpu_nodes);

/// Whether host memory for each GPU must come from that GPU's own node: true for Kind::local with GPUs on different
/// nodes.
bool bind_each_to_own_node(const NumaPolicy& policy, std::span<const std::optional<int>> gpu_nodes);

/// Scope in which the calling thread allocates from the node. No effect without a node, if a memory policy was
/// already set, or if the system does not permit policies.
class MemoryFromNode : NonCopyable {
 public:
  explicit MemoryFromNode(std::optional<int> node);
  ~MemoryFromNode();

 private:
  bool changed_ = false;
};

/// Bytes available without swapping on the nodes that the calling thread's memory is bound to; nothing if it is not
/// bound or the system does not report it.
std::optional<std::uint64_t> available_bound_memory();

/// A short text: whether memory can be bound to NUMA nodes here, and how many nodes there are.
std::string describe_numa();

/// Facts for reports: CPU, memory, kernel, and the NUMA node of the calling thread. Call it after place_process().
Environment::Host describe_host();

/// Bytes of host memory available without swapping, within this process's control group and the NUMA nodes that the
/// calling thread is bound to; nothing where the system does not report it.
std::optional<std::uint64_t> available_host_memory();

}  // namespace xferbench
