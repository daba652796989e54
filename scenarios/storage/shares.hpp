// How several GPUs share a file: the cases, the part of each GPU, and the comparison of the ways to share.
#pragma once

#include "device/types.hpp"
#include "run/scenario.hpp"
#include "scenarios/storage/case.hpp"
#include "scenarios/storage/parts.hpp"

namespace xferbench {

/// Returns the cases for all GPUs of the run, one for each way to share, if several were requested or `sharing` is
/// given; else the case itself.
std::vector<Case> cases_for_gpus(const Case& c, const GpusOfRun& run);

/// Returns why these GPUs cannot share a file; nothing if they can or if the case is for one GPU.
std::optional<SkipReason> reason_against_sharing(const StorageCase& c, const Capabilities* can);

/// Returns why `tune` does not search a case; nothing for a case with one GPU.
std::optional<SkipReason> reason_against_search(const StorageCase& c);

/// Returns what each GPU gets, in the order of StorageCase::gpus. With FileShare::split the parts are about equal and
/// begin at multiples of 4 KiB or, if tensors have places of their own, at tensors; the last GPUs get none if the file
/// is too small. Throws what part_sizes() throws.
std::vector<PartTable> shares_of(const StorageCase& c);
std::uint64_t largest_share(const StorageCase& c);

/// Returns how many times the case's way must at least read the whole file from the disk. With FileShare::each, reads
/// through the page cache find what another GPU's reads have brought there; direct reads do not.
std::size_t reads_of_file(const StorageCase& c);

/// Returns a finding that names the fastest way to share, and how much faster it is than the others; nothing with fewer
/// than two ways. `those` have done the same work.
std::optional<Finding> shares_finding(std::span<const Result* const> those);

}  // namespace xferbench
