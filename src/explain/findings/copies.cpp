// Finds copies that are slower, more numerous or more blocking than necessary.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/lists.hpp"
#include "core/units.hpp"
#include "explain/candidates.hpp"
#include "explain/typical_value.hpp"

namespace xferbench::explain {

namespace {

/// Indices of copies, grouped by direction and by whether they are small. Each group becomes one finding.
using Groups = std::map<std::pair<CopyKind, bool>, std::vector<Index>>;

template <class Wanted>
Groups grouped(const Program& program, std::uint64_t small, Wanted wanted) {
  Groups groups;
  for (Index i = 0; i < program.operations.size(); ++i) {
    const Operation& o = program.operations[i];
    if (crosses_the_link(o) && wanted(o)) groups[{o.copy, o.bytes <= small}].push_back(i);
  }
  return groups;
}

// --- Pageable -------------------------------------------------------------------------------------------------------

/// Returns the seconds for pinning and unpinning the memory of the largest of these copies.
std::optional<double> cost_of_pinning(const AnalysisInput& e, std::span<const Index> operations) {
  if (!e.costs.pin) return std::nullopt;
  return *e.costs.pin * static_cast<double>(largest_of(e.program, operations));
}

/// Removes the effect of cold caches on the program's own work after a pageable copy. The CPU stages such a copy, and
/// thereby evicts its caches, so the work takes up to 4 times as long as usual (in a PyTorch training loop on the host
/// of an H200: 121 us instead of 38 us). Work that takes even longer has another reason and is not changed.
void warm_caches(Program& program, Index copy_call, const std::vector<Index>& next, const TypicalValue<Index>& gaps,
                 std::uint64_t bytes) {
  constexpr std::uint64_t kCache = 2 * MiB;  // bytes; cache of a CPU core
  constexpr double kRefill = 20e9;           // bytes per second from memory to cache
  constexpr double kMostSlowdown = 4;
  const double most = static_cast<double>(std::min(bytes, kCache)) / kRefill;
  for (Index c = next[copy_call]; c != kNone; c = next[c]) {
    HostCall& call = program.calls[c];
    if (is_wait(call)) continue;  // this call only waits for the copy
    const double usual = gaps.of(call.name);
    if (call.gap <= kMostSlowdown * usual) call.gap -= std::clamp(call.gap - usual, 0., most);
    return;
  }
}

/// Returns for each call the index of the first call that follows it (HostCall::follows), or kNone.
std::vector<Index> next_calls(const Program& program) {
  std::vector<Index> next(program.calls.size(), kNone);
  for (auto c = static_cast<Index>(program.calls.size()); c-- > 0;) {
    const Index before = program.calls[c].follows;
    if (before != kNone) next[before] = c;
  }
  return next;
}

/// Changes pageable copies to pinned ones. `once`: seconds for pinning the memory, 0 if that is outside of the window.
void pin(Program& program, std::span<const Index> operations, const Costs& costs, double once) {
  TypicalValue<Index> gaps(0);  // for each CUDA function: the median time of the program's own work before a call
  for (const HostCall& call : program.calls) gaps.see(call.name, call.gap);
  gaps.settle();
  const std::vector<Index> next = next_calls(program);
  for (const Index i : operations) {
    Operation& o = program.operations[i];
    if (o.host != Memory::pageable || o.bytes == 0) continue;  // pinned, or merged by another fix
    o.work = std::min(o.work, costs.copy(o.copy, Memory::pinned, o.bytes).value_or(o.work));
    o.host = Memory::pinned;
    o.by_cpu_rate = false;
    o.engine = o.copy == CopyKind::h2d ? Engine::h2d : Engine::d2h;
    if (o.call == kNone) continue;
    HostCall& call = program.calls[o.call];
    call.gap += std::exchange(once, 0.);
    warm_caches(program, o.call, next, gaps, o.bytes);
    // A copy to the GPU needs no wait. After a blocking copy back, the program reads the result, so the call stays
    // blocking.
    if (o.copy == CopyKind::h2d || call.asynchronous) make_asynchronous(call, costs.asynchronous_copy);
  }
}

/// The fix that pins the host memory. If the whole program is analyzed, the gain includes the cost of pinning; before
/// an NVTX range, memory can be pinned in advance.
Fix pinned_memory(const AnalysisInput& e, const std::vector<Index>& operations) {
  const bool to_gpu = e.program.operations[operations.front()].copy == CopyKind::h2d;
  const std::optional<double> cost = cost_of_pinning(e, operations);
  const std::uint64_t largest = largest_of(e.program, operations);
  const std::string takes = cost ? fmt::format(" (cudaHostRegister and cudaHostUnregister of {} take about {} here)",
                                               format_size(largest), format_seconds(*cost))
                                 : "";
  const std::string when =
      e.window.is_whole && cost ? "at a cost that the gain includes" : "outside of the analyzed range";
  return {to_gpu ? "Pin the source (cudaMallocHost, cudaHostRegister; PyTorch: pin_memory()) and copy with "
                   "cudaMemcpyAsync on a stream (non_blocking=True)"
                 : "Copy into pinned memory (cudaMallocHost, cudaHostRegister) with cudaMemcpyAsync on a stream",
          fmt::format("The memory is pinned once, {}{}, and is not overwritten before the copy has ended", when, takes),
          [operations, costs = e.costs, once = e.window.is_whole ? cost.value_or(0) : 0](Program& p) {
            pin(p, operations, costs, once);
          }};
}

/// Returns the time per copy as text if all copies are small, else their rate and the rate with pinned memory.
std::string pace(const AnalysisInput& e, std::span<const Index> operations, double pinned) {
  const double taken = recorded_time_of(e.program, operations);
  if (largest_of(e.program, operations) <= kSmallCopy) {
    return format_seconds(taken / static_cast<double>(operations.size())) + " each";
  }
  const std::uint64_t bytes = bytes_of(e.program, operations);
  return fmt::format("{}; pinned memory would reach {}", rate_text(bytes, taken), rate_text(bytes, pinned));
}

/// Whether most of the calls that enqueue these copies return only after their copy has ended.
bool keep_the_host(const Program& p, std::span<const Index> operations) {
  const auto waits = [&p](Index i) {
    const Index call = p.operations[i].call;
    return call != kNone && !p.calls[call].waits_for.empty();
  };
  return 2 * std::ranges::count_if(operations, waits) > std::ssize(operations);
}

/// Whether the copy is of memory that could be pinned. A mapped file has a finding of its own (findings/files.cpp).
bool is_pageable(const Program& p, const Operation& o) {
  return o.host == Memory::pageable && (o.call == kNone || sample_of(p, o.call).source_file == 0);
}

Candidate pageable_candidate(const AnalysisInput& e, const std::vector<Index>& operations, double pinned) {
  Candidate candidate = of_copies(e, FindingKind::pageable, operations);
  candidate.finding.at_most = false;
  candidate.fixes.push_back(pinned_memory(e, operations));
  const CopyKind kind = e.program.operations[operations.front()].copy;
  candidate.finding.what =
      fmt::format("{} {} {} {} pageable memory: {}", copies_in_words(e.program, operations), to_or_from(kind),
                  verb(operations.size(), kind == CopyKind::h2d ? "read" : "write"),
                  kind == CopyKind::h2d ? "from" : "to", pace(e, operations, pinned));
  if (keep_the_host(e.program, operations)) {
    candidate.finding.what += fmt::format("; the host waits for {}", operations.size() == 1 ? "it" : "them");
  }
  return candidate;
}

// --- Many small copies -----------------------------------------------------------------------------------------------

constexpr std::size_t kLeastInRun = 4;

/// Indices of copies of one direction that follow each other in their stream with nothing in between.
using Run = std::vector<Index>;

/// In seconds. A copy call that begins longer than this after the end of the previous copy call starts a new run.
constexpr double kLongestPause = 200e-6;

/// Numbers of launches and waits that a thread has made before one of its calls.
struct Before {
  std::size_t launches = 0;
  std::size_t waits = 0;
};

std::vector<Before> before_calls(const Program& p) {
  std::vector<Before> all;
  std::map<std::uint32_t, Before> threads;
  for (const HostCall& call : p.calls) {
    Before& so_far = threads[call.thread];
    all.push_back(so_far);
    if (is_launch(call)) ++so_far.launches;
    if (is_wait(call)) ++so_far.waits;
  }
  return all;
}

bool belongs_to(const Program& p, const std::vector<Before>& before_call, const Run& run, Index i) {
  const Operation& last = p.operations[run.back()];
  const Operation& o = p.operations[i];
  if (o.copy != last.copy || o.host != last.host || o.call == kNone || last.call == kNone) return false;
  const HostCall& before = p.calls[last.call];
  const HostCall& call = p.calls[o.call];
  if (call.thread != before.thread || o.call <= last.call || call.begin > before.end + kLongestPause) return false;
  // A launch in between ends the run, because the kernel may use the copied data. So does a wait after a D2H copy,
  // because the host may then read the data.
  const Before& then = before_call[last.call];  // last.call is a copy, so neither a launch nor a wait
  const Before& now = before_call[o.call];
  return now.launches == then.launches && (now.waits == then.waits || o.copy != CopyKind::d2h);
}

std::vector<Run> runs_of_small_copies(const Program& p) {
  std::vector<Run> runs;
  std::map<Index, Run> open;  // per stream: the run that the next copies may extend
  const std::vector<Before> before_call = before_calls(p);
  const auto close = [&runs](Run& run) {
    if (run.size() >= kLeastInRun) runs.push_back(run);
    run.clear();
  };
  for (Index i = 0; i < p.operations.size(); ++i) {
    const Operation& o = p.operations[i];
    Run& run = open[o.stream];
    const bool small = crosses_the_link(o) && o.bytes <= kSmallCopy && !o.in_graph;
    if (!run.empty() && (!small || !belongs_to(p, before_call, run, i))) close(run);
    if (small) run.push_back(i);
  }
  for (auto& [stream, run] : open) close(run);
  return runs;
}

/// Marks the calls of the thread between a copy and the next one of its run, but no waits.
void mark_calls_between(Program& p, Index copy, Index next) {
  for (Index c = p.calls[next].follows; c != kNone && c > copy; c = p.calls[c].follows) {
    if (p.calls[c].thread == p.calls[copy].thread && !is_wait(p.calls[c])) p.calls[c].merged = true;
  }
}

/// Marks the last copy of a run and the later calls of its thread, up to the next launch or wait.
void mark_calls_after(Program& p, Index copy) {
  constexpr Index kMost = 256;
  const auto last = static_cast<Index>(std::min<std::size_t>(p.calls.size(), copy + kMost));
  for (Index c = copy; c < last; ++c) {
    HostCall& call = p.calls[c];
    if (call.thread != p.calls[copy].thread) continue;
    call.after_merged = true;
    if (is_launch(call) || is_wait(call)) return;
  }
}

/// Merges a run of copies into its last one, which is returned, with the bytes of all. The program's other calls
/// between these copies stay, since they may produce the data.
Operation& merge(Program& p, const Run& run) {
  Operation& whole = p.operations[run.back()];
  for (std::size_t k = 0; k + 1 < run.size(); ++k) {
    Operation& o = p.operations[run[k]];
    make_asynchronous(p.calls[o.call], 0);
    p.calls[o.call].merged = true;
    mark_calls_between(p, o.call, p.operations[run[k + 1]].call);
    whole.bytes += o.bytes;
    o.engine = Engine::none;
    o.work = o.delay = o.handover = 0;
    o.bytes = 0;
  }
  whole.engine = whole.copy == CopyKind::h2d ? Engine::h2d : Engine::d2h;
  mark_calls_after(p, whole.call);
  return whole;
}

/// Adds `seconds` of host work to the operation's call; the operation can begin only after this work.
void work_in_call(Program& p, Operation& o, double seconds) {
  p.calls[o.call].own += seconds;
  o.delay += seconds;
}

/// One copy replaces the run, and gathering the pieces in one buffer adds host time.
void gather(Program& p, const Run& run, const Costs& costs) {
  Operation& whole = merge(p, run);
  work_in_call(p, whole, static_cast<double>(whole.bytes) * costs.gather);
  whole.work = costs.copy(whole.copy, whole.host, whole.bytes).value_or(whole.work);
}

/// Moves the pieces of the run together: the host first spends its time in the calls, then the engine begins.
void move_together(Program& p, const Run& run, PieceWay way, const Costs& costs) {
  PieceCost all;
  for (const Index i : run) {
    const Operation& o = p.operations[i];
    const PieceCost each = costs.piece(o.copy, way, o.bytes).value_or(PieceCost{});
    all.result += each.result;
    all.calls += each.calls;
  }
  Operation& whole = merge(p, run);
  // No way is faster than one copy. This matters for few pieces, because the costs were measured with many.
  const double least = costs.copy(whole.copy, whole.host, whole.bytes).value_or(0);
  whole.work = std::max(all.result - all.calls, least);
  if (way == PieceWay::kernel) {
    whole.engine = Engine::compute;
    whole.delay = std::max(whole.delay, costs.start);
  }
  work_in_call(p, whole, all.calls);
}

Fix gathered(CopyKind kind, const std::vector<Run>& runs, const Costs& costs) {
  const bool to_gpu = kind == CopyKind::h2d;
  return {to_gpu ? "Gather the data in one host buffer and copy that once"
                 : "Gather the data in one GPU buffer and copy that once",
          to_gpu ? "The data can be contiguous on the GPU; the gain includes 0.1 ns of host time per gathered byte"
                 : "No copy depends on the result of an earlier one",
          [runs, costs](Program& p) {
            for (const Run& run : runs) gather(p, run, costs);
          },
          "gathering the data for one copy"};
}

Fix moved_together(CopyKind kind, PieceWay way, const std::vector<Run>& runs, const Costs& costs) {
  Fix fix;
  fix.apply = [runs, way, costs](Program& p) {
    for (const Run& run : runs) move_together(p, run, way, costs);
  };
  switch (way) {
    case PieceWay::batch:
      fix.text =
          "Move the pieces by one cudaMemcpyBatchAsync (CUDA 12.8 or newer). If hundreds go to the GPU in an idle "
          "stream, launch a kernel of 0.1 ms first: else the driver copies small pieces itself, slowly";
      fix.assumption = "The pieces may stay where they are, and no copy depends on the result of an earlier one";
      fix.name = "one cudaMemcpyBatchAsync";
      break;
    case PieceWay::kernel:
      fix.text =
          "Move the pieces by one kernel whose threads read and write host memory, 16 bytes at a time (33 blocks are "
          "enough)";
      fix.assumption =
          "The pieces may stay where they are, as pinned memory is mapped into the GPU; no copy depends on the result "
          "of an earlier one";
      fix.name = "one kernel that moves the pieces";
      break;
    case PieceWay::staged:
      fix.text = kind == CopyKind::h2d ? "Copy all pieces at once to a GPU buffer, and spread them by a kernel"
                                       : "Pack the pieces in a GPU buffer by a kernel, and copy that at once";
      fix.assumption =
          "The pieces lie without gaps in host memory, which a recording does not show, and no copy depends on the "
          "result of an earlier one";
      fix.name = "a copy of all and a kernel on the GPU, if the pieces lie without gaps in host memory";
      break;
  }
  return fix;
}

/// Whether a kernel is so much faster for pieces of this size that it is suggested before a batch, which is simpler.
/// The gains do not show this while copies in the other direction limit the program.
bool kernel_is_far_faster(const Costs& costs, CopyKind kind, std::uint64_t piece) {
  constexpr double kFar = 1.5;
  const auto batch = costs.piece(kind, PieceWay::batch, piece);
  const auto kernel = costs.piece(kind, PieceWay::kernel, piece);
  return batch && kernel && batch->result > kFar * kernel->result;
}

/// Returns the fixes, first those that change the program least. The last two require other places for the data.
std::vector<Fix> fixes_of_small(const AnalysisInput& e, CopyKind kind, const std::vector<Run>& runs) {
  std::vector<Fix> fixes;
  const Operation& first = e.program.operations[runs.front().front()];
  const bool pinned = first.host == Memory::pinned;
  const auto offer = [&](PieceWay way) {
    if (pinned && e.costs.piece(kind, way, 1)) fixes.push_back(moved_together(kind, way, runs, e.costs));
  };
  const bool kernel_first = kernel_is_far_faster(e.costs, kind, first.bytes);
  offer(kernel_first ? PieceWay::kernel : PieceWay::batch);
  offer(kernel_first ? PieceWay::batch : PieceWay::kernel);
  fixes.push_back(gathered(kind, runs, e.costs));
  offer(PieceWay::staged);
  return fixes;
}

Candidate small_candidate(const AnalysisInput& e, CopyKind kind, const std::vector<Run>& runs) {
  constexpr double kEnough = 0.9;
  std::vector<Index> operations;
  for (const Run& run : runs) operations.insert(operations.end(), run.begin(), run.end());
  Candidate candidate = of_copies(e, FindingKind::small_copies, operations);
  candidate.fixes = fixes_of_small(e, kind, runs);
  candidate.enough = kEnough;
  candidate.finding.what = fmt::format(
      "{} {} follow each other and could be merged into {}", copies_in_words(e.program, operations), to_or_from(kind),
      runs.size() == 1 ? "one" : fmt::format("{} (about {} in each)", runs.size(), operations.size() / runs.size()));
  return candidate;
}

// --- Slower than the machine ----------------------------------------------------------------------------------------

/// A copy is slow if it takes more than this many times as long as the same copy in this machine's measured limits. The
/// slow-down by copies in the other direction does not count.
constexpr double kSlow = 1.15;

bool is_by_rows(const AnalysisInput& e, Index i) {
  const Index call = e.program.operations[i].call;
  return call != kNone && copies_rows(e.recording.name(e.program.calls[call].name));
}

Fix advice_for_slow(bool rows) {
  if (rows) {
    return {
        "Copy memory without gaps: pack the rows on the host first, or let a kernel read or write them in pinned "
        "memory over the link. If the rows have no gaps, check the memory's NUMA node",
        "Packing takes no longer than the copy, or happens while the GPU works",
        {}};
  }
  return {"Check the memory's NUMA node (another socket: numactl --membind) and other programs on the link",
          "No other program uses the link",
          {}};
}

Candidate slow_candidate(const AnalysisInput& e, CopyKind kind, bool rows, const std::vector<Index>& operations) {
  Candidate candidate = of_copies(e, FindingKind::slow_copies, operations);
  candidate.fixes.push_back(advice_for_slow(rows));
  candidate.finding.what = fmt::format(
      "{}{} {} {} {}; this machine reaches {}{}. Slow-down by copies in the other direction is not included",
      copies_in_words(e.program, operations), rows ? ", row by row," : "", to_or_from(kind),
      verb(operations.size(), "reach"), rate_text(candidate.finding.bytes, recorded_time_of(e.program, operations)),
      rate_text(candidate.finding.bytes, time_by(e, operations, Memory::pinned).value_or(0)),
      rows ? " without gaps" : "");
  candidate.fixes.front().apply = [operations, costs = e.costs](Program& p) {
    for (const Index i : operations) {
      Operation& o = p.operations[i];
      o.work = std::min(o.work, costs.copy(o.copy, Memory::pinned, o.bytes).value_or(o.work));
    }
  };
  return candidate;
}

}  // namespace

std::vector<Candidate> pageable_copies(const AnalysisInput& e) {
  std::vector<Candidate> found;
  for (const auto& [group, operations] :
       grouped(e.program, kSmallCopy, [&e](const Operation& o) { return is_pageable(e.program, o); })) {
    const auto pinned = time_by(e, operations, Memory::pinned);
    if (pinned) found.push_back(pageable_candidate(e, operations, *pinned));
  }
  return found;
}

std::vector<Candidate> small_copies(const AnalysisInput& e) {
  std::map<std::pair<CopyKind, bool>, std::vector<Run>> groups;  // pinned memory has more fixes: a separate group
  for (Run& run : runs_of_small_copies(e.program)) {
    const Operation& first = e.program.operations[run.front()];
    if (!e.costs.copy(first.copy, first.host, first.bytes)) continue;
    groups[{first.copy, first.host == Memory::pinned}].push_back(std::move(run));
  }
  return list_of(groups, [&e](const auto& group) { return small_candidate(e, group.first.first, group.second); });
}

std::vector<Candidate> slow_copies(const AnalysisInput& e) {
  const auto is_slow = [&e](const Operation& o) {
    if (o.bytes <= kSmallCopy || o.host != Memory::pinned) return false;
    const auto usual = e.costs.copy(o.copy, o.host, o.bytes);
    return usual && o.work > kSlow * *usual;
  };
  std::vector<Candidate> found;
  for (auto& [group, operations] : grouped(e.program, kSmallCopy, is_slow)) {
    const auto rest =
        std::stable_partition(operations.begin(), operations.end(), [&e](Index i) { return is_by_rows(e, i); });
    const std::vector<Index> rows(operations.begin(), rest);
    const std::vector<Index> others(rest, operations.end());
    if (!rows.empty()) found.push_back(slow_candidate(e, group.first, true, rows));
    if (!others.empty()) found.push_back(slow_candidate(e, group.first, false, others));
  }
  return found;
}

// --- Blocking calls -------------------------------------------------------------------------------------------------

std::vector<Candidate> blocking_copies(const AnalysisInput& e) {
  const auto operations = places_where<Index>(e.program.operations, [&calls = e.program.calls](const Operation& o) {
    return o.copy == CopyKind::h2d && o.host == Memory::pinned && o.call != kNone && !calls[o.call].asynchronous &&
           !calls[o.call].waits_for.empty();
  });
  if (operations.empty()) return {};
  Candidate candidate = of_copies(e, FindingKind::blocking_copy, operations);
  candidate.finding.at_most = false;
  candidate.finding.what = fmt::format("{} to the GPU from pinned memory {} blocking calls: the host waits for each",
                                       copies_in_words(e.program, operations), verb(operations.size(), "use"));
  candidate.fixes.push_back({"Use cudaMemcpyAsync on a stream, and wait once before the memory is overwritten",
                             "The host does not need to wait for these copies",
                             [operations, costs = e.costs](Program& p) {
                               for (const Index i : operations) {
                                 make_asynchronous(p.calls[p.operations[i].call], costs.asynchronous_copy);
                               }
                             }});
  return {std::move(candidate)};
}

}  // namespace xferbench::explain
