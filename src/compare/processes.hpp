// Finds the files of one run that several processes measured, and merges them. Pure functions.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "results/result.hpp"

namespace xferbench::compare {

/// The reports of a run's processes, in the order in which they were given.
using Processes = std::vector<NamedReport>;

/// A file's path without its extensions, of which .xz may be the last: for example "night-3" for "night-3.json.xz".
std::filesystem::path stem_of(std::filesystem::path file);

/// Whether both are the same GPU of the same host, or simulated by the same profile.
bool of_same_machine(const Environment& one, const Environment& other);

/// Files are of one run if they are named NAME-1.json, NAME-2.json ... as --repeat names them, are of one folder,
/// command, program and machine, and began within an hour of each other. A file with further processes is one run, too.
/// Each other file is a run of its own.
std::vector<Processes> runs_of(std::vector<NamedReport> files);

/// The run as one report whose samples are the processes' medians. Each measurement has Student's 95 % interval of
/// their logarithms, each metric is the median. A case that failed in one process has failed. A single process is
/// returned as it is.
NamedReport pooled_run(Processes processes);

}  // namespace xferbench::compare
