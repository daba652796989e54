#include "explain/order.hpp"

#include <algorithm>
#include <iterator>

namespace xferbench::explain {

using recording::StreamFlag;

Order::Order(Program& program)
    : program_(program), streams_(program.streams.size()), placed_(program.operations.size(), false) {
  for (Index s = 0; s < program.streams.size(); ++s) {
    indexes_[{program.streams[s].context, program.streams[s].stream}] = s;
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
    place(stream.no_call[stream.no_call_placed++]);  // a stream's operations begin in their order
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
  if (placed_[i]) return;
  placed_[i] = true;
  Operation& o = program_.operations[i];
  State& stream = streams_[o.stream];
  depend(o, o.in_graph ? graph_predecessor(o).value_or(stream.tail) : stream.tail);
  for (const Index held : std::exchange(stream.held, {})) depend(o, held);
  if (!o.in_graph) depend_on_legacy(o);
  const bool is_last = stream.tail == kNone || !o.in_graph || program_.operations[stream.tail].end <= o.end;
  if (is_last) stream.tail = i;
  if (program_.streams[o.stream].flag == StreamFlag::legacy) legacy_[program_.streams[o.stream].context] = i;
}

/// Of a graph only times tell what waits for what: the node before is the one that ended last before this began.
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

/// What is in the legacy default stream waits for all blocking streams of its context, and they for it.
void Order::depend_on_legacy(Operation& o) {
  const StreamOf& own = program_.streams[o.stream];
  if (own.flag == StreamFlag::blocking) {
    const auto found = legacy_.find(own.context);
    if (found != legacy_.end()) depend(o, found->second, true);
    return;
  }
  if (own.flag != StreamFlag::legacy) return;
  for (Index s = 0; s < program_.streams.size(); ++s) {
    const StreamOf& other = program_.streams[s];
    if (other.context == own.context && other.flag == StreamFlag::blocking) depend(o, streams_[s].tail, true);
  }
}

// --- Events and waits -----------------------------------------------------------------------------------------------

/// Its last operation, what it was made to wait for since, and in the legacy default stream all blocking streams. What
/// is there twice does no harm.
Point Order::point_of(Index stream) const {
  Point point = streams_[stream].held;
  const auto add_tail = [&](Index s) {
    if (streams_[s].tail != kNone) point.push_back(streams_[s].tail);
  };
  add_tail(stream);
  const StreamOf& own = program_.streams[stream];
  if (own.flag != StreamFlag::legacy) return point;
  for (Index s = 0; s < program_.streams.size(); ++s) {
    const StreamOf& other = program_.streams[s];
    if (other.context == own.context && other.flag == StreamFlag::blocking) add_tail(s);
  }
  return point;
}

void Order::record(const recording::Event& event) {
  const Point point = of_stream(event.context, event.stream);
  latest_[{event.context, event.event}] = point;
  if (event.record != 0) recorded_[event.record] = point;
}

void Order::hold(const recording::Synchronization& sync) {
  const auto stream = indexes_.find({sync.context, sync.stream});
  if (stream == indexes_.end()) return;  // nothing is enqueued there
  std::ranges::copy(of_event(sync), std::back_inserter(streams_[stream->second].held));
}

Point Order::of_event(const recording::Synchronization& sync) const {
  if (sync.event_record != 0) {
    const auto found = recorded_.find(sync.event_record);
    return found == recorded_.end() ? Point() : found->second;
  }
  const auto found = latest_.find({sync.context, sync.event});
  return found == latest_.end() ? Point() : found->second;
}

Point Order::of_stream(std::uint32_t context, std::uint32_t stream) const {
  const auto found = indexes_.find({context, stream});
  return found == indexes_.end() ? Point() : point_of(found->second);
}

Point Order::of_all(std::optional<std::uint32_t> context) const {
  Point point;  // each operation once: streams have their own
  for (Index s = 0; s < streams_.size(); ++s) {
    if (context && program_.streams[s].context != *context) continue;
    if (streams_[s].tail != kNone) point.push_back(streams_[s].tail);
  }
  return point;
}

}  // namespace xferbench::explain
