#include "explain/order.hpp"

#include <algorithm>
#include <numeric>

namespace xferbench::explain {

using recording::StreamFlag;

Order::Order(Program& program)
    : program_(program), streams_(program.streams.size()), groups_(1), positions_(program.operations.size(), 0) {
  const auto join_group = [this](Index s, Index group) {
    if (group == groups_.size()) groups_.emplace_back();
    groups_[group].streams.push_back(s);
    streams_[s].groups.push_back(group);
  };
  const auto group_of = [this](std::map<std::uint32_t, Index>& groups, std::uint32_t context) {
    return groups.try_emplace(context, static_cast<Index>(groups_.size())).first->second;
  };
  for (Index s = 0; s < program.streams.size(); ++s) {
    const StreamInfo& stream = program.streams[s];
    indexes_[{stream.context, stream.stream}] = s;
    join_group(s, 0);
    join_group(s, group_of(contexts_, stream.context));
    if (stream.flag == StreamFlag::blocking) join_group(s, group_of(blocking_, stream.context));
  }
  for (Index i = 0; i < program.operations.size(); ++i) {
    const Operation& o = program.operations[i];
    if (o.call != kNone) continue;
    no_call_.push_back(i);
    streams_[o.stream].no_call.push_back(i);
  }
}

// --- Operations -----------------------------------------------------------------------------------------------------

void Order::enqueue(Index operation) {
  State& stream = streams_[program_.operations[operation].stream];
  while (stream.no_call_placed < stream.no_call.size() && stream.no_call[stream.no_call_placed] < operation) {
    // Operations of a stream begin in the order in which they are enqueued, so this one comes before `operation`.
    place(stream.no_call[stream.no_call_placed++]);
  }
  place(operation);
}

void Order::enqueue_without_call(double until) {
  for (; no_call_seen_ < no_call_.size(); ++no_call_seen_) {
    if (program_.operations[no_call_[no_call_seen_]].begin > until) return;
    enqueue(no_call_[no_call_seen_]);
  }
}

void Order::place(Index i) {
  if (positions_[i] != 0) return;
  positions_[i] = ++placed_;
  Operation& o = program_.operations[i];
  State& stream = streams_[o.stream];
  depend(o, o.in_graph ? graph_predecessor(o).value_or(stream.tail) : stream.tail);
  for (const Index held : std::exchange(stream.held, {})) depend(o, held);
  if (!o.in_graph) depend_on_legacy(o);
  const bool is_last = stream.tail == kNone || !o.in_graph || program_.operations[stream.tail].end <= o.end;
  if (is_last) set_tail(o.stream, i);
  if (program_.streams[o.stream].flag == StreamFlag::legacy) legacy_[program_.streams[o.stream].context] = i;
}

void Order::set_tail(Index s, Index i) {
  const Index before = std::exchange(streams_[s].tail, i);
  for (const Index g : streams_[s].groups) {
    Group& group = groups_[g];
    if (before == kNone || positions_[before] <= group.joined_at) group.changed.push_back(s);
  }
}

/// Returns the node of the graph that ended last before `o` began; nothing if none had ended. CUPTI records no edges of
/// a graph, so each node is assumed to depend on that node.
std::optional<Index> Order::graph_predecessor(const Operation& o) {
  if (graph_call_ != o.call) {
    graph_call_ = o.call;
    graph_running_ = {};
    graph_ended_.reset();
  }
  while (!graph_running_.empty() && graph_running_.top().first <= o.begin) {
    graph_ended_ = graph_running_.top().second;
    graph_running_.pop();
  }
  graph_running_.emplace(o.end, static_cast<Index>(&o - program_.operations.data()));
  return graph_ended_;
}

/// The legacy default stream waits for all blocking streams of its context, and they wait for it.
void Order::depend_on_legacy(Operation& o) {
  const StreamInfo& own = program_.streams[o.stream];
  if (own.flag == StreamFlag::blocking) {
    const auto found = legacy_.find(own.context);
    if (found != legacy_.end()) depend(o, found->second, true);
    return;
  }
  const auto blocking = blocking_.find(own.context);
  if (own.flag != StreamFlag::legacy || blocking == blocking_.end()) return;
  for (const Index other : point_of(groups_[blocking->second])) depend(o, other, true);
}

// --- Points ---------------------------------------------------------------------------------------------------------

const Operation& Order::operation(Index i) const {
  const std::size_t recorded = program_.operations.size();
  return i < recorded ? program_.operations[i] : joins_[i - recorded];
}

/// Returns a number that is larger for later operations of a stream, and for later joins of a stream or stream group.
Index Order::position(Index i) const { return i < positions_.size() ? positions_[i] : i; }

/// Adds an operation to a point. Keeps only the last operation of each stream, because it ends after all earlier ones.
void Order::add(Point& point, Index i) const {
  if (i == kNone) return;
  const auto same = std::ranges::find(point, operation(i).stream, [this](Index o) { return operation(o).stream; });
  if (same == point.end()) {
    point.push_back(i);
  } else if (position(*same) < position(i)) {
    *same = i;
  }
}

/// Adds a join, an operation that only waits for the operations of `point`. Each join of an owner (a stream or a group)
/// includes the owner's previous join.
Index Order::join(const Point& point, Index owner) {
  Operation& made = joins_.emplace_back();
  made.is_join = true;
  made.stream = static_cast<Index>(streams_.size()) + owner;
  for (const Index i : point) made.after.push_back({i});
  return static_cast<Index>(program_.operations.size() + joins_.size() - 1);
}

/// Returns the operations that a wait for the stream covers: the stream's last one, those that the stream must wait for
/// because of events and, for the legacy default stream, the last operations of all blocking streams.
Point Order::point_of(Index stream) {
  Point point = streams_[stream].held;
  add(point, streams_[stream].tail);
  const StreamInfo& own = program_.streams[stream];
  const auto blocking = blocking_.find(own.context);
  if (own.flag != StreamFlag::legacy || blocking == blocking_.end()) return point;
  for (const Index other : point_of(groups_[blocking->second])) add(point, other);
  return point;
}

/// Returns the last operations of all streams of the group. With more than kMostWithoutJoin streams, returns a join of
/// the group's previous join and the last operations of streams that have changed since then.
Point Order::point_of(Group& group) {
  Point point;
  const bool few = group.streams.size() <= kMostWithoutJoin;
  for (const Index s : few ? group.streams : group.changed) {
    if (streams_[s].tail != kNone) point.push_back(streams_[s].tail);
  }
  if (few) return point;
  if (group.join != kNone) point.push_back(group.join);
  if (point.size() <= 1) return point;
  group.changed.clear();
  group.joined_at = placed_;
  group.join = join(point, static_cast<Index>(streams_.size()) + static_cast<Index>(&group - groups_.data()));
  return {group.join};
}

// --- Events and waits -----------------------------------------------------------------------------------------------

void Order::record(const recording::Event& event) {
  const Point point = of_stream(event.context, event.stream);
  latest_[{event.context, event.event}] = point;
  if (event.record != 0) recorded_[event.record] = point;
}

void Order::hold(const recording::Synchronization& sync) {
  const auto stream = indexes_.find({sync.context, sync.stream});
  if (stream == indexes_.end()) return;  // nothing is ever enqueued in this stream
  State& state = streams_[stream->second];
  for (const Index i : of_event(sync)) add(state.held, i);
  if (state.held.size() <= kMostWithoutJoin) return;
  add(state.held, state.tail);
  state.held = {join(state.held, stream->second)};
}

Point Order::of_event(const recording::Synchronization& sync) const {
  if (sync.event_record != 0) {
    const auto found = recorded_.find(sync.event_record);
    return found == recorded_.end() ? Point() : found->second;
  }
  const auto found = latest_.find({sync.context, sync.event});
  return found == latest_.end() ? Point() : found->second;
}

Point Order::of_stream(std::uint32_t context, std::uint32_t stream) {
  const auto found = indexes_.find({context, stream});
  return found == indexes_.end() ? Point() : point_of(found->second);
}

Point Order::of_all(std::optional<std::uint32_t> context) {
  if (!context) return point_of(groups_.front());
  const auto found = contexts_.find(*context);
  return found == contexts_.end() ? Point() : point_of(groups_[found->second]);
}

Point Order::ended_within(double begin, double end) {
  const auto ends = [this](Index i) { return program_.operations[i].end; };
  if (by_end_.empty()) {
    by_end_.resize(program_.operations.size());
    std::iota(by_end_.begin(), by_end_.end(), Index{0});
    std::ranges::sort(by_end_, {}, ends);
  }
  Point point;
  for (auto i = std::ranges::upper_bound(by_end_, begin, {}, ends); i != by_end_.end() && ends(*i) <= end; ++i) {
    if (streams_[program_.operations[*i].stream].tail == *i) point.push_back(*i);
  }
  return point;
}

void Order::add_joins() {
  for (Operation& join : joins_) {
    for (const Dependency& d : join.after) join.end = std::max(join.end, program_.operations[d.operation].end);
    join.begin = join.end;
    program_.operations.push_back(std::move(join));
  }
}

}  // namespace xferbench::explain
