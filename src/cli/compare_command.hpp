// The command line of `compare`, which has a grammar of its own: files instead of scenarios.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/flags.hpp"
#include "compare/compare.hpp"

namespace xferbench::cli {

/// What is to be compared and where the answer goes.
struct CompareCommand {
  std::vector<std::string> base;        ///< files; "-" is standard input
  std::vector<std::string> next;        ///< the same
  std::vector<std::string> across;      ///< instead of both: files to be shown side by side
  std::optional<std::string> markdown;  ///< file, or "-" for standard output
  std::optional<std::string> json;      ///< the same
  compare::Options options;
  bool strict = false;  ///< what cannot be judged counts, too
  bool all = false;     ///< list every case
  bool quiet = false;
  std::optional<bool> color;  ///< absent: on a terminal
  bool help = false;
};

/// Reads what follows the word `compare`. Throws UsageError with one line.
CompareCommand parse_compare(std::span<const std::string> arguments);

/// The flags of `compare`.
std::vector<RunFlag> compare_flags();

/// The text of `xferbench compare --help`.
std::string compare_help();

}  // namespace xferbench::cli
