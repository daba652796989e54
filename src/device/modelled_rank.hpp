// What a profile file says of a simulated rank beside its machine, for runs of several: where it is, how its clock
// goes, and what the network between ranks is like.
#pragma once

#include <optional>
#include <string>

namespace xferbench {

struct ModelledRank {
  /// What the rank's clock shows is (1 + drift) t + offset, at t seconds of the time that all ranks share.
  struct Clock {
    double offset = 0;  ///< in seconds
    double drift = 0;
    friend bool operator==(const Clock&, const Clock&) = default;
  };
  /// Messages from one rank to another.
  struct Way {
    double latency = 0;    ///< of the smallest message, in seconds
    double bandwidth = 0;  ///< bytes per second that a rank sends, and that it receives
    friend bool operator==(const Way&, const Way&) = default;
  };
  /// What the file does not say is absent.
  struct Network {
    std::optional<Way> within{};        ///< a node
    std::optional<Way> between{};       ///< nodes
    std::optional<double> overhead{};   ///< seconds of the host that beginning an operation takes
    std::optional<double> jitter{};     ///< mean of what is added to each latency at random, as a share of it
    std::optional<double> asymmetry{};  ///< share of its latency by which a message to a lower rank takes longer
    friend bool operator==(const Network&, const Network&) = default;
  };

  std::string host;  ///< its name; empty: as the machine says
  Clock clock{};
  Network network{};
  friend bool operator==(const ModelledRank&, const ModelledRank&) = default;
};

/// Of a profile as open_simulated() takes it, and throws as that does. A built-in profile says nothing.
ModelledRank modelled_rank(const std::string& profile);

/// The path of a rank's own file: %r stands for its rank, %l for its rank among those of its host, %h for the name of
/// that host, %% for a percent sign. Throws UsageError for another letter.
std::string for_rank(const std::string& path, int rank, int local_rank, const std::string& host);

}  // namespace xferbench
