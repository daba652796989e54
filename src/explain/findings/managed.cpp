// Finds managed memory whose pages migrate because a kernel or the host touches them.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/units.hpp"
#include "explain/candidates.hpp"

namespace xferbench::explain {

namespace {

double seconds_of(const AnalysisInput& e, recording::Time time) {
  return 1e-9 * static_cast<double>(static_cast<std::int64_t>(time - e.window.begin));
}

/// The migrations of managed pages during one kernel, or during the program's own work before one call.
struct Moved {
  double begin = 0;  ///< begin of the first migration, or of the wait for it
  double end = 0;    ///< end of the last migration
  std::uint64_t bytes = 0;
  std::size_t times = 0;
  /// Returns the seconds of waiting for pages and page faults.
  [[nodiscard]] double seconds() const { return end - begin; }
  double waited = 0;  ///< set only in the sum of all migrations: seconds without the profiler's part
  void add(const Moved& other, double seconds_waited) {
    bytes += other.bytes;
    times += other.times;
    waited += seconds_waited;
  }
  /// Adds a migration. The first one takes up to half a millisecond to begin after the first touch, which is probably
  /// at `start` (measured on an H100: 0.2 to 0.43 ms).
  void add(double start, double from, double until, std::uint64_t size) {
    constexpr double kLongestFault = 0.5e-3;
    if (times++ == 0) begin = from - start < kLongestFault ? start : from;
    end = std::max(end, until);
    bytes += size;
  }
};

/// Migrations, by the index of the kernel that waits for them, and of the call before which the host waits.
struct Migrations {
  std::map<Index, Moved> kernels{};
  std::map<Index, Moved> calls{};
};

/// Returns the call before which the program works at this time; kNone if its threads are all in calls.
Index call_after(const Program& p, double time) {
  constexpr int kNext = 8;
  auto next = std::ranges::upper_bound(p.calls, time, {}, &HostCall::begin);
  for (int looks = 0; next != p.calls.end() && looks < kNext; ++next, ++looks) {
    if (next->begin - next->gap <= time) return static_cast<Index>(next - p.calls.begin());
  }
  return kNone;
}

/// Begin of the work before the call, as recorded.
double begin_of_work(const Program& p, const HostCall& call) {
  return call.follows == kNone ? 0 : std::min(call.begin, p.calls[call.follows].end);
}

Migrations migrations_in(const AnalysisInput& e) {
  Migrations found;
  for (const recording::Migration& m : e.recording.migrations) {
    if (m.bytes == 0) continue;
    const double from = seconds_of(e, m.begin);
    const double until = seconds_of(e, m.end);
    if (const Index i = kernel_at(e.program, m.device, from); i != kNone) {
      const Operation& kernel = e.program.operations[i];
      found.kernels[i].add(kernel.begin, from, std::min(until, kernel.end), m.bytes);
    } else if (const Index c = m.kind == CopyKind::d2h ? call_after(e.program, from) : kNone; c != kNone) {
      const HostCall& call = e.program.calls[c];
      found.calls[c].add(begin_of_work(e.program, call), from, std::min(until, call.begin), m.bytes);
    }
  }
  return found;
}

/// Returns the new duration of work that takes `now`, was recorded as `recorded` and now moves its pages in `seconds`.
double with_pages_in(double seconds, double now, double recorded, const Moved& moved) {
  return recorded <= 0 ? now : std::min(now, now * std::max(0., 1 - moved.seconds() / recorded) + seconds);
}

/// `back`: seconds per byte to bring pages back to the host; nothing: like a copy to pinned memory.
void bring_in_advance(Program& p, const Migrations& migrations, const Costs& costs, std::optional<double> back) {
  const auto copied = [&costs](CopyKind kind, const Moved& moved) {
    return costs.copy(kind, Memory::pinned, moved.bytes).value_or(moved.seconds());
  };
  for (const auto& [i, moved] : migrations.kernels) {
    Operation& o = p.operations[i];
    o.work = with_pages_in(copied(CopyKind::h2d, moved), o.work, o.end - o.begin, moved);
  }
  for (const auto& [c, moved] : migrations.calls) {
    HostCall& call = p.calls[c];
    const double seconds = back ? *back * static_cast<double>(moved.bytes) : copied(CopyKind::d2h, moved);
    call.gap = with_pages_in(seconds, call.gap, call.begin - begin_of_work(p, call), moved);
  }
}

std::vector<Fix> fixes_of_managed(const Migrations& migrations, const Costs& costs) {
  const auto apply = [migrations, costs](std::optional<double> back) {
    return [=](Program& p) { bring_in_advance(p, migrations, costs, back); };
  };
  const std::string assumption = "The accessed memory is known in advance";
  return {{"Prefetch it (cudaMemPrefetchAsync) to the GPU before the kernel and back before the host reads it",
           assumption, apply(costs.prefetch_back), "prefetching managed memory both ways"},
          {"Copy to and from pinned memory instead: prefetching back to the host is slow", assumption,
           apply(std::nullopt), "copying to and from pinned memory in place of managed memory"}};
}

/// Returns for example "256 MiB in 6644 pieces while the kernels that access them wait (28.63 ms in total)".
std::string waits_in_words(const Moved& all, std::string_view who) {
  return fmt::format("{} in {} while {} ({} in total)", format_size(all.bytes), counted(all.times, "piece"), who,
                     format_seconds(all.waited));
}

/// Returns the operation's time in the replay, which lacks the profiler's part, divided by its recorded time.
double unprofiled_share(const AnalysisInput& e, Index i) {
  const Operation& o = e.program.operations[i];
  return o.end > o.begin ? (e.replayed.operation_ends[i] - e.replayed.operation_begins[i]) / (o.end - o.begin) : 1;
}

}  // namespace

std::vector<Candidate> managed_memory(const AnalysisInput& e) {
  const Migrations migrations = migrations_in(e);
  std::vector<Index> kernels;
  Moved of_kernels;
  for (const auto& [i, moved] : migrations.kernels) {
    kernels.push_back(i);
    of_kernels.add(moved, moved.seconds() * unprofiled_share(e, i));
  }
  Moved of_host;
  for (const auto& [c, moved] : migrations.calls) of_host.add(moved, moved.seconds());
  if (kernels.empty() || !e.costs.copy(CopyKind::h2d, Memory::pinned, of_kernels.bytes)) return {};
  Candidate candidate = of_operations(e, FindingKind::managed, kernels);
  Finding& finding = candidate.finding;
  finding.count = of_kernels.times + of_host.times;
  finding.bytes = of_kernels.bytes + of_host.bytes;
  finding.what = "Pages of managed memory migrate: " + waits_in_words(of_kernels, "kernels that access them wait") +
                 (of_host.times == 0 ? "" : ", " + waits_in_words(of_host, "the host that accesses them waits"));
  candidate.fixes = fixes_of_managed(migrations, e.costs);
  candidate.enough = 0.9;  // prefetching changes less of the program
  return {std::move(candidate)};
}

}  // namespace xferbench::explain
