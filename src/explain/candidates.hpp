// Finds faults in a program, and changes that would fix them. Each kind of fault has one function. The replay computes
// what a fix gains.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "explain/costs.hpp"
#include "explain/explanation.hpp"
#include "explain/program.hpp"
#include "explain/replay.hpp"

namespace xferbench::explain {

/// Input of the functions that look for faults.
struct AnalysisInput {
  const Recording& recording;
  const Window& window;
  const Program& program;  ///< the part of the recording in the window, without profiler overhead
  const Costs& costs;
  const Replay& replayed;  ///< replay of the unchanged program: begin and end of its calls and operations
};

struct Fix {
  std::string text;        ///< what to do, as a sentence
  std::string assumption;  ///< what the gain assumes, as a sentence
  /// Changes the given program in place as the fix would. The program is a copy of AnalysisInput::program, possibly
  /// with other fixes already applied.
  std::function<void(Program&)> apply;
};

struct Candidate {
  Finding finding;         ///< fix, assumption and times are not set yet
  std::vector<Fix> fixes;  ///< alternatives; only the best one is reported
};

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

/// The candidates of all functions above.
std::vector<Candidate> candidates(const AnalysisInput& input);

// --- Shared helpers --------------------------------------------------------------------------------------------------

/// The most frequent CUDA call, NVTX range, call stack and neighbouring kernels of these operations.
Place place_of_operations(const AnalysisInput& input, std::span<const Index> operations);
Place place_of_calls(const AnalysisInput& input, std::span<const Index> calls);

/// A candidate without fixes. Its finding has the count and place of these operations, and its gain is an upper bound.
Candidate of_operations(const AnalysisInput& input, FindingKind kind, std::span<const Index> operations);
Candidate of_calls(const AnalysisInput& input, FindingKind kind, std::span<const Index> calls);

/// Returns, for example, "64 copies of 4 MiB" or "96 copies of 4 KiB to 2 MiB".
std::string copies_in_words(const Program& program, std::span<const Index> operations);
std::uint64_t bytes_of(const Program& program, std::span<const Index> operations);

/// Total duration of these calls in the replay, in seconds.
double time_of_calls(const AnalysisInput& input, std::span<const Index> calls);

/// Makes a call wait for nothing and take `own` seconds.
void make_asynchronous(HostCall& call, double own);

/// The last call that waits for an operation: after it, all results are complete. kNone if no call waits.
Index last_wait(const Program& program);

}  // namespace xferbench::explain
