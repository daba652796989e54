// A model of the network between simulated ranks. Their messages really travel through MPI; the model decides at which
// virtual time they arrive. docs/lab/fleets.md explains what the model leaves out.
#pragma once

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

/// Network parameters. The defaults are typical of shared memory within a node and of a 200 Gb/s network.
struct NetworkProfile {
  struct Hop {
    double latency = 0;    ///< seconds
    double bandwidth = 0;  ///< bytes per second of a rank in each direction (sending and receiving)
  };
  Hop within{0.6e-6, 10e9};  ///< between two ranks of one node
  Hop between{2e-6, 24e9};   ///< between ranks of different nodes
  double overhead = 0.1e-6;  ///< host time to begin an operation, seconds
  double jitter = 0.1;     ///< mean of an exponentially distributed addition to each latency, as a share of the latency
  double asymmetry = 0;    ///< increase of the latency of messages to a lower rank, as a share of the latency
  std::uint64_t seed = 1;  ///< seed of the jitter
};

/// Communicator that adds modelled times to the messages of another communicator. Each message carries its virtual
/// arrival time: when the sender's link becomes free, plus the network's time. A receiver's clock that is behind
/// advances to that time. Collective operations end at the latest time of all ranks, plus a latency for each level of a
/// tree.
///
/// Virtual time passes only in done(): when the real operation has ended, done() advances the host's clock to the
/// operation's virtual end.
class ModelledNetwork final : public Communicator {
 public:
  /// `host` provides this rank's virtual clock; the clocks of all ranks must show the same time. `nodes[i]` is the
  /// simulated node of rank i, from 0, wherever its process really runs; local ranks are counted within these nodes.
  /// `nodes` must outlive this object. Throws std::invalid_argument if the size of `nodes` is not the number of ranks.
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
    std::abort();  // GCC does not know that the virtual call does not return
  }

 private:
  class Modelled;
  /// Virtual times in seconds, sent along with an operation's data. `sizes` is only for gather(): number of bytes of
  /// these times that each rank sends.
  struct Times {
    std::vector<double> values;
    std::vector<std::size_t> sizes{};
    [[nodiscard]] std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(values)); }
  };
  using TimesPtr = std::unique_ptr<Times>;

  /// Advances the host's clock by NetworkProfile::overhead, the time to begin an operation. Returns the new time.
  double begin();
  [[nodiscard]] int node(int rank) const { return nodes_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] bool same_node(int other) const { return node(other) == node(rank()); }
  [[nodiscard]] const NetworkProfile::Hop& hop_to(int other) const;
  double jittered(double seconds);
  /// Returns the latency in seconds, with jitter, through a tree of all ranks from its root to its leaves.
  double tree();
  /// Returns an operation that is done once all real operations in `parts` are. It ends at the virtual time that `ends`
  /// computes from `times`.
  PendingPtr modelled(std::vector<PendingPtr> parts, TimesPtr times, std::function<double(const Times&)> ends);

  Communicator& ranks_;
  HostRuntime& host_;
  std::span<const int> nodes_;
  NetworkProfile profile_;
  double tree_latency_ = 0;
  // Virtual times at which this rank's links become free: [0] for its own node, [1] for other nodes.
  std::array<double, 2> sending_until_{};
  std::array<double, 2> receiving_until_{};
  std::mt19937_64 random_;
};

}  // namespace xferbench
