// Finds out which files are from several processes of one run, and merges their results. Pure functions.
#pragma once

#include <filesystem>

#include "results/result.hpp"

namespace xferbench::compare {

/// The reports of all processes of one run, in the order of the files.
using Processes = std::vector<NamedReport>;

/// Returns the path without its extension and a following .xz, for example "night-3" for "night-3.json.xz".
std::filesystem::path stem_of(std::filesystem::path file);

/// Returns, for example, "night" for "night-3.json"; empty if the name does not end in the number of a process.
std::string family_of(const std::string& file);

/// Returns whether both are the same GPU of the same host, or are simulated by the same profile.
bool of_same_machine(const Environment& one, const Environment& other);

/// Groups files into runs. Files belong to one run if they are named NAME-1.json, NAME-2.json ... as --repeat names
/// them, have the same folder, command, program and machine, and began within an hour of each other. A file that
/// contains several processes is one run. Every other file is a run of its own.
std::vector<Processes> runs_of(std::vector<NamedReport> files);

/// Merges the processes of a run into one report whose samples are the processes' medians. Each measurement gets
/// Student's 95 % interval of the logarithms, and each metric becomes the median over the processes. A case that failed
/// in one process has failed. A single process is returned unchanged.
NamedReport pooled_run(Processes processes);

}  // namespace xferbench::compare
