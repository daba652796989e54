// The results files of docs/results, which are mostly compressed, for all test programs.
#pragma once

#include <string>
#include <vector>

namespace xferbench::test {

/// The path of one of them ("h200-ci.json") that is not compressed: its own, or that of a copy that is gone when the
/// program ends. Throws std::runtime_error where there is none, or xz cannot unpack it.
[[nodiscard]] std::string stored_result(const std::string& name);

/// The names of all that are not larger than that where they lie, in bytes.
[[nodiscard]] std::vector<std::string> stored_results(std::size_t most_bytes);

}  // namespace xferbench::test
