// The cases of scenario p2p: parsing, expansion to pairs of GPUs, limits, and findings.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/axis.hpp"
#include "core/environment.hpp"
#include "results/result.hpp"
#include "run/scenario.hpp"
#include "scenarios/common/transfer.hpp"

namespace xferbench {

/// Which GPU runs the copy. With write and read, the data goes from GPU `from` to GPU `to`.
enum class PeerDirection {
  write,               ///< `from` writes to `to`
  read,                ///< `to` reads from `from`
  bidirectional,       ///< both write to each other at once
  bidirectional_read,  ///< both read from each other at once
};
inline constexpr std::array<std::string_view, 4> kPeerDirections{"write", "read", "bidirectional",
                                                                 "bidirectional-read"};
/// Metric: bandwidth of the same copy through the host, measured if the peer path is slow.
inline constexpr const char* kStagedBandwidth = "staged_bandwidth";

struct P2pCase {
  std::vector<int> from;   ///< number of the source GPU; empty: each GPU
  std::vector<int> to;     ///< number of the destination GPU; empty: each GPU
  bool malformed = false;  ///< --pairs, --from or --to names a wrong number of GPUs
  bool latency = false;
  PeerDirection direction = PeerDirection::write;
  Engine engine = Engine::copy_engine;
  GpuMemory memory = GpuMemory::whole;
  bool staged = false;     ///< copies through the host, without peer access
  std::size_t size = 0;    ///< bytes per direction
  std::size_t buffer = 0;  ///< bytes of the buffer for the pointer chase
  bool cached = false;     ///< whether the data that the other GPU reads is in the owner's L2 cache

  [[nodiscard]] bool both_ways() const {
    return direction == PeerDirection::bidirectional || direction == PeerDirection::bidirectional_read;
  }
  [[nodiscard]] bool fetched() const {
    return direction == PeerDirection::read || direction == PeerDirection::bidirectional_read;
  }
  [[nodiscard]] bool is_of_one_pair() const { return !from.empty() && !to.empty(); }
  /// Returns the GPU numbers that the case names: first the numbers of `from`, then those of `to`.
  [[nodiscard]] std::vector<int> named() const;
  /// Payload bytes, both directions together.
  [[nodiscard]] std::uint64_t bytes() const { return both_ways() ? 2 * size : size; }
};

P2pCase p2p_case(const Case& c);

/// Returns one case per pair of GPUs that `c` stands for; only `c` itself if there is no such pair.
std::vector<Case> pairs_of(const Case& c, const GpusOfRun& gpus);

/// Returns the upper limit of payload bytes per second, both directions together; 0 if it is unknown.
double payload_limit(const P2pCase& c, const Environment& environment);

std::optional<SkipReason> p2p_skip_reason(const P2pCase& c, const Capabilities* can);

/// Returns the findings; `results` must be successful. Throws InputError or std::out_of_range if a result read from a
/// file lacks a required metric.
std::vector<Finding> p2p_findings(std::span<const Result* const> results);

}  // namespace xferbench
