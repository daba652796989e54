// Multi-rank part of a simulation profile: the host name and clock of a simulated rank, and the network between
// ranks.
#pragma once

#include <optional>
#include <string>

namespace xferbench {

struct ModelledRank {
  /// The rank's clock reads (1 + drift) t + offset at t seconds of the global time.
  struct Clock {
    double offset = 0;  ///< seconds
    double drift = 0;
    friend bool operator==(const Clock&, const Clock&) = default;
  };
  /// Cost model of messages from one rank to another.
  struct Way {
    double latency = 0;    ///< seconds that an empty message takes
    double bandwidth = 0;  ///< bytes per second that each rank can send, and can receive
    friend bool operator==(const Way&, const Way&) = default;
  };
  /// Values that the profile does not give are absent.
  struct Network {
    std::optional<Way> within{};        ///< messages between ranks of one node
    std::optional<Way> between{};       ///< messages between nodes
    std::optional<double> overhead{};   ///< host seconds to start an operation
    std::optional<double> jitter{};     ///< mean of the random addition to each latency, as a fraction of the latency
    std::optional<double> asymmetry{};  ///< fraction by which the latency to a lower rank is longer
    friend bool operator==(const Network&, const Network&) = default;
  };

  std::string host;  ///< host name; empty: the real one
  Clock clock{};
  Network network{};
  friend bool operator==(const ModelledRank&, const ModelledRank&) = default;
};

/// Reads the multi-rank part of a profile, given by name or file as for open_simulated(). Throws as open_simulated()
/// does. Built-in profiles have no multi-rank part.
ModelledRank modelled_rank(const std::string& profile);

/// Expands placeholders in a path: %r is the rank, %l the rank on its host, %h the host name, %% a percent sign.
/// Throws UsageError for any other letter.
std::string for_rank(const std::string& path, int rank, int local_rank, const std::string& host);

}  // namespace xferbench
