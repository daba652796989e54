// The order in which operations are enqueued, and what has to end because of it before another begins or a call
// returns: CUDA C++ Programming Guide, "Streams", "Implicit Synchronization", "Default Stream", "Events".
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "explain/program.hpp"

namespace xferbench::explain {

/// What has to end for something to have come so far.
using Point = std::vector<Index>;

/// Fills in what the operations of a program depend on (Operation::after), as they are enqueued one after the other.
/// Operations without a call are the device's, or come from before what was recorded: they take their places by when
/// they began.
class Order {
 public:
  /// The program's operations are complete, and by begin. It must outlive this.
  explicit Order(Program& program);

  void enqueue(Index operation);
  /// All without a call that began by then, as far as that has not happened.
  void enqueue_without_call(double until);

  void record(const recording::Event& event);
  /// What the stream gets from now on waits for an event.
  void hold(const recording::Synchronization& sync);

  [[nodiscard]] Point of_event(const recording::Synchronization& sync) const;
  [[nodiscard]] Point of_stream(std::uint32_t context, std::uint32_t stream) const;
  /// The last operations of all streams, or of those of a context.
  [[nodiscard]] Point of_all(std::optional<std::uint32_t> context) const;

 private:
  using Named = std::pair<std::uint32_t, std::uint32_t>;  // by context: a stream or an event
  struct State {
    Index tail = kNone;              // its last operation so far
    Point held{};                    // what its next one waits for besides
    std::vector<Index> no_call{};    // its operations that no call enqueued, by begin ...
    std::size_t no_call_placed = 0;  // ... of which so many are in their places
  };

  void place(Index operation);
  std::optional<Index> graph_predecessor(const Operation& o);
  void depend_on_legacy(Operation& o);
  [[nodiscard]] Point point_of(Index stream) const;

  Program& program_;
  std::map<Named, Index> indexes_;  // of streams
  std::vector<State> streams_;
  std::vector<bool> placed_;    // of each operation
  std::vector<Index> no_call_;  // by begin
  std::size_t no_call_seen_ = 0;
  std::map<std::uint32_t, Index> legacy_;    // of each context: the last operation in its legacy default stream
  std::map<Named, Point> latest_;            // of each event
  std::map<std::uint64_t, Point> recorded_;  // by Event::record

  Index graph_call_ = kNone;  // the launch whose nodes are enqueued, by begin
  using Ending = std::pair<double, Index>;
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> graph_running_;  // those that have begun
  std::optional<Index> graph_ended_;                                                // the last of them that has ended
};

}  // namespace xferbench::explain
