// Which rank of one fleet is compared with which of another.
#pragma once

#include <optional>
#include <string>

#include "compare/compare.hpp"
#include "compare/files.hpp"

namespace xferbench::compare {

/// How the ranks of these files are told apart; nothing where no file is of a fleet. By UUID where all GPUs have one
/// each, if the options say nothing. Throws UsageError where only some files are of a fleet, and where the options ask
/// for what these files do not have.
std::optional<Match> matching(const Files& files, const Options& options);

/// What identifies a result among those of all files: Result::identity(), or that with the GPU's UUID instead of the
/// rank: "memcpy/size=1MiB/dir=h2d pace=all gpu=GPU-1". Of a transfer between ranks it has both ends and no round of
/// pairs: "exchange/pairs=all/size=1MiB pace=all from=GPU-1 to=GPU-4".
std::string identity_of(const Report& report, const Result& result, std::optional<Match> match);

/// Where a case was measured, for people: "GPU 1 of a", "rank 3, GPU 1 of a; in new rank 5, GPU 0 of b"; of a transfer
/// "GPU 1 of a to GPU 0 of b".
/// Empty outside fleets.
std::string place_of(const Files& files, const SameCase& c, std::size_t base_files, std::optional<Match> match);

/// A sentence: how ranks were matched, and how many stand on one side only or have moved; empty without a fleet.
std::string matched_text(const Files& files, std::size_t base_files, std::optional<Match> match);

}  // namespace xferbench::compare
