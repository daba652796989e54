// Recordings to begin with, and how they are damaged: record by record, since what is no record is soon refused.
#pragma once

#include <string>
#include <vector>

#include "fuzz/mutator.hpp"

namespace xferbench::fuzz {

/// Files of recordings with records of all types.
std::vector<std::string> recordings();

/// The recording with one to eight damages, with records of another: such that are dropped, doubled, swapped or taken
/// from there, fields and headers with other numbers, an end in the middle of a record.
std::string damaged_recording(Mutator& mutator, const std::string& valid, const std::string& other);

}  // namespace xferbench::fuzz
