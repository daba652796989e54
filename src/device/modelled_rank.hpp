// The part of a simulation profile for several ranks (MPI processes): the host name and clock of one simulated rank,
// and the network between ranks.
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
  /// Cost of messages from one rank to another, as simulated.
  struct Way {
    double latency = 0;    ///< seconds that an empty message takes
    double bandwidth = 0;  ///< bytes per second that each rank can send, and can receive
    friend bool operator==(const Way&, const Way&) = default;
  };
  /// Network of the ranks. Values that the profile does not contain are absent.
  struct Network {
    std::optional<Way> within{};        ///< messages between ranks of one node
    std::optional<Way> between{};       ///< messages between nodes
    std::optional<double> overhead{};   ///< seconds of host time to start a message or a collective operation
    std::optional<double> jitter{};     ///< mean of the random addition to each latency, as a fraction of the latency
    std::optional<double> asymmetry{};  ///< fraction by which messages to lower ranks take longer than to higher ones
    friend bool operator==(const Network&, const Network&) = default;
  };

  std::string host;  ///< host name; empty: the real one
  Clock clock{};
  Network network{};
  friend bool operator==(const ModelledRank&, const ModelledRank&) = default;
};

/// Returns the simulated rank of a profile, which is given by name or file as for open_simulated(). For a built-in
/// profile, all values are defaults. Throws like open_simulated().
ModelledRank modelled_rank(const std::string& profile);

/// Returns `path` with placeholders replaced: %r by the rank, %l by the rank on its host, %h by the host name, %% by a
/// percent sign. Throws UsageError for any other letter.
std::string for_rank(const std::string& path, int rank, int local_rank, const std::string& host);

}  // namespace xferbench
