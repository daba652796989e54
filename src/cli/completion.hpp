// Scripts that complete command lines in bash and zsh, made from the scenarios' axes and the flags. Pure functions to
// text.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/scenario_descriptor.hpp"

namespace xferbench::cli {

/// Of the files that come with the program.
struct DataNames {
  std::vector<std::string> expectations;  ///< for check --expect
  std::vector<std::string> suites;        ///< for --suite
};

std::string bash_completion(Descriptors scenarios, const DataNames& names);
std::string zsh_completion(Descriptors scenarios, const DataNames& names);

}  // namespace xferbench::cli
