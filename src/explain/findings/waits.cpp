// Finds host waits for the GPU that are needless, or that happen in each iteration instead of once.
#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "core/units.hpp"
#include "explain/candidates.hpp"

namespace xferbench::explain {

namespace {

/// Fewer waits than this are not reported.
constexpr std::size_t kLeastWaits = 4;

/// Calls of the window that wait for the GPU, grouped by whether the wait brings a result to the host.
struct Waits {
  std::vector<Index> needless{};  ///< indices of calls: nothing was copied back since the last wait for the stream
  std::vector<Index> results{};   ///< indices of calls: something was copied back
  std::uint64_t bytes = 0;        ///< total size of the results
};

/// Tracker of results (copies back) that the host has not waited for yet. The caller passes operations and waits in the
/// order of their calls.
class Account {
 public:
  explicit Account(const Program& program)
      : p_(program),
        streams_(program.streams.size()),
        places_(program.operations.size(), 0),
        results_(program.operations.size(), kNone) {}

  void enqueue(Index i) {
    const Operation& o = p_.operations[i];
    Stream& own = streams_[o.stream];
    places_[i] = ++own.enqueued;
    const auto brings_result = [this, &o](const Dependency& d) {
      return p_.operations[d.operation].stream != o.stream && result_at(d.operation) != kNone;
    };
    const bool is_result = o.is_copy && o.copy == CopyKind::d2h;
    if (is_result || std::ranges::any_of(o.after, brings_result)) own.results.push_back(places_[i]);
  }

  /// Whether a wait for these operations brings a result to the host. A result counts only for the first wait for it.
  bool take(const std::vector<Index>& operations) {
    bool found = false;
    for (const Index i : operations) {
      for (Index result = result_at(i); result != kNone; result = result_at(i)) {
        streams_[p_.operations[result].stream].results.pop_front();
        found = true;
      }
    }
    return found;
  }

 private:
  struct Stream {
    std::uint32_t enqueued = 0;
    // positions of results that the host has not awaited: copies back, and operations that use another stream's result
    std::deque<std::uint32_t> results{};
    [[nodiscard]] bool has_result_by(std::uint32_t place) const { return !results.empty() && results.front() <= place; }
  };

  [[nodiscard]] bool has_result(Index i) const {
    return i != kNone && streams_[p_.operations[i].stream].has_result_by(places_[i]);
  }

  /// Returns `i` or, if `i` is a join, an operation that `i` joins, if this operation or an earlier one in its stream
  /// has a pending result; else kNone. New results belong to later operations, so a joined operation that has none gets
  /// none later. Therefore each joined operation is checked once, and places_ counts the checked ones.
  Index result_at(Index i) {
    if (!p_.operations[i].is_join) return has_result(i) ? i : kNone;
    for (std::vector<Index> open{i}; !open.empty();) {
      const Index join = open.back();
      const std::vector<Dependency>& parts = p_.operations[join].after;
      const bool looks_on = places_[join] < parts.size();
      if (!has_result(results_[join]) && looks_on) {
        const Index part = parts[places_[join]].operation;
        if (p_.operations[part].is_join) {
          open.push_back(part);
          continue;
        }
        results_[join] = part;
      }
      if (has_result(results_[join])) {
        for (const Index above : open) results_[above] = results_[join];
        return results_[i];
      }
      if (!looks_on) open.pop_back();
      if (!open.empty()) ++places_[open.back()];
    }
    return kNone;
  }

  const Program& p_;
  std::vector<Stream> streams_;
  // Per operation: its position in its stream, from 1 on. Per join: the number of joined operations that were checked.
  std::vector<std::uint32_t> places_;
  std::vector<Index> results_;  // per join: the joined operation in which a result was found last
};

bool blocks_for_result(const Program& p, const HostCall& call) {
  return call.kind == CudaCallKind::copy && !call.waits_for.empty() && !call.operations.empty() &&
         p.operations[call.operations.front()].copy == CopyKind::d2h;
}

Waits waits_in(const Program& p) {
  Waits waits;
  Account account(p);
  const Index last = last_wait(p);
  for (Index c = 0; c < p.calls.size(); ++c) {
    const HostCall& call = p.calls[c];
    for (const Index i : call.operations) account.enqueue(i);
    const bool blocks = blocks_for_result(p, call);
    if (!(is_wait(call) || blocks) || call.waits_for.empty() || c == last) continue;
    if (!blocks) {
      (account.take(call.waits_for) ? waits.results : waits.needless).push_back(c);
      continue;
    }
    // Many programs wait for the stream after a blocking copy back. Both waits are for the same result.
    waits.results.push_back(c);
    for (const Index i : call.operations) waits.bytes += p.operations[i].bytes;
  }
  return waits;
}

/// Removes waits after which the thread reads from files what it copies next: the wait lets it overwrite the buffer.
void leave_out_reads(const Program& p, std::vector<Index>& waits) {
  std::map<std::uint32_t, bool> reads;  // per thread: whether it reads files before its next sampled copy
  std::vector<bool> before_reading(p.calls.size(), false);
  for (auto c = static_cast<Index>(p.calls.size()); c-- > 0;) {
    const HostCall& call = p.calls[c];
    if (call.is_sampled) reads[call.thread] = 2 * sample_of(p, c).read_before >= bytes_of(p, call.operations);
    before_reading[c] = reads[call.thread];
  }
  std::erase_if(waits, [&before_reading](Index c) { return before_reading[c]; });
}

/// In bytes. Larger results are left out: pinning them pays off by itself and is another finding (`pageable`).
constexpr std::uint64_t kSmallResult = 64 * KiB;

/// Pins the small results that these calls copy, and removes the calls' waits. A call with a larger copy to pageable
/// memory still waits, since the host carries out such a copy.
void pin_results(Program& p, const std::vector<Index>& calls, const Costs& costs) {
  for (const Index c : calls) {
    for (const Index i : p.calls[c].operations) {
      Operation& o = p.operations[i];
      if (o.copy != CopyKind::d2h || o.host != Memory::pageable || o.bytes > kSmallResult) continue;
      o.host = Memory::pinned;
      o.engine = Engine::d2h;
      o.work = std::min(o.work, costs.copy(o.copy, Memory::pinned, o.bytes).value_or(o.work));
    }
    const auto carried_by_host = [&p](Index i) { return p.operations[i].host == Memory::pageable; };
    if (std::ranges::any_of(p.calls[c].operations, carried_by_host)) continue;
    make_asynchronous(p.calls[c], p.calls[c].kind == CudaCallKind::copy ? costs.asynchronous_copy : 0);
  }
}

/// Whether the program uses managed memory, also outside of the window. After any wait, the host may then read what
/// kernels have written, so that no wait is known to be needless.
bool uses_managed_memory(const Recording& r) {
  const auto is_managed = [&r](const recording::Call& call) {
    return call_kind(r.name(call.name)) == CudaCallKind::managed;
  };
  return !r.migrations.empty() || std::ranges::any_of(r.calls, is_managed);
}

/// Returns the needless ones of these waits; empty if they are few.
std::vector<Index> needless_of(const AnalysisInput& e, std::vector<Index> waits) {
  if (uses_managed_memory(e.recording)) return {};
  leave_out_reads(e.program, waits);
  return waits.size() >= kLeastWaits ? waits : std::vector<Index>();
}

Candidate needless(const AnalysisInput& e, const std::vector<Index>& calls) {
  Candidate candidate = of_calls(e, FindingKind::needless_wait, calls);
  candidate.finding.what = fmt::format(
      "The host waits for the GPU {} ({} in total) although nothing was copied back since the previous wait",
      counted(calls.size(), "time"), format_seconds(time_of_calls(e, calls)));
  candidate.fixes.push_back({"Remove these waits, and wait once where the results are needed",
                             "The host does not overwrite memory that a copy still reads (else use a second buffer), "
                             "and does not read memory that kernels write directly",
                             [calls](Program& p) {
                               for (const Index c : calls) make_asynchronous(p.calls[c], 0);
                             }});
  return candidate;
}

Candidate results(const AnalysisInput& e, const Waits& waits) {
  Candidate candidate = of_calls(e, FindingKind::result_wait, waits.results);
  candidate.finding.bytes = waits.bytes;
  candidate.finding.what = fmt::format(
      "The host waits for results {} ({} in total), and after each wait the GPU idles until the host continues",
      counted(waits.results.size(), "time"), format_seconds(time_of_calls(e, waits.results)));
  candidate.fixes.push_back(
      {"Keep the results on the GPU, or copy them asynchronously to pinned memory and read them some steps later "
       "(PyTorch: no .item(), .cpu() or print in each step)",
       "The program's next work does not depend on these results",
       [calls = waits.results, costs = e.costs](Program& p) { pin_results(p, calls, costs); }});
  return candidate;
}

}  // namespace

std::vector<Index> needless_waits(const AnalysisInput& e) { return needless_of(e, waits_in(e.program).needless); }

std::vector<Candidate> waits(const AnalysisInput& e) {
  const Waits found = waits_in(e.program);
  std::vector<Candidate> all;
  if (const std::vector<Index> calls = needless_of(e, found.needless); !calls.empty())
    all.push_back(needless(e, calls));
  if (found.results.size() >= kLeastWaits) all.push_back(results(e, found));
  return all;
}

}  // namespace xferbench::explain
