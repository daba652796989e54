// What streams of the simulated device do while they are captured, and the graph of it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "device/sim/event_simulator.hpp"
#include "device/sim/sim_tracer.hpp"
#include "device/stream.hpp"

namespace xferbench::sim {

/// Builds an operation when it is to run: data moves or not as it does then.
using Recipe = std::function<Operation()>;

struct Capture {
  struct Node {
    Recipe recipe;
    std::vector<std::size_t> after;
    Call call;
    const void* stream;    // that it was captured from; only tells streams apart
    bool awaited = false;  // by another node
  };
  std::vector<Node> nodes;  // in an order in which they can run
  bool open = true;
};

/// Where in a capture a stream or an event stands: behind the nodes `tails`. No capture: outside.
struct CapturePlace {
  std::shared_ptr<Capture> capture;
  std::vector<std::size_t> tails;
};

class SimGraph final : public GraphImpl {
 public:
  SimGraph(Device& device, std::shared_ptr<const Capture> captured)
      : GraphImpl(device), captured_(std::move(captured)) {}

  [[nodiscard]] const std::vector<Capture::Node>& nodes() const { return captured_->nodes; }
  /// The end of its last replay: a graph never runs twice at once.
  [[nodiscard]] const OperationPtr& end() const { return end_; }
  void ends_with(OperationPtr end) { end_ = std::move(end); }

 private:
  std::shared_ptr<const Capture> captured_;
  OperationPtr end_;
};

}  // namespace xferbench::sim
