// Valid recordings, and damage to them record by record: random bytes would be refused too early to test much.
#pragma once

#include <string>
#include <vector>

#include "fuzz/mutator.hpp"

namespace xferbench::fuzz {

/// Files of recordings with records of every type.
std::vector<std::string> recordings();

/// Applies one to eight damages: records are dropped, doubled, swapped, taken from `other` or cut; fields and headers
/// get other numbers.
std::string damaged_recording(Mutator& mutator, const std::string& valid, const std::string& other);

}  // namespace xferbench::fuzz
