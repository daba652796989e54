#include "ranks/modelled_network.hpp"

#include <bit>
#include <cmath>
#include <iterator>
#include <stdexcept>

namespace xferbench {

namespace {

/// Returns the number of levels of a binary tree that connects `count` nodes: log2(count), rounded up.
double levels(int count) { return std::bit_width(static_cast<unsigned>(count) - 1); }

RankNumbers numbers_on(std::span<const int> nodes, const Communicator& ranks) {
  if (std::ssize(nodes) != ranks.size()) {
    throw std::invalid_argument("modelled network: the nodes have a different number of ranks");
  }
  const auto own = nodes.begin() + ranks.rank();
  return {.rank = ranks.rank(),
          .size = ranks.size(),
          .local_rank = static_cast<int>(std::count(nodes.begin(), own, *own)),
          .local_size = static_cast<int>(std::ranges::count(nodes, *own)),
          .node_root = static_cast<int>(std::ranges::find(nodes, *own) - nodes.begin())};
}

}  // namespace

class ModelledNetwork::Modelled final : public Pending {
 public:
  Modelled(ModelledNetwork& network, std::vector<PendingPtr> parts, TimesPtr times,
           std::function<double(const Times&)> ends)
      : network_(network), parts_(std::move(parts)), times_(std::move(times)), ends_(std::move(ends)) {
    std::ranges::reverse(parts_);  // done() removes parts from the back, so the first part must be last
  }

  ~Modelled() override {
    if (!parts_.empty()) network_.keep(std::move(times_));
  }

  [[nodiscard]] bool done() override {
    while (!parts_.empty()) {
      if (!parts_.back()->done()) return false;
      parts_.pop_back();
    }
    if (ends_) network_.host_.wait_until(std::exchange(ends_, nullptr)(*times_));
    return true;
  }

 private:
  ModelledNetwork& network_;
  std::vector<PendingPtr> parts_;
  TimesPtr times_;
  std::function<double(const Times&)> ends_;
};

ModelledNetwork::ModelledNetwork(Communicator& ranks, HostRuntime& host, std::span<const int> nodes,
                                 const NetworkProfile& profile)
    : Communicator(numbers_on(nodes, ranks)),
      ranks_(ranks),
      host_(host),
      nodes_(nodes),
      profile_(profile),
      random_(profile.seed * 0x9E3779B97F4A7C15U + static_cast<std::uint64_t>(ranks.rank())) {
  std::vector<int> sizes(static_cast<std::size_t>(std::ranges::max(nodes)) + 1);
  for (const int node : nodes) ++sizes[static_cast<std::size_t>(node)];
  tree_latency_ = levels(static_cast<int>(sizes.size())) * profile_.between.latency +
                  levels(std::ranges::max(sizes)) * profile_.within.latency;
}

double ModelledNetwork::begin() {
  const double now = host_.now() + profile_.overhead;
  host_.wait_until(now);
  return now;
}

const NetworkProfile::Hop& ModelledNetwork::hop_to(int other) const {
  return same_node(other) ? profile_.within : profile_.between;
}

double ModelledNetwork::jittered(double seconds) {
  const double uniform = static_cast<double>(random_() >> 11U) * 0x1p-53;
  return seconds * (1 - profile_.jitter * std::log1p(-uniform));
}

double ModelledNetwork::tree() { return jittered(tree_latency_); }

PendingPtr ModelledNetwork::modelled(std::vector<PendingPtr> parts, TimesPtr times,
                                     std::function<double(const Times&)> ends) {
  return std::make_unique<Modelled>(*this, std::move(parts), std::move(times), std::move(ends));
}

PendingPtr ModelledNetwork::barrier() { return all_reduce({}, Reduction::max); }

PendingPtr ModelledNetwork::all_reduce(std::span<double> values, Reduction reduction) {
  auto times = std::make_unique<Times>(Times{{begin()}});
  std::vector<PendingPtr> parts;
  if (!values.empty()) parts.push_back(ranks_.all_reduce(values, reduction));
  parts.push_back(ranks_.all_reduce(times->values, Reduction::max));
  const double takes = tree() + static_cast<double>(values.size_bytes()) / profile_.between.bandwidth;
  return modelled(std::move(parts), std::move(times), [=](const Times& t) { return t.values[0] + takes; });
}

/// Models a broadcast that is pipelined through a tree of ranks, so the transfer time of the data counts only once.
PendingPtr ModelledNetwork::broadcast(std::span<std::byte> data, int root) {
  auto times = std::make_unique<Times>(Times{{begin()}});
  std::vector<PendingPtr> parts;
  parts.push_back(ranks_.broadcast(times->bytes(), root));
  parts.push_back(ranks_.broadcast(data, root));
  const double takes = (root == rank() ? 0 : tree()) + static_cast<double>(data.size()) / profile_.between.bandwidth;
  return modelled(std::move(parts), std::move(times), [=](const Times& t) { return t.values[0] + takes; });
}

/// Models a gather in which all data passes through the link of rank 0. The other ranks are done once they have sent
/// their data.
PendingPtr ModelledNetwork::gather(std::span<const std::byte> mine, std::span<std::byte> all,
                                   std::span<const std::size_t> sizes) {
  auto times = std::make_unique<Times>(Times{{begin()}});
  times->values.resize(1 + sizes.size());  // [0]: time of this rank; at rank 0, followed by the times of all ranks
  times->sizes.assign(sizes.size(), sizeof(double));
  const std::span<double> own = std::span(times->values).first(1);
  const std::span<double> others = std::span(times->values).subspan(1);
  std::vector<PendingPtr> parts;
  parts.push_back(ranks_.gather(std::as_bytes(own), std::as_writable_bytes(others), times->sizes));
  parts.push_back(ranks_.gather(mine, all, sizes));
  const auto bytes = static_cast<double>(rank() == 0 ? all.size() : mine.size());
  const double takes = (rank() == 0 ? tree() : 0) + bytes / profile_.between.bandwidth;
  return modelled(std::move(parts), std::move(times),
                  [=](const Times& t) { return *std::ranges::max_element(t.values) + takes; });
}

PendingPtr ModelledNetwork::send(int to, int tag, std::span<const std::byte> data) {
  const NetworkProfile::Hop& hop = hop_to(to);
  double& link = sending_until_.at(same_node(to) ? 0 : 1);
  link = std::max(begin(), link) + static_cast<double>(data.size()) / hop.bandwidth;
  const double latency = jittered(hop.latency) * (to < rank() ? 1 + profile_.asymmetry : 1);
  auto times = std::make_unique<Times>(Times{{link + latency}});
  std::vector<PendingPtr> parts;
  parts.push_back(ranks_.send(to, tag, times->bytes()));
  parts.push_back(ranks_.send(to, tag, data));
  return modelled(std::move(parts), std::move(times), [left = link](const Times&) { return left; });
}

PendingPtr ModelledNetwork::receive(int from, int tag, std::span<std::byte> data) {
  begin();
  auto times = std::make_unique<Times>(Times{{0}});
  std::vector<PendingPtr> parts;
  parts.push_back(ranks_.receive(from, tag, times->bytes()));
  parts.push_back(ranks_.receive(from, tag, data));
  const double takes = static_cast<double>(data.size()) / hop_to(from).bandwidth;
  double& link = receiving_until_.at(same_node(from) ? 0 : 1);
  return modelled(std::move(parts), std::move(times),
                  [&link, takes](const Times& t) { return link = std::max(t.values[0], link + takes); });
}

}  // namespace xferbench
