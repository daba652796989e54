// Suites: command lines that belong together, in a JSON file written by people (docs/suites.md).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace xferbench {

struct Suite {
  std::string description;
  std::size_t turns = 1;
  /// Number of processes that measure the suite, one after the other; used only if --json names a regular file.
  std::size_t processes = 1;
  std::vector<std::pair<std::string, std::string>> sampling;  ///< flags for all runs, for example {"budget", "0.5"}
  std::vector<std::vector<std::string>> runs;                 ///< command lines to run, each split into words
};

/// Reads a suite file. Throws InputError with one line: the place in the file, what is wrong, and what was expected.
Suite read_suite(const std::string& path);

/// Parses the text of a suite file; `name` is used in messages.
Suite parse_suite(std::string_view text, std::string_view name);

}  // namespace xferbench
