// What might be mended in a program, and how it would be then. Each kind of fault has a function that looks for it;
// what mending gains is for the replay to say.
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

/// Where faults are looked for.
struct Evidence {
  const Recording& recording;
  const Window& window;
  const Program& program;  ///< the part of the recording in the window, without what watching cost
  const Costs& costs;
  const Replay& replayed;  ///< the program unchanged: when its calls and operations begin and end if nobody watches
};

/// One way to mend something.
struct Mend {
  std::string text;        ///< a sentence: what to do
  std::string assumption;  ///< a sentence
  /// Changes a program as if that were done: the one of the evidence, or one in which other things are mended.
  std::function<void(Program&)> apply;
};

struct Candidate {
  Finding finding;          ///< without mend, assumption and times
  std::vector<Mend> mends;  ///< of which the best is told
};

std::vector<Candidate> pageable_copies(const Evidence& evidence);
std::vector<Candidate> small_copies(const Evidence& evidence);
std::vector<Candidate> slow_copies(const Evidence& evidence);
std::vector<Candidate> blocking_copies(const Evidence& evidence);
std::vector<Candidate> waits(const Evidence& evidence);
std::vector<Candidate> copies_and_kernels_in_turn(const Evidence& evidence);
std::vector<Candidate> launch_bound_stretches(const Evidence& evidence);
std::vector<Candidate> setup_in_stretch(const Evidence& evidence);
std::vector<Candidate> default_stream(const Evidence& evidence);
std::vector<Candidate> managed_memory(const Evidence& evidence);

/// All of them.
std::vector<Candidate> candidates(const Evidence& evidence);

// --- What the functions above share ---------------------------------------------------------------------------------

/// Where these operations come from, by what most of them have in common.
Place place_of_operations(const Evidence& evidence, std::span<const Index> operations);
Place place_of_calls(const Evidence& evidence, std::span<const Index> calls);

/// A finding whose gain may be less, of as many as these are and where they are.
Candidate of_operations(const Evidence& evidence, FindingKind kind, std::span<const Index> operations);
Candidate of_calls(const Evidence& evidence, FindingKind kind, std::span<const Index> calls);

/// "64 copies of 4 MiB", "96 copies of 4 KiB to 2 MiB".
std::string copies_in_words(const Program& program, std::span<const Index> operations);
std::uint64_t bytes_of(const Program& program, std::span<const Index> operations);

/// What these take, one after the other, in the replay.
double time_of_calls(const Evidence& evidence, std::span<const Index> calls);

/// Makes a call such that it waits for nothing, and takes so long.
void make_asynchronous(HostCall& call, double own);

/// The last call of the stretch that waits; the results are complete after it. kNone: there is none.
Index last_wait(const Program& program);

}  // namespace xferbench::explain
