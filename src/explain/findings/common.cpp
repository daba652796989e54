// Helpers that the functions in explain/findings share: where a finding is in the program, and how texts describe it.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/lists.hpp"
#include "core/units.hpp"
#include "explain/candidates.hpp"

namespace xferbench::explain {

std::vector<Candidate> candidates(const AnalysisInput& input) {
  std::vector<Candidate> all;
  for (const auto find : {fresh_memory, pageable_copies, small_copies, slow_copies, blocking_copies, waits,
                          copies_and_kernels_in_turn, launch_bound_sequences, setup_in_window, default_stream,
                          managed_memory, mapped_copies, reads_in_turn, read_twice, host_copies, slow_workers}) {
    std::vector<Candidate> found = find(input);
    std::ranges::move(found, std::back_inserter(all));
  }
  return all;
}

namespace {

/// Returns the key with the largest count; a default key if nothing was counted.
template <class Key>
Key most_frequent(const std::map<Key, std::size_t>& counted) {
  if (counted.empty()) return {};
  return std::ranges::max_element(counted, {}, [](const auto& entry) { return entry.second; })->first;
}

/// Maximum number of calls or operations that are sampled to find what most of them have in common.
constexpr std::size_t kLooks = 256;

using Ranges = std::vector<const recording::Range*>;

/// Returns the last range in `begun` (sorted by begin) that has not ended by `time`, or null. Removes later ranges.
const recording::Range* innermost(Ranges& begun, recording::Time time) {
  while (!begun.empty() && begun.back()->end != 0 && begun.back()->end <= time) begun.pop_back();
  return begun.empty() ? nullptr : begun.back();
}

/// Returns the NVTX range, of the thread or the process, that is most often the innermost one around these calls.
std::string range_around(const AnalysisInput& e, std::span<const Index> calls) {
  std::vector<Index> some;
  for (std::size_t i = 0; i < calls.size(); i += calls.size() / kLooks + 1) some.push_back(calls[i]);
  std::ranges::sort(some);  // sorts by begin, like the recorded ranges
  std::map<std::string, std::size_t> counted;
  Ranges of_process;
  std::map<std::uint32_t, Ranges> of_threads;
  auto range = e.recording.ranges.begin();
  for (const Index c : some) {
    const HostCall& call = e.program.calls[c];
    const auto at = static_cast<recording::Time>(static_cast<std::int64_t>(call.begin * 1e9) +
                                                 static_cast<std::int64_t>(e.window.begin));
    for (; range != e.recording.ranges.end() && range->begin <= at; ++range) {
      (range->of_process != 0 ? of_process : of_threads[range->thread]).push_back(&*range);
    }
    const recording::Range* around = innermost(of_threads[call.thread], at);
    const recording::Range* other = innermost(of_process, at);
    if (around == nullptr || (other != nullptr && std::pair(other->begin, other) > std::pair(around->begin, around))) {
      around = other;
    }
    ++counted[around == nullptr ? std::string() : std::string(e.recording.name(around->name))];
  }
  return most_frequent(counted);
}

void set_call(const AnalysisInput& e, std::span<const Index> calls, Place& place) {
  std::map<Index, std::size_t> names;
  std::map<std::uint32_t, std::size_t> stacks;
  for (const Index c : calls) {
    ++names[e.program.calls[c].name];
    if (e.program.calls[c].stack != 0) ++stacks[e.program.calls[c].stack];
  }
  place.call = e.recording.name(most_frequent(names));
  place.range = range_around(e, calls);
  if (stacks.empty()) return;
  for (const recording::NameId frame : e.recording.stacks.at(most_frequent(stacks))) {
    place.stack.emplace_back(e.recording.name(frame));
  }
}

/// Sets the kernels that most often ran before and after these operations in their streams.
void set_neighbours(const AnalysisInput& e, std::span<const Index> operations, Place& place) {
  const auto& all = e.program.operations;
  const auto neighbour = [&all](Index i, int step) -> Index {
    for (std::int64_t j = static_cast<std::int64_t>(i) + step, looks = 0;
         j >= 0 && j < static_cast<std::int64_t>(all.size()) && looks < 64; j += step, ++looks) {
      const Operation& other = all[static_cast<std::size_t>(j)];
      if (other.stream == all[i].stream && !other.is_copy && other.name != 0) return other.name;
    }
    return 0;
  };
  std::map<Index, std::size_t> before;
  std::map<Index, std::size_t> after;
  for (std::size_t i = 0; i < operations.size(); i += operations.size() / kLooks + 1) {
    ++before[neighbour(operations[i], -1)];
    ++after[neighbour(operations[i], 1)];
  }
  place.kernel_before = e.recording.name(most_frequent(before));
  place.kernel_after = e.recording.name(most_frequent(after));
}

}  // namespace

Place place_of_calls(const AnalysisInput& e, std::span<const Index> calls) {
  Place place;
  if (!calls.empty()) set_call(e, calls, place);
  return place;
}

Place place_of_operations(const AnalysisInput& e, std::span<const Index> operations) {
  auto calls = list_of(operations, [&e](Index i) { return e.program.operations[i].call; });
  std::erase(calls, kNone);
  Place place = place_of_calls(e, calls);
  if (!operations.empty()) set_neighbours(e, operations, place);
  return place;
}

Candidate of_operations(const AnalysisInput& e, FindingKind kind, std::span<const Index> operations) {
  return {{.kind = kind, .place = place_of_operations(e, operations), .count = operations.size(), .at_most = true}, {}};
}

Candidate of_calls(const AnalysisInput& e, FindingKind kind, std::span<const Index> calls) {
  return {{.kind = kind, .place = place_of_calls(e, calls), .count = calls.size(), .at_most = true}, {}};
}

std::string verb(std::size_t count, std::string_view plural) {
  const bool hisses = plural.ends_with("ch");  // for example "reach"
  return fmt::format("{}{}", plural, count != 1 ? "" : hisses ? "es" : "s");
}

// --- Copies ---------------------------------------------------------------------------------------------------------

std::string copies_in_words(const Program& program, std::span<const Index> operations) {
  const auto bytes = [&program](Index i) { return program.operations[i].bytes; };
  const auto [least, most] = std::ranges::minmax(operations, {}, bytes);
  const std::string sizes = bytes(least) == bytes(most)
                                ? format_size(bytes(least))
                                : fmt::format("{} to {}", format_size(bytes(least)), format_size(bytes(most)));
  return fmt::format("{} {} of {}", operations.size(), operations.size() == 1 ? "copy" : "copies", sizes);
}

std::uint64_t bytes_of(const Program& program, std::span<const Index> operations) {
  return total_of(operations, [&program](Index i) { return program.operations[i].bytes; });
}

bool crosses_the_link(const Operation& o) { return o.is_copy && (o.copy == CopyKind::h2d || o.copy == CopyKind::d2h); }

std::string_view to_or_from(CopyKind kind) { return kind == CopyKind::h2d ? "to the GPU" : "back from the GPU"; }

std::uint64_t largest_of(const Program& program, std::span<const Index> operations) {
  const auto bytes = [&program](Index i) { return program.operations[i].bytes; };
  return bytes(std::ranges::max(operations, {}, bytes));
}

Candidate of_copies(const AnalysisInput& e, FindingKind kind, std::span<const Index> copies) {
  Candidate candidate = of_operations(e, kind, copies);
  candidate.finding.bytes = bytes_of(e.program, copies);
  const std::uint64_t largest = largest_of(e.program, copies);
  if (largest * copies.size() == candidate.finding.bytes) candidate.finding.each_size = largest;
  return candidate;
}

std::string rate_text(std::uint64_t bytes, double seconds) {
  return format_quantity(seconds > 0 ? gigabytes_per_second(bytes, seconds) : 0, "GB/s");
}

double recorded_time_of(const Program& program, std::span<const Index> operations) {
  return total_of(operations, [&program](Index i) { return program.operations[i].end - program.operations[i].begin; });
}

std::optional<double> time_by(const AnalysisInput& e, std::span<const Index> operations, Memory memory) {
  double sum = 0;
  for (const Index i : operations) {
    const Operation& o = e.program.operations[i];
    const auto seconds = e.costs.copy(o.copy, memory, o.bytes);
    if (!seconds) return std::nullopt;
    sum += *seconds;
  }
  return sum;
}

// --- Calls ----------------------------------------------------------------------------------------------------------

double time_of_calls(const AnalysisInput& e, std::span<const Index> calls) {
  return total_of(calls, [&e](Index c) { return e.replayed.call_ends[c] - e.replayed.call_begins[c]; });
}

std::vector<Index> calls_of_work_before(const Program& program, Index call) {
  constexpr std::size_t kMost = 64;
  std::vector<Index> found{call};
  for (Index c = program.calls[call].follows; c != kNone && found.size() < kMost; c = program.calls[c].follows) {
    const HostCall& before = program.calls[c];
    if (before.is_sampled || is_launch(before) || is_wait(before) || before.thread != program.calls[call].thread) break;
    found.push_back(c);
  }
  return found;
}

std::uint64_t new_memory_before(const Program& p, Index call) { return sample_of(p, call).faults_before * 4 * KiB; }

double work_before(const Program& p, Index call) {
  return total_of(calls_of_work_before(p, call), [&p](Index c) { return std::max(0., p.calls[c].gap); });
}

std::map<std::uint32_t, std::vector<Index>> sampled_copies_by_thread(const Program& p) {
  std::map<std::uint32_t, std::vector<Index>> threads;
  for (Index i = 0; i < p.operations.size(); ++i) {
    const Operation& o = p.operations[i];
    const bool to_gpu = o.is_copy && o.copy == CopyKind::h2d && o.call != kNone;
    if (to_gpu && p.calls[o.call].is_sampled) threads[p.calls[o.call].thread].push_back(i);
  }
  return threads;
}

void shorten_work_before(Program& p, Index call, double seconds) {
  std::vector<Index> calls = calls_of_work_before(p, call);
  std::ranges::stable_sort(calls, std::ranges::greater(), [&p](Index c) { return p.calls[c].gap; });
  for (const Index c : calls) {
    const double goes = std::clamp(seconds, 0., std::max(0., p.calls[c].gap));
    p.calls[c].gap -= goes;
    seconds -= goes;
  }
}

void make_asynchronous(HostCall& call, double own) {
  call.waits_for.clear();
  call.own = std::min(call.own, own);
  call.asynchronous = true;
}

Index last_wait(const Program& program) {
  for (std::size_t i = program.calls.size(); i-- > 0;) {
    const HostCall& call = program.calls[i];
    const bool waits = is_wait(call) || (call.kind == CudaCallKind::copy && !call.asynchronous);
    if (waits && !call.waits_for.empty()) return static_cast<Index>(i);
  }
  return kNone;
}

}  // namespace xferbench::explain
