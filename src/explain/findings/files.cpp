// Finds data that come from files more slowly than they could: copies from mapped files, and files that are read while
// GPU and link wait.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/lists.hpp"
#include "core/units.hpp"
#include "explain/candidates.hpp"

namespace xferbench::explain {

namespace {

// --- Mapped files ---------------------------------------------------------------------------------------------------

constexpr double kReaders = 8;  // threads that read a file into pinned slots, as the fix suggests

/// Seconds of a copy by pinned slots: threads copy from the page cache into them while earlier slots cross the link.
double seconds_by_slots(const Operation& o, const Costs& costs) {
  const double reading = static_cast<double>(o.bytes) * costs.read_cached / kReaders;
  return std::max(reading, costs.copy(o.copy, Memory::pinned, o.bytes).value_or(reading));
}

void read_by_slots(Program& p, const std::vector<Index>& copies, const Costs& costs) {
  for (const Index i : copies) {
    Operation& o = p.operations[i];
    const double seconds = seconds_by_slots(o, costs);
    const auto link = costs.copy(o.copy, Memory::pinned, o.bytes);
    o.by_cpu_rate = seconds < o.work && link && (1 - kCpuSpread) * seconds > *link;  // the CPU is the bottleneck
    o.work = std::min(o.work, seconds);
    o.host = Memory::pinned;
    o.engine = Engine::h2d;
  }
}

Candidate mapped_candidate(const AnalysisInput& e, std::string_view file, const std::vector<Index>& copies) {
  const double slots = total_of(copies, [&e](Index i) { return seconds_by_slots(e.program.operations[i], e.costs); });
  Candidate candidate = of_copies(e, FindingKind::mapped_copy, copies);
  Finding& finding = candidate.finding;
  finding.what =
      fmt::format("{} to the GPU {} from the mapped file {}: {}; through pinned slots about {}",
                  copies_in_words(e.program, copies), verb(copies.size(), "read"), file,
                  rate_text(finding.bytes, recorded_time_of(e.program, copies)), rate_text(finding.bytes, slots));
  candidate.fixes.push_back(
      {fmt::format(
           "Read the file with {} threads into pinned slots, and copy each slot with cudaMemcpyAsync (xferbench "
           "storage --path {} compares the ways)",
           kReaders, file),
       "The file is in the page cache; otherwise the disk is the limit",
       [copies, costs = e.costs](Program& p) { read_by_slots(p, copies, costs); }});
  return candidate;
}

// --- Reading in turn ------------------------------------------------------------------------------------------------

std::string from_storage(const Program& p, const std::vector<Index>& copies) {
  const std::uint64_t sum =
      total_of(copies, [&p](Index i) { return sample_of(p, p.operations[i].call).from_disk_before; });
  return sum == 0 ? "" : fmt::format(" ({} of it from storage)", format_size(sum));
}

/// Moves the work before each copy but the first to a thread of its own, which works for one copy after the other, with
/// two buffers. A join (Operation::is_join) stands for each piece of this work.
void read_ahead(Program& p, const std::vector<Index>& copies) {
  Index before = copies.front();
  for (std::size_t k = 1; k < copies.size(); ++k) {
    const Index call = p.operations[copies[k]].call;
    Operation reading{.stream = kNone, .is_join = true};
    for (const Index c : calls_of_work_before(p, call)) {
      reading.work += std::max(0., p.calls[c].gap);
      p.calls[c].gap = std::min(p.calls[c].gap, 0.);
    }
    depend(reading, before);
    if (k >= 2) depend(reading, copies[k - 2]);
    before = static_cast<Index>(p.operations.size());
    p.operations.push_back(std::move(reading));
    for (const Index i : p.calls[call].operations) depend(p.operations[i], before);  // several if another fix split it
  }
}

Candidate in_turn_candidate(const AnalysisInput& e, const std::vector<Index>& copies, std::uint64_t read) {
  Candidate candidate = of_copies(e, FindingKind::read_in_turn, copies);
  candidate.finding.what =
      fmt::format("The thread that makes {} to the GPU reads {}{} between them, by read() from files, pipes or sockets",
                  copies_in_words(e.program, copies), format_size(read), from_storage(e.program, copies));
  candidate.fixes.push_back(
      {"Read ahead in a thread of its own, into a second buffer, while the GPU works on the first (PyTorch: DataLoader "
       "with workers and pin_memory)",
       "What the thread does before each copy is reading, or can go with it to the other thread",
       [copies](Program& p) { read_ahead(p, copies); }});
  return candidate;
}

// --- Reading twice --------------------------------------------------------------------------------------------------

/// A set of byte ranges of a file.
class Parts {
 public:
  /// Adds the bytes from `begin` to `end`. Returns whether the set had all of them before.
  bool add(std::uint64_t begin, std::uint64_t end) {
    auto next = parts_.upper_bound(begin);
    if (next != parts_.begin() && std::prev(next)->second >= begin) --next;
    if (next != parts_.end() && next->first <= begin && next->second >= end) return true;
    while (next != parts_.end() && next->first <= end) {
      begin = std::min(begin, next->first);
      end = std::max(end, next->second);
      next = parts_.erase(next);
    }
    parts_.emplace(begin, end);
    return false;
  }

 private:
  std::map<std::uint64_t, std::uint64_t> parts_{};  // end of each range by its begin; ranges neither overlap nor touch
};

/// Returns the reads of the window that read only bytes which earlier reads of the window had read.
std::vector<recording::FileRead> repeated_reads(const AnalysisInput& e) {
  std::map<std::pair<Index, std::uint64_t>, Parts> files;  // by path and version
  std::vector<recording::FileRead> found;
  for (const recording::FileRead& read : e.recording.file_reads) {
    if (read.begin < e.window.begin || read.end > e.window.end) continue;
    if (files[{read.file, read.version}].add(read.offset, read.offset + read.bytes)) found.push_back(read);
  }
  return found;
}

/// Returns the seconds of repeated reads, by the next call on their thread. Leaves out reads within a call.
std::map<Index, double> time_before_calls(const AnalysisInput& e, const std::vector<recording::FileRead>& reads) {
  std::map<std::uint32_t, std::vector<Index>> calls;  // calls of each thread
  for (Index c = 0; c < e.program.calls.size(); ++c) calls[e.program.calls[c].thread].push_back(c);
  std::map<Index, double> found;
  for (const recording::FileRead& read : reads) {
    const std::vector<Index>& own = calls[read.thread];
    const double end = 1e-9 * static_cast<double>(read.end - e.window.begin);
    const auto next = std::ranges::lower_bound(own, end, {}, [&e](Index c) { return e.program.calls[c].begin; });
    const double begin = 1e-9 * static_cast<double>(read.begin - e.window.begin);
    const bool is_within = next != own.begin() && e.program.calls[*std::prev(next)].end > begin;
    if (next != own.end() && !is_within) found[*next] += end - begin;
  }
  return found;
}

/// Returns the file of most of these reads, with the number of the others.
std::string files_of(const AnalysisInput& e, const std::vector<recording::FileRead>& reads) {
  std::map<Index, std::size_t> files;
  for (const recording::FileRead& read : reads) ++files[read.file];
  const Index most = std::ranges::max_element(files, {}, [](const auto& file) { return file.second; })->first;
  const std::string others = files.size() == 1 ? "" : fmt::format(" and {}", counted(files.size() - 1, "other file"));
  return std::string(e.recording.name(most)) + others;
}

}  // namespace

std::vector<Candidate> mapped_copies(const AnalysisInput& e) {
  std::map<Index, std::vector<Index>> files;
  for (Index i = 0; i < e.program.operations.size(); ++i) {
    const Operation& o = e.program.operations[i];
    if (o.copy != CopyKind::h2d || o.host != Memory::pageable || o.call == kNone) continue;
    if (const Index file = sample_of(e.program, o.call).source_file; file != 0) files[file].push_back(i);
  }
  return list_of(files,
                 [&e](const auto& file) { return mapped_candidate(e, e.recording.name(file.first), file.second); });
}

std::vector<Candidate> reads_in_turn(const AnalysisInput& e) {
  constexpr std::size_t kFewest = 3;
  std::vector<Candidate> found;
  for (const auto& [thread, copies] : sampled_copies_by_thread(e.program)) {
    const std::uint64_t read =
        total_of(copies, [&p = e.program](Index i) { return sample_of(p, p.operations[i].call).read_before; });
    if (copies.size() < kFewest || 2 * read < bytes_of(e.program, copies)) continue;
    found.push_back(in_turn_candidate(e, copies, read));
  }
  return found;
}

std::vector<Candidate> read_twice(const AnalysisInput& e) {
  const std::vector<recording::FileRead> reads = repeated_reads(e);
  if (reads.empty()) return {};
  const std::map<Index, double> time = time_before_calls(e, reads);
  const auto nanoseconds = [](const recording::FileRead& read) { return read.end - read.begin; };
  const double seconds = 1e-9 * static_cast<double>(total_of(reads, nanoseconds));
  Candidate candidate = of_calls(e, FindingKind::read_twice, list_of(time, [](const auto& one) { return one.first; }));
  candidate.finding.count = reads.size();
  candidate.finding.bytes = total_of(reads, &recording::FileRead::bytes);
  candidate.finding.what =
      fmt::format("{} of {} {} what was read before: {} in {}", counted(reads.size(), "read"), files_of(e, reads),
                  verb(reads.size(), "bring"), format_size(candidate.finding.bytes), format_seconds(seconds));
  candidate.fixes.push_back({"Read it once, and keep it in (pinned) memory of the host or on the GPU",
                             "The files do not change meanwhile, and the memory suffices", [time](Program& p) {
                               for (const auto& [call, before] : time) {
                                 p.calls[call].gap -= std::clamp(before, 0., std::max(0., p.calls[call].gap));
                               }
                             }});
  return {std::move(candidate)};
}

}  // namespace xferbench::explain
