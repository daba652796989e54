// Matches the ranks of one fleet (a run of many MPI ranks) with those of another.
#pragma once

#include "compare/compare.hpp"
#include "compare/files.hpp"

namespace xferbench::compare {

/// Returns how the ranks of these files are matched; nullopt if no file is of a fleet. Without Options::match, ranks
/// are matched by UUID if each GPU has its own UUID, else by rank. Throws UsageError if only some files are of a fleet,
/// or if the option cannot be used for these files.
std::optional<Match> matching(const Files& files, const Options& options);

/// Returns a text by which the same result is found in other files: Result::identity(), or the same with the GPU's UUID
/// in place of the rank, for example "memcpy/size=1MiB/dir=h2d pace=all gpu=GPU-1". The text of a transfer between
/// ranks names both ends, for example "exchange/pairs=all/size=1MiB pace=all from=GPU-1 to=GPU-4".
std::string identity_of(const Report& report, const Result& result, std::optional<Match> match);

/// Returns where a case was measured, for example "GPU 1 of a" or "rank 3, GPU 1 of a; in new rank 5, GPU 0 of b"; for
/// a transfer "GPU 1 of a to GPU 0 of b". Empty outside fleets.
std::string place_of(const Files& files, const SameCase& c, std::size_t base_files, std::optional<Match> match);

/// Returns text about how ranks are matched and how many exist on only one side or have moved; empty without a fleet.
std::string matched_text(const Files& files, std::size_t base_files, std::optional<Match> match);

}  // namespace xferbench::compare
