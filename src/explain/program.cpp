#include "explain/program.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "explain/order.hpp"

namespace xferbench::explain {

using recording::OnDevice;
using recording::StreamFlag;
using recording::SyncKind;

void depend(Operation& o, Index on, bool legacy) {
  const auto same = [on](const Dependency& d) { return d.operation == on; };
  if (on != kNone && std::ranges::none_of(o.after, same)) o.after.push_back({on, legacy});
}

const Sample& sample_of(const Program& program, Index call) {
  static const Sample none;
  const auto found = program.samples.find(call);
  return found == program.samples.end() ? none : found->second;
}

bool is_wait(const HostCall& call) {
  return call.kind == CudaCallKind::wait_stream || call.kind == CudaCallKind::wait_device ||
         call.kind == CudaCallKind::wait_event;
}

bool is_launch(const HostCall& call) {
  return call.kind == CudaCallKind::launch || call.kind == CudaCallKind::graph_launch;
}

Index kernel_at(const Program& program, std::uint32_t device, double time) {
  constexpr std::size_t kLooks = 64;  // maximum operations to examine, latest first
  const auto joins = std::ranges::partition_point(program.operations, [](const Operation& o) { return !o.is_join; });
  auto next = std::ranges::upper_bound(program.operations.begin(), joins, time, {}, &Operation::begin);
  for (std::size_t looks = 0; next != program.operations.begin() && looks < kLooks; ++looks) {
    const Operation& o = *--next;
    if (o.engine == Engine::compute && o.device == device && time < o.end) {
      return static_cast<Index>(next - program.operations.begin());
    }
  }
  return kNone;
}

namespace {

/// Map from CUPTI's correlation ids to indices of records. sort() must be called between add() and lookups.
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

/// Builder of the dependency graph of one window. build() can be called only once.
class Builder {
 public:
  Builder(const Recording& recording, const Window& window) : r_(recording), w_(window) {}

  Program build() {
    program_.seconds = seconds(w_.end);
    for (const recording::Device& device : r_.devices) multiprocessors_[device.id] = device.multiprocessors;
    find_streams();
    add_calls();
    add_operations();
    add_usages();
    index_records();
    Order order(program_);
    for (const std::uint32_t correlation : earlier_) execute_earlier(correlation, order);
    for (Index c = 0; c < program_.calls.size(); ++c) execute(c, order);
    order.enqueue_without_call(program_.seconds);
    order.add_joins();
    add_end();
    return std::move(program_);
  }

 private:
  [[nodiscard]] double seconds(Time time) const {
    return 1e-9 * (static_cast<double>(static_cast<std::int64_t>(time - w_.begin)));
  }
  [[nodiscard]] bool inside(Time begin, Time end) const { return end > w_.begin && begin < w_.end; }

  // --- Calls: only outermost ones, because those are in the program's source ---

  void add_calls() {
    std::map<std::uint32_t, std::pair<Time, Index>> outermost;  // per thread: end and index of its latest call
    for (const recording::Call& call : r_.calls) {
      auto& [end, index] = outermost.try_emplace(call.thread, Time{0}, kNone).first->second;
      if (call.begin >= end) {
        end = call.end;
        index = inside(call.begin, call.end) ? add_call(call) : kNone;
      }
      if (index != kNone) by_call_.add(call.correlation, index);
      if (call.end <= w_.begin) earlier_.push_back(call.correlation);
    }
    by_call_.sort();
  }

  /// Adds a call without the part that lies outside the window. Returns its index.
  Index add_call(const recording::Call& call) {
    HostCall& made = program_.calls.emplace_back();
    made.begin = std::max(0., seconds(call.begin));
    made.end = std::clamp(seconds(call.end), made.begin, std::max(made.begin, program_.seconds));
    made.name = call.name;
    made.thread = call.thread;
    made.stack = call.stack;
    made.kind = call_kind(r_.name(call.name));
    made.asynchronous = is_asynchronous(r_.name(call.name));
    correlations_.push_back(call.correlation);
    const auto index = static_cast<Index>(program_.calls.size() - 1);
    if (call.end <= w_.end && (last_ == kNone || made.end >= program_.calls[last_].end)) last_ = index;
    return index;
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
    made.correlation = on.correlation;
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
      const auto found = multiprocessors_.find(kernel.on.device);
      if (found != multiprocessors_.end()) made->least_part = least_part(kernel, found->second);
    }
    for (const recording::Fill& fill : r_.fills) {
      Operation* made = add_operation(fill);
      if (made == nullptr) continue;
      made->engine = Engine::compute;
      made->bytes = fill.bytes;
    }
    std::ranges::stable_sort(program_.operations, {}, &Operation::begin);
    find_varying_operations();
    for (Index i = 0; i < program_.operations.size(); ++i) {
      const Operation& o = program_.operations[i];
      if (o.call != kNone) program_.calls[o.call].operations.push_back(i);
    }
  }

  /// Returns Operation::least_part: a part with fewer blocks than the GPU has multiprocessors leaves some of them idle,
  /// so it takes as long as a part with a block for each multiprocessor.
  static float least_part(const recording::Kernel& kernel, std::uint32_t multiprocessors) {
    return std::min(1.F, static_cast<float>(multiprocessors) / static_cast<float>(std::max(1U, kernel.grid)));
  }

  void find_varying_operations() {
    for (Operation& o : program_.operations) o.varies = o.is_copy && o.host == Memory::pageable;
    for (const recording::Migration& m : r_.migrations) {
      const Index kernel = m.bytes == 0 ? kNone : kernel_at(program_, m.device, seconds(m.begin));
      if (kernel != kNone) program_.operations[kernel].varies = true;
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

  /// Copies of pageable memory get no engine: the host stages them, and they use the link for only a part of their
  /// time.
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

  // --- Usage: what copies to the GPU, and their threads since the copy before, did with memory and files ---

  /// What a thread has done in the window since its last sampled copy to the GPU.
  struct Since {
    std::optional<std::uint64_t>
        faults_until{};  // the thread's page faults until its last sample; nothing before the first
    std::optional<std::uint64_t> read_until{};
    std::uint64_t disk_until = 0;
    std::uint64_t faults = 0;
    std::uint64_t read = 0;
    std::uint64_t from_disk = 0;
    Index copy = kNone;                         // the call of that copy
    const recording::Usage* of_copy = nullptr;  // its sample

    void see(const recording::Usage& usage) {
      if (faults_until) faults += usage.faults_before - std::min(usage.faults_before, *faults_until);
      faults_until = usage.faults_until_end;
      if (usage.read_before == 0) return;
      if (read_until) {
        read += usage.read_before - std::min(usage.read_before, *read_until);
        from_disk += usage.from_disk_before - std::min(usage.from_disk_before, disk_until);
      }
      read_until = usage.read_before;
      disk_until = usage.from_disk_before;
    }
  };

  /// Sets what a thread did from one sampled copy to the next, `in_calls` seconds of which it was in CUDA calls. A
  /// thread that waits there mostly uses a CPU. If it used less, it slept there, and its CPU time was for other work.
  static void set_idle(const recording::Usage& copy, const recording::Usage& next, double in_calls, Sample& sample) {
    const double all = 1e-9 * static_cast<double>(next.begin - copy.begin);
    const double cpu = 1e-9 * static_cast<double>(next.cpu_before - std::min(next.cpu_before, copy.cpu_before));
    sample.outside_before = std::max(0., all - in_calls);
    sample.idle_before = std::max(0., cpu < in_calls ? sample.outside_before - cpu : all - cpu);
  }

  /// Returns for each call the seconds that its thread was in CUDA calls of the window before it.
  [[nodiscard]] std::vector<double> time_in_calls() const {
    std::vector<double> before(program_.calls.size());
    std::map<std::uint32_t, double> threads;
    for (Index c = 0; c < program_.calls.size(); ++c) {
      const HostCall& call = program_.calls[c];
      double& sum = threads[call.thread];
      before[c] = sum;
      sum += call.end - call.begin;
    }
    return before;
  }

  void add_usages() {
    const std::vector<double> in_calls = time_in_calls();
    std::map<std::uint32_t, Since> threads;
    for (const recording::Usage& usage : r_.usages) {
      const Index c = by_call_.first(usage.correlation);
      if (c == kNone || usage.begin < w_.begin) continue;
      Since& since = threads[usage.thread];
      since.see(usage);
      HostCall& call = program_.calls[c];
      Sample& sample = program_.samples[c];
      sample.faults = usage.faults_until_end - usage.faults_before;
      sample.source_file = usage.source_file;
      const auto to_gpu = [this](Index i) { return program_.operations[i].copy == CopyKind::h2d; };
      if (std::ranges::none_of(call.operations, to_gpu)) continue;
      call.is_sampled = true;
      sample.faults_before = std::exchange(since.faults, 0);
      sample.read_before = std::exchange(since.read, 0);
      sample.from_disk_before = std::exchange(since.from_disk, 0);
      if (since.copy != kNone) set_idle(*since.of_copy, usage, in_calls[c] - in_calls[since.copy], sample);
      since.copy = c;
      since.of_copy = &usage;
    }
  }

  // --- Streams: all that have operations, events or event waits ---

  void find_streams() {
    for (const recording::Stream& known : r_.streams) flags_[{known.context, known.stream}] = known.flag;
    for (const recording::Event& event : r_.events) stream_of(event.context, event.stream);
    for (const recording::Synchronization& sync : r_.synchronizations) {
      if (sync.kind == SyncKind::stream_wait_event) stream_of(sync.context, sync.stream);
    }
  }

  Index stream_of(std::uint32_t context, std::uint32_t stream) {
    const auto [found, is_new] =
        stream_indexes_.try_emplace({context, stream}, static_cast<Index>(program_.streams.size()));
    if (!is_new) return found->second;
    const auto flag = flags_.find({context, stream});
    program_.streams.push_back({context, stream, flag == flags_.end() ? StreamFlag::unknown : flag->second});
    return found->second;
  }

  // --- Order: what each call enqueues in its streams, and what it waits for ---

  void index_records() {
    for (Index i = 0; i < r_.synchronizations.size(); ++i) syncs_.add(r_.synchronizations[i].correlation, i);
    syncs_.sort();
    for (Index i = 0; i < r_.events.size(); ++i) events_.add(r_.events[i].correlation, i);
    events_.sort();
    for (Index i = 0; i < program_.operations.size(); ++i) {
      if (program_.operations[i].call == kNone) no_call_.add(program_.operations[i].correlation, i);
    }
    no_call_.sort();
  }

  /// Handles the operations, event records and event waits of a call from before the window. Ignores the call's time.
  void execute_earlier(std::uint32_t correlation, Order& order) {
    for (const auto& [key, i] : no_call_.of(correlation)) order.enqueue(i);
    for (const auto& [key, i] : events_.of(correlation)) order.record(r_.events[i]);
    for (const auto& [key, i] : syncs_.of(correlation)) {
      if (r_.synchronizations[i].kind == SyncKind::stream_wait_event) order.hold(r_.synchronizations[i]);
    }
  }

  void execute(Index c, Order& order) {
    HostCall& call = program_.calls[c];
    order.enqueue_without_call(is_wait(call) ? call.end : call.begin);
    for (const Index operation : call.operations) order.enqueue(operation);
    for (const auto& [key, i] : events_.of(correlations_[c])) order.record(r_.events[i]);
    for (const auto& [key, i] : syncs_.of(correlations_[c])) synchronize(call, r_.synchronizations[i], order);
    if (call.kind == CudaCallKind::wait_device && call.waits_for.empty()) call.waits_for = order.of_all(std::nullopt);
    if (call.kind == CudaCallKind::copy || call.kind == CudaCallKind::fill) wait_for_own(call);
    const bool waits_if_busy = call.kind == CudaCallKind::free || call.kind == CudaCallKind::unpin;
    if (waits_if_busy) wait_for(call, order.ended_within(call.begin, call.end));
  }

  static void synchronize(HostCall& call, const recording::Synchronization& sync, Order& order) {
    switch (sync.kind) {
      case SyncKind::stream_wait_event: order.hold(sync); break;
      case SyncKind::event: wait_for(call, order.of_event(sync)); break;
      case SyncKind::stream: wait_for(call, order.of_stream(sync.context, sync.stream)); break;
      case SyncKind::context: wait_for(call, order.of_all(sync.context)); break;
      case SyncKind::unknown: break;
    }
  }

  static void wait_for(HostCall& call, const Point& point) {
    if (call.waits_for.empty()) {
      call.waits_for = point;
      return;
    }
    std::set<Index> known(call.waits_for.begin(), call.waits_for.end());
    for (const Index operation : point) {
      if (known.insert(operation).second) call.waits_for.push_back(operation);
    }
  }

  /// CUPTI records no synchronization for blocking copies. A call counts as waiting for its own copy if it is
  /// synchronous and returned after the copy had ended, or if it returned after its copy of pageable memory had begun.
  void wait_for_own(HostCall& call) {
    Point own;
    for (const Index i : call.operations) {
      const Operation& o = program_.operations[i];
      const bool carried_by_host = o.host == Memory::pageable && call.end > o.begin;
      const bool waited = !call.asynchronous && call.end >= o.end;
      if (waited || carried_by_host) own.push_back(i);
    }
    wait_for(call, own);
  }

  // --- The end of the window ---

  void add_end() {
    HostCall& end = program_.calls.emplace_back();
    end.begin = end.end = program_.seconds;
    if (w_.thread) {
      end.thread = *w_.thread;
    } else if (last_ != kNone) {
      end.thread = program_.calls[last_].thread;
    }
  }

  using Named = std::pair<std::uint32_t, std::uint32_t>;  // context and stream

  const Recording& r_;
  const Window& w_;
  Program program_;
  std::vector<std::uint32_t> correlations_;  // correlation id of each call in Program::calls
  std::vector<std::uint32_t> earlier_;       // correlation ids of calls from before the window, in order
  Index last_ = kNone;                       // index of the call that ended last within the window
  Correlated by_call_;
  Correlated no_call_;  // by correlation id: operations whose host call is not in the window
  Correlated syncs_;
  Correlated events_;
  std::map<std::uint32_t, std::uint32_t> multiprocessors_;  // per device
  std::map<Named, StreamFlag> flags_;
  std::map<Named, Index> stream_indexes_;
};

}  // namespace

Program program_of(const Recording& recording, const Window& window, const Costs& costs) {
  Program program = Builder(recording, window).build();
  program.duplex_h2d = costs.duplex.h2d;
  program.duplex_d2h = costs.duplex.d2h;
  follow_threads(program);
  calibrate(program, costs);
  return program;
}

}  // namespace xferbench::explain
