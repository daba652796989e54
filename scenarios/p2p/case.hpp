// Not a scenario: a case of p2p in the terms of what runs it, and which pairs of GPUs it stands for; what
// its results say together.
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

/// Who copies which way. Data of the first two goes from `from` to `to`.
enum class PeerDirection {
  write,               ///< `from` sends
  read,                ///< `to` fetches
  bidirectional,       ///< both send to each other at once
  bidirectional_read,  ///< both fetch from each other at once
};
inline constexpr std::array<std::string_view, 4> kPeerDirections{"write", "read", "bidirectional",
                                                                 "bidirectional-read"};

struct P2pCase {
  std::vector<int> from;   ///< the GPU that is named; none: each
  std::vector<int> to;     ///< likewise
  bool malformed = false;  ///< what should name one GPU, or a pair, names another number of them
  bool latency = false;
  PeerDirection direction = PeerDirection::write;
  Engine engine = Engine::copy_engine;
  bool staged = false;     ///< without access to each other's memory, through the host
  std::size_t size = 0;    ///< bytes each way
  std::size_t buffer = 0;  ///< of a chase
  bool cached = false;     ///< what it reads lies in the second-level cache of the GPU whose memory it is

  [[nodiscard]] bool both_ways() const {
    return direction == PeerDirection::bidirectional || direction == PeerDirection::bidirectional_read;
  }
  [[nodiscard]] bool fetched() const {
    return direction == PeerDirection::read || direction == PeerDirection::bidirectional_read;
  }
  [[nodiscard]] bool is_of_one_pair() const { return !from.empty() && !to.empty(); }
  /// The numbers of the GPUs that are named, `from` first.
  [[nodiscard]] std::vector<int> named() const;
  /// Of all directions.
  [[nodiscard]] std::uint64_t bytes() const { return both_ways() ? 2 * size : size; }
};

P2pCase p2p_case(const Case& c);

/// A case for each pair of GPUs that it stands for on this machine; itself where there is none.
std::vector<Case> pairs_of(const Case& c, const GpusOfRun& gpus);

/// Bytes of payload per second, of all directions, that the way of the case carries at most; 0 is unknown.
double payload_limit(const P2pCase& c, const Environment& environment);

std::optional<SkipReason> p2p_skip_reason(const P2pCase& c, const Capabilities* can);

/// Of results that are ok. Throws InputError or std::out_of_range for one that lacks what every such result has, as
/// only a file's can.
std::vector<Finding> p2p_findings(std::span<const Result* const> results);

}  // namespace xferbench
