// Derives what must end before an operation begins or a call returns, from the order in which operations are enqueued:
// CUDA C++ Programming Guide, "Streams", "Implicit Synchronization", "Default Stream", "Events".
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "explain/program.hpp"

namespace xferbench::explain {

/// What an event or a wait covers: the indices of operations that must all have ended, for each stream only its last
/// one. If there are many streams, one join (Operation::is_join) replaces them, so that the list stays short.
using Point = std::vector<Index>;

/// Largest number of operations in a Point; for more streams, a join replaces them.
inline constexpr std::size_t kMostWithoutJoin = 16;

/// Builder of the dependencies between operations (Operation::after). Operations, event records and waits must be
/// passed in the order of their calls. Operations without a call were started by the device, or before the recording;
/// they are ordered by the time at which they began.
class Order {
 public:
  /// The program's operations must be complete and sorted by begin. The program must outlive this object.
  explicit Order(Program& program);

  void enqueue(Index operation);
  /// Enqueues all operations without a call that began by `until` (seconds) and are not yet enqueued.
  void enqueue_without_call(double until);

  void record(const recording::Event& event);
  /// Makes later operations of the stream wait for an event (cudaStreamWaitEvent).
  void hold(const recording::Synchronization& sync);

  [[nodiscard]] Point of_event(const recording::Synchronization& sync) const;
  [[nodiscard]] Point of_stream(std::uint32_t context, std::uint32_t stream);
  /// Returns the last operations of all streams, or of the streams of one context.
  [[nodiscard]] Point of_all(std::optional<std::uint32_t> context);
  /// Of the last operations of all streams, returns those that ended after `begin`, but not after `end`.
  [[nodiscard]] Point ended_within(double begin, double end);

  /// Appends the joins to the program's operations. Must be called after all operations are enqueued.
  void add_joins();

 private:
  using Named = std::pair<std::uint32_t, std::uint32_t>;  // context and stream, or context and event
  struct State {
    Index tail = kNone;              // last operation so far
    Point held{};                    // operations that the next one must wait for because of cudaStreamWaitEvent
    std::vector<Index> no_call{};    // the stream's operations that have no call, sorted by begin
    std::size_t no_call_placed = 0;  // number of operations in `no_call` that place() has handled
    std::vector<Index> groups{};     // indices of the groups that the stream belongs to
  };
  /// Streams that can be waited for together: all, those of a context, or the blocking ones of a context.
  struct Group {
    std::vector<Index> streams{};
    std::vector<Index> changed{};  // streams with a new last operation since `join` was made
    Index join = kNone;            // index of the join of the last operations of all streams; kNone if none was made
    std::uint32_t joined_at = 0;   // value of placed_ when `join` was made, to find later operations
  };

  void place(Index operation);
  void set_tail(Index stream, Index operation);
  std::optional<Index> graph_predecessor(const Operation& o);
  void depend_on_legacy(Operation& o);
  [[nodiscard]] Point point_of(Index stream);
  [[nodiscard]] Point point_of(Group& group);
  void add(Point& point, Index operation) const;
  Index join(const Point& point, Index owner);
  [[nodiscard]] const Operation& operation(Index i) const;
  [[nodiscard]] Index position(Index i) const;

  Program& program_;
  std::map<Named, Index> indexes_;  // per context and stream: index into streams_
  std::vector<State> streams_;
  std::vector<Group> groups_;                // the first group has all streams
  std::map<std::uint32_t, Index> contexts_;  // per context: index of the group of all its streams
  std::map<std::uint32_t, Index> blocking_;  // per context: index of the group of its blocking streams
  std::vector<Operation> joins_;             // their indices continue those of the program's operations
  // Per operation: its number in the order of place() calls, from 1 on; 0 if it is not placed yet.
  std::vector<std::uint32_t> positions_;
  std::uint32_t placed_ = 0;
  std::vector<Index> by_end_;   // indices of operations, sorted by end; built on first use
  std::vector<Index> no_call_;  // operations without a call, sorted by begin
  std::size_t no_call_seen_ = 0;
  std::map<std::uint32_t, Index> legacy_;  // per context: the last operation in the legacy default stream
  std::map<Named, Point> latest_;          // per context and event: operations that the event's latest record covers
  // Per cudaEventRecord call (by its id, Event::record): operations that the event covers.
  std::map<std::uint64_t, Point> recorded_;

  Index graph_call_ = kNone;  // the graph launch whose nodes are being enqueued, in the order of their begin
  using Ending = std::pair<double, Index>;
  // Nodes of graph_call_ that have begun, ordered by their end.
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> graph_running_;
  std::optional<Index> graph_ended_;  // node of graph_call_ that ended last
};

}  // namespace xferbench::explain
