// The order in which operations are enqueued, and what has to end because of it before another begins or a call
// returns: CUDA C++ Programming Guide, "Streams", "Implicit Synchronization", "Default Stream", "Events".
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

/// What has to end for something to have come so far: of each stream only its last operation. Where that would be many,
/// a join stands for them (Operation::is_join), so that a point never grows with the program.
using Point = std::vector<Index>;

/// So many operations of different streams need no join.
inline constexpr std::size_t kMostWithoutJoin = 16;

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
  [[nodiscard]] Point of_stream(std::uint32_t context, std::uint32_t stream);
  /// The last operations of all streams, or of those of a context.
  [[nodiscard]] Point of_all(std::optional<std::uint32_t> context);
  /// Those of them that ended after `begin`, but not after `end`.
  [[nodiscard]] Point ended_within(double begin, double end);

  /// Appends the joins that are in use to the program's operations, once all is enqueued.
  void add_joins();

 private:
  using Named = std::pair<std::uint32_t, std::uint32_t>;  // by context: a stream or an event
  struct State {
    Index tail = kNone;              // its last operation so far
    Point held{};                    // what its next one waits for besides
    std::vector<Index> no_call{};    // its operations that no call enqueued, by begin ...
    std::size_t no_call_placed = 0;  // ... of which so many are in their places
    std::vector<Index> groups{};     // that it belongs to
  };
  /// Streams that are waited for together.
  struct Group {
    std::vector<Index> streams{};
    std::vector<Index> changed{};  // those with another last operation since ...
    Index join = kNone;            // ... this was made of all of them ...
    std::uint32_t joined_at = 0;   // ... when so many operations were in their places
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
  std::map<Named, Index> indexes_;  // of streams
  std::vector<State> streams_;
  std::vector<Group> groups_;                // the first is of all streams
  std::map<std::uint32_t, Index> contexts_;  // groups: of all streams of a context
  std::map<std::uint32_t, Index> blocking_;  // groups: of its blocking streams
  std::vector<Operation> joins_;             // numbered behind the program's operations
  std::vector<std::uint32_t> positions_;     // of each operation, as they were placed, from 1 on; 0: it was not
  std::uint32_t placed_ = 0;
  std::vector<Index> by_end_;   // operations; empty until it is needed
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
