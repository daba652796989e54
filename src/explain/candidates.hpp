// Functions that find performance faults in a recorded CUDA program, one function for each kind of fault, and changes
// that would fix them. The gain of a fix is computed by replaying the changed program (explain/gains.hpp).
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "explain/costs.hpp"
#include "explain/explanation.hpp"
#include "explain/program.hpp"
#include "explain/replay.hpp"

namespace xferbench::explain {

/// What the functions that look for findings read. The objects must outlive it.
struct AnalysisInput {
  const Recording& recording;
  const Window& window;
  const Program& program;  ///< dependency graph of the analyzed window, without profiler overhead
  const Costs& costs;
  const Replay& replayed;  ///< replay of the unchanged `program`: begin and end of each call and operation
};

struct Fix {
  std::string text;        ///< what to do, as a sentence
  std::string assumption;  ///< condition under which the program may be changed like this, as a sentence
  /// Changes the given program in place as the fix would. The program is a copy of AnalysisInput::program, possibly
  /// with other fixes already applied.
  std::function<void(Program&)> apply;
  std::string name{};  ///< noun for lists of alternatives; empty: the fix is not listed there
};

struct Candidate {
  Finding finding;         ///< without fix, assumption and times, which gains_of() fills in
  std::vector<Fix> fixes;  ///< alternatives; only the best one is reported in full
  /// The first fix that reaches this share of the largest gain is the best one. Below 1, simple fixes must come first.
  double enough = 1;
};

std::vector<Candidate> fresh_memory(const AnalysisInput& input);
std::vector<Candidate> pageable_copies(const AnalysisInput& input);
std::vector<Candidate> small_copies(const AnalysisInput& input);
std::vector<Candidate> slow_copies(const AnalysisInput& input);
std::vector<Candidate> blocking_copies(const AnalysisInput& input);
std::vector<Candidate> waits(const AnalysisInput& input);
std::vector<Candidate> copies_and_kernels_in_turn(const AnalysisInput& input);
std::vector<Candidate> launch_bound_sequences(const AnalysisInput& input);
std::vector<Candidate> setup_in_window(const AnalysisInput& input);
std::vector<Candidate> default_stream(const AnalysisInput& input);
std::vector<Candidate> managed_memory(const AnalysisInput& input);
std::vector<Candidate> mapped_copies(const AnalysisInput& input);
std::vector<Candidate> reads_in_turn(const AnalysisInput& input);
std::vector<Candidate> read_twice(const AnalysisInput& input);
std::vector<Candidate> host_copies(const AnalysisInput& input);
std::vector<Candidate> slow_workers(const AnalysisInput& input);

/// Calls all functions above. Returns all candidates that they found.
std::vector<Candidate> candidates(const AnalysisInput& input);

/// Returns the calls that wait although nothing was copied back since the wait before; empty if they are few.
std::vector<Index> needless_waits(const AnalysisInput& input);

// --- Shared helpers --------------------------------------------------------------------------------------------------

/// Where most of these operations are in the program: their most frequent CUDA call, NVTX range, call stack, and
/// kernels before and after them in their stream.
Place place_of_operations(const AnalysisInput& input, std::span<const Index> operations);
Place place_of_calls(const AnalysisInput& input, std::span<const Index> calls);

/// Returns a candidate without fixes. Its finding gets the number and place of these operations, and at_most = true.
Candidate of_operations(const AnalysisInput& input, FindingKind kind, std::span<const Index> operations);
Candidate of_calls(const AnalysisInput& input, FindingKind kind, std::span<const Index> calls);
/// Like of_operations(), with the sizes of the copies in the finding.
Candidate of_copies(const AnalysisInput& input, FindingKind kind, std::span<const Index> copies);

/// Whether it is a copy between host and GPU.
bool crosses_the_link(const Operation& operation);
/// Size in bytes of the largest of these copies.
std::uint64_t largest_of(const Program& program, std::span<const Index> copies);
/// Sum of the recorded durations in seconds, profiler overhead included.
double recorded_time_of(const Program& program, std::span<const Index> copies);
/// Seconds that these copies take on this machine between the GPU and this kind of memory; nothing if not measured.
std::optional<double> time_by(const AnalysisInput& input, std::span<const Index> copies, Memory memory);
/// Returns the rate as text, for example "12.3 GB/s".
std::string rate_text(std::uint64_t bytes, double seconds);
std::string_view to_or_from(CopyKind kind);

/// Returns, for example, "64 copies of 4 MiB" or "96 copies of 4 KiB to 2 MiB".
std::string copies_in_words(const Program& program, std::span<const Index> operations);
std::uint64_t bytes_of(const Program& program, std::span<const Index> operations);
/// Returns the verb's form for that many things: "reads" for 1, else "read".
std::string verb(std::size_t count, std::string_view plural);

/// Total duration of these calls in the replay, in seconds.
double time_of_calls(const AnalysisInput& input, std::span<const Index> calls);

/// Returns the calls whose gaps (HostCall::gap) are the program's work for this copy: the call itself, and those before
/// it on its thread, back to the last sampled copy, launch or wait.
std::vector<Index> calls_of_work_before(const Program& program, Index call);

/// Bytes of new memory that the thread touched before the copy, with pages of 4 KiB.
std::uint64_t new_memory_before(const Program& program, Index call);
/// Returns the seconds of the work before the copy, see calls_of_work_before().
double work_before(const Program& program, Index call);

/// Subtracts `seconds` from the program's own work before this copy, most from the longest pieces of work.
void shorten_work_before(Program& program, Index call, double seconds);

/// Returns the sampled copies (HostCall::is_sampled) of each thread, in order.
std::map<std::uint32_t, std::vector<Index>> sampled_copies_by_thread(const Program& program);

/// Removes the waits of a call, and limits its duration to `own` seconds.
void make_asynchronous(HostCall& call, double own);

/// Returns the index of the last call that waits for an operation; kNone if no call waits. All results are complete
/// when this call returns.
Index last_wait(const Program& program);

}  // namespace xferbench::explain
