// A suite: command lines that belong together, in a JSON file that people write (docs/suites.md).
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
  std::size_t processes = 1;  ///< that measure all of it, where only a results file is written
  std::vector<std::pair<std::string, std::string>> sampling;  ///< for all runs: {"budget", "0.5"}
  std::vector<std::vector<std::string>> runs;                 ///< words of each command line
};

/// Throws InputError with one line that says where in the file something is wrong, and what was expected.
Suite read_suite(const std::string& path);

/// The same of a text; `name` is what messages call it.
Suite parse_suite(std::string_view text, std::string_view name);

}  // namespace xferbench
