// The network between simulated ranks. Their messages really travel through MPI, which takes what it takes; when they
// arrive by the ranks' virtual clocks is modelled here. docs/lab/fleets.md tells what the model leaves out.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "device/host_runtime.hpp"
#include "ranks/communicator.hpp"

namespace xferbench {

/// What messages take. The numbers are typical of memory that processes share, and of a 200 Gb/s network.
struct NetworkProfile {
  struct Hop {
    double latency = 0;    ///< seconds
    double bandwidth = 0;  ///< bytes per second that a rank sends, and that it receives
  };
  Hop within{0.6e-6, 10e9};  ///< a node
  Hop between{2e-6, 24e9};   ///< nodes
  double overhead = 0.1e-6;  ///< seconds of the host that beginning an operation takes
  double jitter = 0.1;       ///< adds to each latency: exponentially distributed, its mean this share of the latency
  double asymmetry = 0;      ///< share of its latency by which a message to a lower rank takes longer
  std::uint64_t seed = 1;    ///< of the jitter
};

/// Each message carries the virtual time at which it arrives: its sender's, when the link is free, and what the network
/// takes. A receiver's clock goes on to that time where it is behind. Collective operations end at the latest of the
/// ranks' times plus a latency for each level of a tree.
///
/// Asking is waiting: where done() finds that an operation has ended in truth, it lets the host's clock go on to the
/// virtual time of that, and never waits for anything else.
class ModelledNetwork final : public Communicator {
 public:
  /// `host` has this rank's virtual clock; those of all ranks show the same time. `nodes`: on which node each simulated
  /// rank is, wherever its process really runs, counted from 0; local ranks are counted by these. It must outlive this.
  /// Throws std::invalid_argument where it is of another number of ranks.
  ModelledNetwork(Communicator& ranks, HostRuntime& host, std::span<const int> nodes,
                  const NetworkProfile& profile = {});

  [[nodiscard]] std::string library() const override { return ranks_.library() + ", modelled times"; }

  [[nodiscard]] PendingPtr barrier() override;
  [[nodiscard]] PendingPtr broadcast(std::span<std::byte> data, int root) override;
  [[nodiscard]] PendingPtr gather(std::span<const std::byte> mine, std::span<std::byte> all,
                                  std::span<const std::size_t> sizes) override;
  [[nodiscard]] PendingPtr all_reduce(std::span<double> values, Reduction reduction) override;
  [[nodiscard]] PendingPtr send(int to, int tag, std::span<const std::byte> data) override;
  [[nodiscard]] PendingPtr receive(int from, int tag, std::span<std::byte> data) override;

  void keep(std::shared_ptr<void> memory) override { ranks_.keep(std::move(memory)); }
  [[noreturn]] void abort(int code) noexcept override {
    ranks_.abort(code);
    std::abort();  // GCC forgets that what it calls virtually does not return
  }

 private:
  class Modelled;
  /// Virtual times that travel beside an operation's data, and the sizes of theirs.
  struct Times {
    std::vector<double> values;
    std::vector<std::size_t> sizes{};
    [[nodiscard]] std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(values)); }
  };
  using TimesPtr = std::unique_ptr<Times>;

  /// Takes the overhead; the time after it.
  double begin();
  [[nodiscard]] int node(int rank) const { return nodes_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] bool same_node(int other) const { return node(other) == node(rank()); }
  [[nodiscard]] const NetworkProfile::Hop& hop_to(int other) const;
  double jittered(double seconds);
  /// What a tree over all ranks takes from its root to its leaves.
  double tree();
  /// One that ends once all `parts` have, at the virtual time that `ends` makes of the times.
  PendingPtr modelled(std::vector<PendingPtr> parts, TimesPtr times, std::function<double(const Times&)> ends);

  Communicator& ranks_;
  HostRuntime& host_;
  std::span<const int> nodes_;
  NetworkProfile profile_;
  double tree_latency_ = 0;
  // When this rank's links are free again: within its node and between nodes.
  std::array<double, 2> sending_until_{};
  std::array<double, 2> receiving_until_{};
  std::mt19937_64 random_;
};

}  // namespace xferbench
