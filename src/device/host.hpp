// The machine around the GPU: facts for reports, memory that is left, and on which NUMA node the process runs and takes
// its memory from. A copy whose host memory lies on another node than the GPU crosses the link between the processors
// as well, and that is slower.
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

/// Where the process is to run and to take its memory from.
struct NumaPolicy {
  enum class Kind {
    local,  ///< the node that the GPU is attached to, as far as this machine permits
    node,   ///< node number `node`, or not at all
    none,   ///< nothing is changed: the system, taskset and numactl decide
  };
  Kind kind = Kind::local;
  int node = 0;  ///< for Kind::node, as Linux counts them
};
constexpr auto texts_of(NumaPolicy::Kind) { return std::to_array<std::string_view>({"local", "node", "none"}); }

/// Throws UsageError if the policy names a node that this machine does not have. Changes nothing.
void require_node(const NumaPolicy& policy);

/// Binds CPUs and memory of the calling thread, and so of every thread that it starts later, to the node that the
/// policy asks for. To be called before whatever allocates. `gpu_node` is that of the GPU, nothing if it is not known.
/// Returns why not all of Kind::local could be done; empty if it was. Throws UsageError if Kind::node cannot be done.
std::string place_process(const NumaPolicy& policy, std::optional<int> gpu_node);

/// The same for several GPUs: without a common_node() of them, Kind::local binds the process to none.
std::string place_process(const NumaPolicy& policy, std::span<const std::optional<int>> gpu_nodes);

/// The node that all of these are; nothing where one is not known, or another.
std::optional<int> common_node(std::span<const std::optional<int>> gpu_nodes);

/// Whether host memory for each GPU is to come from that GPU's own node: where Kind::local has no node for all of them,
/// because two are known to be on different ones.
bool each_from_its_own(const NumaPolicy& policy, std::span<const std::optional<int>> gpu_nodes);

/// While it lives, what the calling thread allocates comes from the node. Changes nothing without a node, where a
/// memory policy was set before, and where the system does not permit it.
class MemoryFromNode : NonCopyable {
 public:
  explicit MemoryFromNode(std::optional<int> node);
  ~MemoryFromNode();

 private:
  bool changed_ = false;
};

/// Bytes that can be taken now without swapping from the nodes that the calling thread's memory is bound to; nothing
/// where it is not bound, or where the system does not tell.
std::optional<std::uint64_t> available_bound_memory();

/// Whether memory can be bound to the nodes of this machine, and how many these are, in a few words.
std::string describe_numa();

/// Facts for reports: CPU, memory, kernel, and the NUMA node of the calling thread. Call it after place_process().
Environment::Host describe_host();

/// Bytes of host memory that can be taken now without swapping, within this process's control group and from the NUMA
/// nodes that the calling thread is bound to; nothing where the system does not tell.
std::optional<std::uint64_t> available_host_memory();

}  // namespace xferbench
