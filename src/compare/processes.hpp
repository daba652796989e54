// Which files are of one run that several processes measured, and what they say together. Pure functions.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "results/result.hpp"

namespace xferbench::compare {

/// What the processes of a run wrote, in the order in which they were given.
using Processes = std::vector<NamedReport>;

/// A file's path without its endings, of which .xz may be the last: "night-3" of "night-3.json.xz".
std::filesystem::path stem_of(std::filesystem::path file);

/// Whether both are the same GPU of the same host, or modelled by the same profile.
bool of_same_machine(const Environment& one, const Environment& other);

/// Files NAME-1.json, NAME-2.json ... of one folder, command, program and machine, begun within an hour of each other,
/// as --repeat writes them, are of one run; a file with further processes is one, too. Each other file is a run of its
/// own.
std::vector<Processes> runs_of(std::vector<NamedReport> files);

/// The run as one process would have written it, whose samples are the processes' medians: of each measurement with
/// Student's 95 % interval of their logarithms, of each metric the median. A case that failed in one process has
/// failed. Of a single process just that.
NamedReport as_one_run(Processes processes);

}  // namespace xferbench::compare
