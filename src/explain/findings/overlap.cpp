// Finds copies and kernels that alternate although separate engines could run them at the same time.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "core/lists.hpp"
#include "explain/candidates.hpp"
#include "explain/findings/steps.hpp"

namespace xferbench::explain {

namespace {

double work_of(const Program& p, const std::vector<Index>& operations) {
  return total_of(operations, [&p](Index i) { return p.operations[i].work; });
}

// --- Overlap of a step with the next one -----------------------------------------------------------------------------

/// Replaces the dependencies of operation `i` on operations of its own stream by dependencies on the operations `on`.
void follow(Program& p, Index i, std::initializer_list<Index> on) {
  Operation& o = p.operations[i];
  std::erase_if(o.after, [&](const Dependency& d) { return p.operations[d.operation].stream == o.stream; });
  for (const Index other : on) {
    if (other != i) depend(o, other);
  }
}

/// Returns for each step the last operation of one phase (`member` is Step::in, work or out) in that step, or in the
/// nearest earlier step that has one.
template <class Member>
std::vector<Index> latest_of(const Chain& steps, Member member) {
  std::vector<Index> latest;
  for (const Step& step : steps) {
    const Index found = last_of(step.*member);
    latest.push_back(found == kNone && !latest.empty() ? latest.back() : found);
  }
  return latest;
}

/// Changes the dependencies of the steps to those that they would have with two input buffers, two output buffers and
/// one stream for each engine.
void double_buffer(Program& p, const Chain& steps) {
  const std::vector<Index> ins = latest_of(steps, &Step::in);
  const std::vector<Index> works = latest_of(steps, &Step::work);
  const std::vector<Index> outs = latest_of(steps, &Step::out);
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const auto before = [s](const std::vector<Index>& latest, std::size_t back) {
      return s < back ? kNone : latest[s - back];
    };
    Index in = before(ins, 1);
    Index work = before(works, 1);
    Index out = before(outs, 1);
    for (const Index i : steps[s].all) {
      switch (phase_of(p.operations[i])) {
        case Phase::in:
          follow(p, i, {in, before(works, 2)});
          in = i;
          break;
        case Phase::work:
          follow(p, i, {work, in, before(outs, 2)});
          work = i;
          break;
        case Phase::out:
          follow(p, i, {out, work});
          out = i;
          break;
      }
    }
  }
}

/// With one stream for each engine, a wait for an operation no longer covers earlier operations of other engines. This
/// class adds waits for those: the last copy in, kernel and copy back of the step up to the awaited operation.
class Covered {
 public:
  Covered(const Program& p, const std::vector<Chain>& chains) {
    for (const Chain& chain : chains) {
      for (const Step& step : chain) add(p, step);
    }
  }

  void wait_for_all(Program& p) const {
    std::vector<Index> more;
    std::vector<std::size_t> known(p.operations.size(), 0);  // per operation: value of `list` when it was last seen
    std::size_t list = 0;
    const auto is_new = [&](Index i) { return std::exchange(known[i], list) != list; };
    for (HostCall& call : p.calls) {
      ++list;
      more.clear();
      for (const Index i : call.waits_for) {
        known[i] = list;
        add_other_waits(i, more);
      }
      std::ranges::copy_if(more, std::back_inserter(call.waits_for), is_new);
    }
    for (Operation& o : p.operations) {
      ++list;
      more.clear();
      for (const Dependency& d : o.after) {
        known[d.operation] = list;
        if (p.operations[d.operation].stream != o.stream) add_other_waits(d.operation, more);
      }
      for (const Index other : more) {
        if (is_new(other)) o.after.push_back({other});
      }
    }
  }

 private:
  void add(const Program& p, const Step& step) {
    std::array<Index, 3> latest{kNone, kNone, kNone};
    for (const Index i : step.all) {
      latest[static_cast<std::size_t>(phase_of(p.operations[i]))] = i;
      by_operation_[i] = latest;
    }
  }

  /// Appends to `others` the other operations that a wait for `operation` covered in the recorded stream.
  void add_other_waits(Index operation, std::vector<Index>& others) const {
    const auto found = by_operation_.find(operation);
    if (found == by_operation_.end()) return;
    std::ranges::copy_if(found->second, std::back_inserter(others),
                         [operation](Index i) { return i != kNone && i != operation; });
  }

  std::unordered_map<Index, std::array<Index, 3>> by_operation_;
};

/// Makes each wait for a step's result wait for the previous step's result instead. Keeps the program's last wait.
void defer_wait_by_a_step(Program& p, const std::vector<Chain>& chains) {
  std::unordered_map<Index, Index> instead;  // per operation: result of the previous step
  for (const Chain& chain : chains) {
    for (std::size_t s = 0; s < chain.size(); ++s) {
      for (const Index i : chain[s].all) instead[i] = s == 0 ? kNone : result_of(chain[s - 1]);
    }
  }
  const auto later = [&](Index i) {
    const auto found = instead.find(i);
    const bool carried_by_host = p.operations[i].host == Memory::pageable;
    return found == instead.end() || carried_by_host ? i : found->second;
  };
  for (Index i = 0, count = static_cast<Index>(p.operations.size()); i < count; ++i) {
    if (!p.operations[i].is_join) continue;
    Operation join = p.operations[i];
    for (Dependency& d : join.after) d.operation = later(d.operation);
    std::erase_if(join.after, [](const Dependency& d) { return d.operation == kNone; });
    instead[i] = join.after.empty() ? kNone : static_cast<Index>(p.operations.size());
    if (!join.after.empty()) p.operations.push_back(std::move(join));
  }
  const Index last = last_wait(p);
  for (Index c = 0; c < p.calls.size(); ++c) {
    HostCall& call = p.calls[c];
    if (c == last || !(is_wait(call) || call.kind == CudaCallKind::copy)) continue;
    std::vector<Index> waits;
    for (const Index i : call.waits_for) {
      if (const Index wait = later(i); wait != kNone) waits.push_back(wait);
    }
    call.waits_for = std::move(waits);
  }
}

// --- Splitting a step ------------------------------------------------------------------------------------------------

double work_of_part(const Operation& o, std::size_t parts, const Costs& costs) {
  const double share = o.work / static_cast<double>(parts);
  if (!o.is_copy) return std::max(share, o.work * static_cast<double>(o.least_part)) + costs.graph_node;
  const auto fixed = costs.copy(o.copy, o.host, 4 * KiB);
  const auto alone = costs.copy(o.copy, o.host, std::max<std::uint64_t>(1, o.bytes / parts));
  return std::max(share, alone.value_or(share + fixed.value_or(costs.handover)));
}

/// Adds part `part` of operation `whole` and returns its index. Each earlier part delays it by the time of one call.
Index add_part(Program& p, Index whole, std::size_t part, std::size_t parts, const Costs& costs) {
  Operation o = p.operations[whole];
  o.work = work_of_part(o, parts, costs);
  o.bytes /= parts;
  o.delay += static_cast<double>(part) * (o.is_copy ? costs.asynchronous_copy : costs.launch);
  if (part > 0) o.after.clear();
  o.handover = std::max(o.handover, costs.handover);
  const auto index = static_cast<Index>(p.operations.size());
  if (o.call != kNone) p.calls[o.call].operations.push_back(index);
  p.operations.push_back(std::move(o));
  return index;
}

/// Turns `whole` into an empty operation after its last part, so that a wait for `whole` waits for all parts.
void join(Program& p, Index whole, Index last_part) {
  Operation& o = p.operations[whole];
  o.engine = Engine::none;
  o.work = o.handover = 0;
  o.after = {{last_part, false}};
}

/// Splits a step into parts that are copied in, processed and copied back concurrently.
void split(Program& p, const Step& step, std::size_t parts, const Costs& costs) {
  std::map<Index, Index> last_part;
  std::array<Index, 3> before{kNone, kNone, kNone};  // index of the last part of each phase so far
  for (std::size_t part = 0; part < parts; ++part) {
    Index upstream = kNone;
    std::size_t phase = 0;
    for (const auto* operations : {&step.in, &step.work, &step.out}) {
      for (const Index whole : *operations) {
        const Index made = add_part(p, whole, part, parts, costs);
        if (part == 0) {
          std::erase_if(p.operations[made].after, [&](const Dependency& d) { return last_part.contains(d.operation); });
        }
        depend(p.operations[made], before[phase]);
        depend(p.operations[made], upstream);
        before[phase] = made;
        last_part[whole] = made;
      }
      if (!operations->empty()) upstream = before[phase];
      ++phase;
    }
  }
  for (const auto& [whole, part] : last_part) join(p, whole, part);
}

/// Returns for each call the number of earlier calls that wait for GPU work.
std::vector<std::size_t> waits_before(const Program& p) {
  std::vector<std::size_t> before;
  std::size_t waits = 0;
  for (const HostCall& call : p.calls) {
    before.push_back(waits);
    if (!call.waits_for.empty()) ++waits;
  }
  return before;
}

/// Whether the phases of the step are in order, and the host enqueues all of them without a wait in between. Otherwise
/// parts of the step would have to overtake a wait.
bool can_be_split(const Program& p, const Step& step, const std::vector<std::size_t>& waits) {
  if (!step.in_order) return false;
  Index first = kNone;
  Index last = 0;
  for (const Index i : step.all) {
    const Index call = p.operations[i].call;
    if (call == kNone) return false;
    first = std::min(first, call);
    last = std::max(last, call);
  }
  return first > last || waits[first] == waits[last];
}

// --- Is it worth reporting? ------------------------------------------------------------------------------------------

/// Copies or kernels that take a smaller share of the window are not worth overlapping.
constexpr double kLeastShare = 0.01;

/// Returns the streams in which at least two of the three phases (copies in, kernels, copies back) each take more than
/// kLeastShare of the window.
std::vector<Index> streams_with_both(const Program& p) {
  std::vector<Index> found;
  const std::vector<Chain> chains = chains_of(p);
  for (Index s = 0; s < chains.size(); ++s) {
    double copies = 0;
    double back = 0;
    double kernels = 0;
    for (const Step& step : chains[s]) {
      copies += work_of(p, step.in);
      back += work_of(p, step.out);
      kernels += work_of(p, step.work);
    }
    const double least = kLeastShare * p.seconds;
    const int kinds = (copies > least ? 1 : 0) + (back > least ? 1 : 0) + (kernels > least ? 1 : 0);
    if (kinds >= 2) found.push_back(s);
  }
  return found;
}

Fix across_steps(const std::vector<Index>& streams) {
  return {
      "Overlap the copies of one step with the kernels of another: use two buffers, one stream per engine and events "
      "between them, and wait for a step's results one step later",
      "No step depends on host results of the one before, and memory suffices for a second buffer",
      [streams](Program& p) {
        const std::vector<Chain> chains = chains_of(p, streams);
        defer_wait_by_a_step(p, chains);
        for (const Chain& chain : chains) double_buffer(p, chain);
        Covered(p, chains).wait_for_all(p);
      }};
}

Fix in_parts(const std::vector<Index>& streams, std::size_t parts, const Costs& costs) {
  return {fmt::format("Split each step into {} chunks, with one stream per engine, so that H2D copies, kernels and D2H "
                      "copies overlap (xferbench tune finds the best number of chunks)",
                      parts),
          "The kernels can process chunks", [streams, parts, costs](Program& p) {
            const std::vector<std::size_t> waits = waits_before(p);
            for (const Chain& chain : chains_of(p, streams)) {
              for (const Step& step : chain) {
                if (can_be_split(p, step, waits)) split(p, step, parts, costs);
              }
            }
          }};
}

}  // namespace

std::vector<Candidate> copies_and_kernels_in_turn(const AnalysisInput& e) {
  const std::vector<Index> streams = streams_with_both(e.program);
  if (streams.empty()) return {};
  std::vector<Index> copies;
  std::size_t steps = 0;
  for (const Chain& chain : chains_of(e.program, streams)) {
    for (const Step& step : chain) {
      ++steps;
      copies.insert(copies.end(), step.in.begin(), step.in.end());
      copies.insert(copies.end(), step.out.begin(), step.out.end());
    }
  }
  Candidate candidate = of_operations(e, FindingKind::no_overlap, copies);
  candidate.finding.bytes = bytes_of(e.program, copies);
  candidate.finding.what = fmt::format(
      "{} and the kernels between them run serially in {}, {} in total, although copies and kernels have engines of "
      "their own",
      copies_in_words(e.program, copies),
      streams.size() == 1 ? "one stream" : fmt::format("{} streams", streams.size()), counted(steps, "step"));
  if (steps >= 3) candidate.fixes.push_back(across_steps(streams));
  // Splitting multiplies the number of operations, so long windows only get double buffering.
  constexpr std::size_t kMostInParts = 20'000;
  for (const std::size_t parts : {4U, 8U, 16U, 32U}) {
    if (parts * e.program.operations.size() <= kMostInParts) {
      candidate.fixes.push_back(in_parts(streams, parts, e.costs));
    }
  }
  if (candidate.fixes.empty()) return {};
  return {std::move(candidate)};
}

}  // namespace xferbench::explain
