#include "explain/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <queue>
#include <tuple>
#include <utility>

#include "core/error.hpp"
#include "explain/calibration.hpp"
#include "explain/threads.hpp"

namespace xferbench::explain {

using recording::CopyKind;
using recording::Memory;
using recording::OnDevice;
using recording::StreamFlag;
using recording::SyncKind;
using recording::Time;

// --- The window -----------------------------------------------------------------------------------------------------

namespace {

/// The last moment that a process left a record of.
Time last_of(const Recording& r) {
  Time last = r.process.loaded;
  const auto see = [&last](Time time) { last = std::max(last, time); };
  for (const recording::Call& c : r.calls) see(c.end);
  for (const recording::Copy& c : r.copies) see(c.on.end);
  for (const recording::Kernel& k : r.kernels) see(k.on.end);
  for (const recording::Fill& f : r.fills) see(f.on.end);
  for (const recording::Range& range : r.ranges) see(range.end);
  if (r.end) see(r.end->time);
  return last;
}

}  // namespace

Window window_of(const Recording& r, const std::optional<std::string>& range) {
  if (!range) {
    const Time begin = r.process.begin > 0 ? r.process.begin : r.process.loaded;
    return {.begin = begin, .end = std::max(last_of(r), begin + 1)};
  }
  Window window{.begin = 0, .end = 0, .thread = std::nullopt, .times = 0};
  for (const recording::Range& found : r.ranges) {
    if (found.end == 0 || r.name(found.name) != *range) continue;
    if (window.times++ == 0) window.begin = found.begin;
    if (found.end <= window.end) continue;
    window.end = found.end;
    window.thread = found.of_process != 0 ? std::nullopt : std::optional(found.thread);
  }
  if (window.times > 0 && window.end > window.begin) return window;
  throw InputError(
      fmt::format("{}: there is no NVTX range '{}' that has ended; leave out --range, or name one of those "
                  "that the program marks",
                  r.file, *range));
}

// --- The graph ------------------------------------------------------------------------------------------------------

namespace {

/// Records of one call, by its correlation.
class Correlated {
 public:
  void add(std::uint32_t correlation, Index index) {
    if (correlation != 0) entries_.emplace_back(correlation, index);
  }
  void sort() { std::ranges::sort(entries_); }
  [[nodiscard]] std::span<const std::pair<std::uint32_t, Index>> of(std::uint32_t correlation) const {
    const auto first = std::lower_bound(entries_.begin(), entries_.end(), std::pair{correlation, Index{0}});
    const auto last = std::upper_bound(first, entries_.end(), std::pair{correlation, kNone});
    return {first, last};
  }
  [[nodiscard]] Index first(std::uint32_t correlation) const {
    const auto found = of(correlation);
    return found.empty() ? kNone : found.front().second;
  }

 private:
  std::vector<std::pair<std::uint32_t, Index>> entries_;
};

/// Builds the graph: one use.
class Builder {
 public:
  Builder(const Recording& recording, const Window& window) : r_(recording), w_(window) {}

  Program build() {
    program_.seconds = seconds(w_.end);
    add_calls();
    add_operations();
    index_records();
    for (Index i = 0; i < before_; ++i) {
      if (program_.operations[i].call == kNone) enqueue(i);  // others come with their calls
    }
    for (Index c = 0; c < program_.calls.size(); ++c) carry_out(c);
    for (Index i = before_; i < program_.operations.size(); ++i) {
      if (program_.operations[i].call == kNone) enqueue(i);
    }
    add_end();
    return std::move(program_);
  }

 private:
  [[nodiscard]] double seconds(Time time) const {
    return 1e-9 * (static_cast<double>(static_cast<std::int64_t>(time - w_.begin)));
  }
  [[nodiscard]] bool inside(Time begin, Time end) const { return end > w_.begin && begin < w_.end; }

  // --- Calls: only the outermost, which is what the program wrote ---

  void add_calls() {
    std::map<std::uint32_t, std::pair<Time, Index>> outermost;  // of each thread: its end and its place
    for (const recording::Call& call : r_.calls) {
      auto& [end, index] = outermost.try_emplace(call.thread, Time{0}, kNone).first->second;
      if (call.begin >= end) {
        end = call.end;
        index = inside(call.begin, call.end) ? add_call(call) : kNone;
      }
      if (index != kNone) by_call_.add(call.correlation, index);
    }
    by_call_.sort();
  }

  Index add_call(const recording::Call& call) {
    const std::string_view name = r_.name(call.name);
    HostCall& made = program_.calls.emplace_back();
    made.begin = std::max(0., seconds(call.begin));
    made.end = std::max(made.begin, seconds(call.end));
    made.name = call.name;
    made.thread = call.thread;
    made.stack = call.stack;
    made.kind = call_kind(name);
    made.asynchronous = is_asynchronous(name);
    correlations_.push_back(call.correlation);
    return static_cast<Index>(program_.calls.size() - 1);
  }

  // --- Operations ---

  template <class Record>
  Operation* add_operation(const Record& record) {
    const OnDevice& on = record.on;
    if (!inside(on.begin, on.end)) return nullptr;
    Operation& made = program_.operations.emplace_back();
    made.begin = seconds(on.begin);
    made.end = seconds(on.end);
    made.call = by_call_.first(on.correlation);
    made.stream = stream_of(on.context, on.stream);
    made.device = on.device;
    made.in_graph = on.graph_node != 0;
    return &made;
  }

  void add_operations() {
    for (const recording::Copy& copy : r_.copies) {
      if (Operation* made = add_operation(copy)) describe(*made, copy);
    }
    for (const recording::Kernel& kernel : r_.kernels) {
      Operation* made = add_operation(kernel);
      if (made == nullptr) continue;
      made->engine = Engine::compute;
      made->name = kernel.name;
    }
    for (const recording::Fill& fill : r_.fills) {
      Operation* made = add_operation(fill);
      if (made == nullptr) continue;
      made->engine = Engine::compute;
      made->bytes = fill.bytes;
    }
    std::ranges::stable_sort(program_.operations, {}, &Operation::begin);
    find_what_varies();
    for (Index i = 0; i < program_.operations.size(); ++i) {
      const Operation& o = program_.operations[i];
      if (o.call != kNone) program_.calls[o.call].operations.push_back(i);
      if (o.call == kNone && o.begin <= 0) before_ = i + 1;
    }
  }

  void find_what_varies() {
    for (Operation& o : program_.operations) o.varies = o.is_copy && o.host == Memory::pageable;
    for (const recording::Migration& m : r_.migrations) {
      const auto after = std::ranges::upper_bound(program_.operations, seconds(m.begin), {}, &Operation::begin);
      if (m.bytes == 0 || after == program_.operations.begin()) continue;
      Operation& o = *(after - 1);
      if (o.engine == Engine::compute && seconds(m.begin) < o.end) o.varies = true;
    }
  }

  static void describe(Operation& made, const recording::Copy& copy) {
    made.is_copy = true;
    made.bytes = copy.bytes;
    made.copy = copy.kind;
    switch (copy.kind) {
      case CopyKind::h2d: made.host = copy.source; break;
      case CopyKind::d2h: made.host = copy.destination; break;
      default: made.host = Memory::device; break;
    }
    made.engine = engine_of(made);
  }

  /// Copies of pageable memory are carried by the host, which takes long, and need the link for a part of that alone.
  static Engine engine_of(const Operation& copy) {
    if (copy.host == Memory::pageable) return Engine::none;
    switch (copy.copy) {
      case CopyKind::h2d: return Engine::h2d;
      case CopyKind::d2h: return Engine::d2h;
      case CopyKind::d2d: return Engine::inside;
      case CopyKind::p2p: return Engine::peer;
      default: return Engine::none;
    }
  }

  Index stream_of(std::uint32_t context, std::uint32_t stream) {
    const auto [found, is_new] =
        stream_indexes_.try_emplace({context, stream}, static_cast<Index>(program_.streams.size()));
    if (!is_new) return found->second;
    StreamOf made{context, stream, StreamFlag::unknown};
    for (const recording::Stream& known : r_.streams) {
      if (known.context == context && known.stream == stream) made.flag = known.flag;
    }
    program_.streams.push_back(made);
    tails_.push_back(kNone);
    held_.emplace_back();
    return found->second;
  }

  // --- Order: what each call adds to its streams ---

  void index_records() {
    for (Index i = 0; i < r_.synchronizations.size(); ++i) syncs_.add(r_.synchronizations[i].correlation, i);
    syncs_.sort();
    for (Index i = 0; i < r_.events.size(); ++i) events_.add(r_.events[i].correlation, i);
    events_.sort();
  }

  void carry_out(Index c) {
    HostCall& call = program_.calls[c];
    for (const Index operation : call.operations) enqueue(operation);
    for (const auto& [correlation, i] : events_.of(correlations_[c])) record(r_.events[i]);
    for (const auto& [correlation, i] : syncs_.of(correlations_[c])) synchronize(call, r_.synchronizations[i]);
    if (call.kind == CudaCallKind::wait_device && call.waits_for.empty()) wait_for_all(call, std::nullopt);
    if (call.kind == CudaCallKind::copy || call.kind == CudaCallKind::fill) wait_for_own(call);
    if (call.kind == CudaCallKind::free || call.kind == CudaCallKind::unpin) wait_if_it_did(call);
  }

  void enqueue(Index i) {
    Operation& o = program_.operations[i];
    Index& tail = tails_[o.stream];
    const Index before = o.in_graph ? graph_predecessor(o).value_or(tail) : tail;
    depend(o, before, false);
    for (const Index event : std::exchange(held_[o.stream], {})) depend(o, event, false);
    if (!o.in_graph) depend_on_legacy(o);
    const bool is_last = tail == kNone || !o.in_graph || program_.operations[tail].end <= o.end;
    if (is_last) tail = i;
    if (program_.streams[o.stream].flag == StreamFlag::legacy) legacy_[program_.streams[o.stream].context] = i;
  }

  static void depend(Operation& o, Index on, bool legacy) {
    if (on == kNone) return;
    const auto same = [on](const Dependency& d) { return d.operation == on; };
    if (std::ranges::none_of(o.after, same)) o.after.push_back({on, legacy});
  }

  /// Of a graph only times tell what waits for what: the node before is the one that ended last before this began.
  std::optional<Index> graph_predecessor(const Operation& o) {
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

  /// CUDA C++ Programming Guide, "Implicit Synchronization" and "Default Stream": what is in the legacy default stream
  /// waits for all blocking streams of its context, and they for it.
  void depend_on_legacy(Operation& o) {
    const StreamOf& own = program_.streams[o.stream];
    if (own.flag == StreamFlag::blocking) {
      const auto found = legacy_.find(own.context);
      if (found != legacy_.end()) depend(o, found->second, true);
      return;
    }
    if (own.flag != StreamFlag::legacy) return;
    for (Index s = 0; s < program_.streams.size(); ++s) {
      const StreamOf& other = program_.streams[s];
      if (other.context == own.context && other.flag == StreamFlag::blocking) depend(o, tails_[s], true);
    }
  }

  // --- Events and waits ---

  /// What has to end for the stream to have come as far as it is now: its last operation, and what it was made to wait
  /// for since.
  [[nodiscard]] std::vector<Index> point_of(Index stream) const {
    std::vector<Index> point = held_[stream];
    if (tails_[stream] != kNone) point.push_back(tails_[stream]);
    return point;
  }

  void record(const recording::Event& event) {
    const auto found = stream_indexes_.find({event.context, event.stream});
    const std::vector<Index> point = found == stream_indexes_.end() ? std::vector<Index>() : point_of(found->second);
    latest_[{event.context, event.event}] = point;
    if (event.record != 0) recorded_[event.record] = point;
  }

  [[nodiscard]] std::vector<Index> operations_of(const recording::Synchronization& sync) const {
    if (sync.event_record != 0) {
      const auto found = recorded_.find(sync.event_record);
      if (found != recorded_.end()) return found->second;
    }
    const auto found = latest_.find({sync.context, sync.event});
    return found == latest_.end() ? std::vector<Index>() : found->second;
  }

  void synchronize(HostCall& call, const recording::Synchronization& sync) {
    const auto stream = stream_indexes_.find({sync.context, sync.stream});
    const bool known = stream != stream_indexes_.end();
    switch (sync.kind) {
      case SyncKind::stream_wait_event:
        std::ranges::copy(operations_of(sync), std::back_inserter(held_[stream_of(sync.context, sync.stream)]));
        break;
      case SyncKind::event:
        for (const Index i : operations_of(sync)) wait_for(call, i);
        break;
      case SyncKind::stream:
        if (!known) break;
        for (const Index i : point_of(stream->second)) wait_for(call, i);
        if (program_.streams[stream->second].flag == StreamFlag::legacy) wait_for_blocking(call, sync.context);
        break;
      case SyncKind::context: wait_for_all(call, sync.context); break;
      case SyncKind::unknown: break;
    }
  }

  static void wait_for(HostCall& call, Index operation) {
    if (operation == kNone) return;
    if (std::ranges::find(call.waits_for, operation) == call.waits_for.end()) call.waits_for.push_back(operation);
  }

  /// What is in the legacy default stream has waited for all blocking streams.
  void wait_for_blocking(HostCall& call, std::uint32_t context) {
    for (Index s = 0; s < program_.streams.size(); ++s) {
      const StreamOf& stream = program_.streams[s];
      if (stream.context == context && stream.flag == StreamFlag::blocking) wait_for(call, tails_[s]);
    }
  }

  void wait_for_all(HostCall& call, std::optional<std::uint32_t> context) {
    for (Index s = 0; s < program_.streams.size(); ++s) {
      if (context && program_.streams[s].context != *context) continue;
      if (tails_[s] != kNone) call.waits_for.push_back(tails_[s]);  // each once: streams have their own
    }
  }

  /// A copy's call that ended after the copy had, or in the middle of one of pageable memory, has waited for it: no
  /// record says so.
  void wait_for_own(HostCall& call) {
    for (const Index i : call.operations) {
      const Operation& o = program_.operations[i];
      const bool carried_by_host = o.host == Memory::pageable && call.end > o.begin;
      const bool waited = !call.asynchronous && call.end >= o.end;
      if (waited || carried_by_host) wait_for(call, i);
    }
  }

  /// Freeing waits for the device where that has something to do.
  void wait_if_it_did(HostCall& call) {
    for (const Index tail : tails_) {
      if (tail == kNone) continue;
      const Operation& o = program_.operations[tail];
      if (o.end > call.begin && o.end <= call.end) wait_for(call, tail);
    }
  }

  // --- The end of the stretch ---

  void add_end() {
    HostCall& end = program_.calls.emplace_back();
    end.begin = end.end = program_.seconds;
    if (w_.thread) {
      end.thread = *w_.thread;
    } else if (program_.calls.size() > 1) {
      const auto last = std::ranges::max_element(program_.calls.begin(), program_.calls.end() - 1, {}, &HostCall::end);
      end.thread = last->thread;
    }
    // What had ended by then has to end before, whoever waited for it: nothing that is mended is faster than the GPU.
    for (const Index tail : tails_) {
      if (tail != kNone && program_.operations[tail].end <= program_.seconds) wait_for(end, tail);
    }
  }

  const Recording& r_;
  const Window& w_;
  Program program_;
  Index graph_call_ = kNone;  // the launch whose nodes are enqueued, by begin
  using Ending = std::pair<double, Index>;
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> graph_running_;  // those that have begun
  std::optional<Index> graph_ended_;                                                // the last of them that has ended
  Index before_ = 0;                         // operations that were enqueued before the stretch
  std::vector<std::uint32_t> correlations_;  // of the calls
  Correlated by_call_;
  Correlated syncs_;
  Correlated events_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Index> stream_indexes_;  // by context and stream
  std::vector<Index> tails_;               // of each stream: its last operation so far
  std::vector<std::vector<Index>> held_;   // of each stream: what its next operation waits for besides
  std::map<std::uint32_t, Index> legacy_;  // of each context: the last operation in its legacy default stream
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Index>> latest_;  // by context and event
  std::map<std::uint64_t, std::vector<Index>> recorded_;                          // by Event::record
};

}  // namespace

Program program_of(const Recording& recording, const Window& window, const Duplex& duplex) {
  Program program = Builder(recording, window).build();
  program.duplex_h2d = duplex.h2d;
  program.duplex_d2h = duplex.d2h;
  follow_threads(program);
  calibrate(program);
  return program;
}

}  // namespace xferbench::explain
