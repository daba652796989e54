// Finds host work that leaves the GPU idle: launching many kernels one by one, and setup inside the window.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/lists.hpp"
#include "core/units.hpp"
#include "explain/candidates.hpp"

namespace xferbench::explain {

// --- Launches -------------------------------------------------------------------------------------------------------

namespace {

constexpr std::size_t kLeastLaunches = 8;
/// In seconds. If the program works longer than this between two launches, that time is not launch overhead.
constexpr double kLongestGap = 20e-6;

/// Calls of a thread that each enqueue one operation in the same stream, one right after the other, with nothing but
/// needless waits between them.
using Launches = std::vector<Index>;

bool launches_one(const Program& p, const HostCall& call) {
  const bool enqueues = call.kind == CudaCallKind::launch || call.kind == CudaCallKind::fill ||
                        (call.kind == CudaCallKind::copy && call.asynchronous);
  return enqueues && call.operations.size() == 1 && call.waits_for.empty() &&
         !p.operations[call.operations.front()].in_graph;
}

Index stream_of(const Program& p, Index call) { return p.operations[p.calls[call].operations.front()].stream; }

/// Whether a CUDA graph would pay off: the same kernels are launched repeatedly, and most calls are not copies.
bool repeats(const Program& p, const Launches& run) {
  std::set<Index> names;
  for (const Index c : run) names.insert(p.operations[p.calls[c].operations.front()].name);
  const auto is_copy = [&p](Index c) { return p.operations[p.calls[c].operations.front()].is_copy; };
  return 2 * names.size() <= run.size() && 2 * std::ranges::count_if(run, is_copy) < std::ssize(run);
}

/// Whether the call directly follows call `before`, or follows a needless wait that directly follows `before`.
bool comes_after(const Program& p, const HostCall& call, Index before, const std::vector<Index>& needless) {
  const bool waits = std::ranges::binary_search(needless, call.follows);
  const HostCall& first = waits ? p.calls[call.follows] : call;
  return first.follows == before && first.gap <= kLongestGap && call.gap <= kLongestGap;
}

std::vector<Launches> launch_sequences(const Program& p, const std::vector<Index>& needless) {
  std::vector<Launches> found;
  std::map<std::uint32_t, Launches> open;  // per thread: the sequence that the next launches may extend
  const auto close = [&](Launches& run) {
    if (run.size() >= kLeastLaunches && repeats(p, run)) found.push_back(run);
    run.clear();
  };
  for (Index c = 0; c < p.calls.size(); ++c) {
    if (std::ranges::binary_search(needless, c)) continue;
    const HostCall& call = p.calls[c];
    Launches& run = open[call.thread];
    const bool launches = launches_one(p, call);
    const bool goes_on = launches && !run.empty() && stream_of(p, c) == stream_of(p, run.back()) &&
                         comes_after(p, call, run.back(), needless);
    if (!goes_on) close(run);
    if (launches) run.push_back(c);
  }
  for (auto& [thread, run] : open) close(run);
  return found;
}

/// Returns the seconds that the GPU idles between the operations of these sequences, in total.
double idle_for_launches(const AnalysisInput& e, const std::vector<Launches>& sequences) {
  double sum = 0;
  for (const Launches& run : sequences) {
    for (std::size_t i = 1; i < run.size(); ++i) {
      const Index before = e.program.calls[run[i - 1]].operations.front();
      const Index next = e.program.calls[run[i]].operations.front();
      sum += std::max(0., e.replayed.operation_begins[next] - e.replayed.operation_ends[before]);
    }
  }
  return sum;
}

void launch_as_graph(Program& p, std::span<const Index> run, const Costs& costs) {
  const Index first = run.front();
  for (const Index c : run) {
    HostCall& call = p.calls[c];
    Operation& o = p.operations[call.operations.front()];
    call.own = c == first ? std::max(call.own, costs.graph_launch) : 0;
    if (c == first) continue;
    call.gap = 0;
    o.delay = p.operations[p.calls[first].operations.front()].delay;
    // The launch of a node overlaps with the kernel before it and, if the node is short, in part with the node itself.
    constexpr double kShort = 3;
    if (o.work < kShort * costs.graph_node) o.handover = std::clamp(costs.graph_node - o.work, 0., o.handover);
  }
}

/// Whether another fix has removed the wait between these launches, or there was none.
bool go_on_now(const Program& p, Index before, Index call) {
  const Index between = p.calls[call].follows;
  return between == before || p.calls[between].waits_for.empty();
}

/// Makes graphs of the launches between which the program does not wait.
void launch_as_graphs(Program& p, const std::vector<Launches>& sequences, const Costs& costs) {
  for (const Launches& all : sequences) {
    for (auto first = all.begin(); first != all.end();) {
      auto next = first + 1;
      while (next != all.end() && go_on_now(p, *(next - 1), *next)) ++next;
      if (next - first >= static_cast<std::ptrdiff_t>(kLeastLaunches)) launch_as_graph(p, {first, next}, costs);
      first = next;
    }
  }
}

// --- Setting up -----------------------------------------------------------------------------------------------------

bool is_setup_call(const HostCall& call) {
  switch (call.kind) {
    case CudaCallKind::allocate:
    case CudaCallKind::free:
    case CudaCallKind::pin:
    case CudaCallKind::unpin:
    case CudaCallKind::load:
    case CudaCallKind::stream: return true;
    default: return false;
  }
}

/// Returns the setup calls of the window. If the window is the whole program, leaves out calls before the first and
/// after the last operation, because these calls belong to the program's start or end.
std::vector<Index> setup_calls(const AnalysisInput& e) {
  double begin = 0;
  double end = e.program.seconds;
  if (e.window.is_whole && !e.program.operations.empty()) {
    begin = e.program.operations.front().begin;
    end = std::ranges::max(e.program.operations, {}, &Operation::end).end;
  }
  return places_where<Index>(e.program.calls, [begin, end](const HostCall& call) {
    return is_setup_call(call) && call.begin >= begin && call.begin < end;
  });
}

/// Removes from `calls` those that every program needs once: the longest call of each function, and code loading.
void reuse_repeated_setup(const AnalysisInput& e, std::vector<Index>& calls) {
  const auto length = [&e](Index c) { return e.replayed.call_ends[c] - e.replayed.call_begins[c]; };
  std::map<Index, Index> longest;  // per function: index of its longest call
  for (const Index c : calls) {
    Index& most = longest.try_emplace(e.program.calls[c].name, c).first->second;
    if (length(c) > length(most)) most = c;
  }
  std::erase_if(calls, [&](Index c) {
    const HostCall& call = e.program.calls[c];
    return call.kind == CudaCallKind::load || longest.at(call.name) == c;
  });
}

/// Returns advice for the kind of call that takes most of the time.
std::string_view reuse_advice(const AnalysisInput& e, const std::vector<Index>& calls) {
  std::map<CudaCallKind, double> kinds;
  for (const Index c : calls) kinds[e.program.calls[c].kind] += e.replayed.call_ends[c] - e.replayed.call_begins[c];
  switch (std::ranges::max_element(kinds, {}, [](const auto& kind) { return kind.second; })->first) {
    case CudaCallKind::pin:
    case CudaCallKind::unpin: return "Pin memory once in advance and reuse it";
    case CudaCallKind::load:
      return "Load code in advance: call each kernel once before, or set CUDA_MODULE_LOADING=EAGER";
    case CudaCallKind::stream: return "Create streams and events once in advance and reuse them";
    default: return "Allocate once in advance and reuse the memory (cudaMallocAsync, a pool)";
  }
}

}  // namespace

std::vector<Candidate> launch_bound_sequences(const AnalysisInput& e) {
  const std::vector<Index> needless = needless_waits(e);
  const std::vector<Launches> sequences = launch_sequences(e.program, needless);
  const auto operations = list_of(flat_list_of(sequences, std::identity()),
                                  [&e](Index c) { return e.program.calls[c].operations.front(); });
  if (operations.empty()) return {};
  Candidate candidate = of_operations(e, FindingKind::launch_bound, operations);
  candidate.finding.what = fmt::format(
      "{} launches in {} without a {}wait between them: the GPU is idle for {} in total because the host launches too "
      "slowly",
      operations.size(), sequences.size() == 1 ? "one sequence" : fmt::format("{} sequences", sequences.size()),
      needless.empty() ? "" : "needed ", format_seconds(idle_for_launches(e, sequences)));
  candidate.fixes.push_back(
      {"Capture the repeated launches in a CUDA graph and launch the graph (PyTorch: torch.cuda.CUDAGraph, "
       "torch.compile(mode=\"reduce-overhead\"))",
       "Each repetition launches the same kernels with the same sizes",
       [sequences, costs = e.costs](Program& p) { launch_as_graphs(p, sequences, costs); }});
  return {std::move(candidate)};
}

std::vector<Candidate> setup_in_window(const AnalysisInput& e) {
  std::vector<Index> calls = setup_calls(e);
  if (e.window.is_whole) reuse_repeated_setup(e, calls);
  if (calls.empty()) return {};
  Candidate candidate = of_calls(e, FindingKind::setup, calls);
  Finding& finding = candidate.finding;
  const auto is_named = [&](Index c) { return e.recording.name(e.program.calls[c].name) == finding.place.call; };
  finding.what =
      fmt::format("{} that {} or {} resources ({} of them {}) {} {} within the analyzed range, waits included",
                  counted(calls.size(), "call"), verb(calls.size(), "create"), verb(calls.size(), "release"),
                  std::ranges::count_if(calls, is_named), finding.place.call, verb(calls.size(), "take"),
                  format_seconds(time_of_calls(e, calls)));
  candidate.fixes.push_back({std::string(reuse_advice(e, calls)), "The resources can be reused", [calls](Program& p) {
                               for (const Index c : calls) make_asynchronous(p.calls[c], 0);
                             }});
  return {std::move(candidate)};
}

}  // namespace xferbench::explain
