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

/// A set of operations that must all end: the last one of each stream. If there are many streams, a join stands for
/// them (Operation::is_join), so a point never grows with the program.
using Point = std::vector<Index>;

/// Largest number of streams for which a point lists operations without a join.
inline constexpr std::size_t kMostWithoutJoin = 16;

/// Fills in the dependencies of operations (Operation::after) while they are enqueued in order. Operations without a
/// call were started by the device, or before the recording; they are placed by the time at which they began.
class Order {
 public:
  /// The program's operations must be complete and sorted by begin. The program must outlive this object.
  explicit Order(Program& program);

  void enqueue(Index operation);
  /// Enqueues all operations without a call that began by `until` and are not yet enqueued.
  void enqueue_without_call(double until);

  void record(const recording::Event& event);
  /// Makes later operations of the stream wait for an event.
  void hold(const recording::Synchronization& sync);

  [[nodiscard]] Point of_event(const recording::Synchronization& sync) const;
  [[nodiscard]] Point of_stream(std::uint32_t context, std::uint32_t stream);
  /// The last operations of all streams, or of the streams of one context.
  [[nodiscard]] Point of_all(std::optional<std::uint32_t> context);
  /// The last operations of streams that ended after `begin`, but not after `end`.
  [[nodiscard]] Point ended_within(double begin, double end);

  /// Appends the joins to the program's operations, after the last operation is enqueued.
  void add_joins();

 private:
  using Named = std::pair<std::uint32_t, std::uint32_t>;  // context and stream, or context and event
  struct State {
    Index tail = kNone;              // last operation so far
    Point held{};                    // operations that its next operation must wait for, by event waits
    std::vector<Index> no_call{};    // operations without a call, sorted by begin ...
    std::size_t no_call_placed = 0;  // ... and how many of them are placed
    std::vector<Index> groups{};     // indices of the groups that the stream belongs to
  };
  /// Streams that can be waited for together: all, those of a context, or the blocking ones of a context.
  struct Group {
    std::vector<Index> streams{};
    std::vector<Index> changed{};  // streams with a new last operation since `join` was made
    Index join = kNone;            // includes the last operations of all streams
    std::uint32_t joined_at = 0;   // value of placed_ when `join` was made
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
  std::map<Named, Index> indexes_;  // indices into streams_
  std::vector<State> streams_;
  std::vector<Group> groups_;                // the first has all streams
  std::map<std::uint32_t, Index> contexts_;  // per context: index of the group of all its streams
  std::map<std::uint32_t, Index> blocking_;  // per context: index of the group of its blocking streams
  std::vector<Operation> joins_;             // their indices continue those of the program's operations
  std::vector<std::uint32_t> positions_;  // per operation: number in the order of placement, from 1 on; 0: not placed
  std::uint32_t placed_ = 0;
  std::vector<Index> by_end_;   // indices of operations, sorted by end; built on first use
  std::vector<Index> no_call_;  // operations without a call, sorted by begin
  std::size_t no_call_seen_ = 0;
  std::map<std::uint32_t, Index> legacy_;    // per context: the last operation in the legacy default stream
  std::map<Named, Point> latest_;            // per event: operations that a wait for it waits for
  std::map<std::uint64_t, Point> recorded_;  // per Event::record: operations that a wait for it waits for

  Index graph_call_ = kNone;  // the graph launch whose nodes are being enqueued, in the order of their begin
  using Ending = std::pair<double, Index>;
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> graph_running_;  // begun nodes of graph_call_
  std::optional<Index> graph_ended_;  // node of graph_call_ that ended last
};

}  // namespace xferbench::explain
