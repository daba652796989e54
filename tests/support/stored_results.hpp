// Access to the results files in docs/results, most of which are compressed.
#pragma once

#include <string>
#include <vector>

namespace xferbench::test {

/// The path of an uncompressed results file such as "h200-ci.json". Compressed files are unpacked to a copy that is
/// removed at the end of the program. Throws std::runtime_error if there is none, or xz fails.
[[nodiscard]] std::string stored_result(const std::string& name);

/// Names of all results files that are stored in at most `most_bytes` bytes.
[[nodiscard]] std::vector<std::string> stored_results(std::size_t most_bytes);

}  // namespace xferbench::test
