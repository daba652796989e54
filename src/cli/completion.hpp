// Completion of command lines: scripts with which bash, zsh and fish ask the program (`xferbench __complete WORD...`),
// and the program's answers.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"

namespace xferbench::cli {

/// A candidate that tells the shell to complete file names.
inline constexpr const char* kFiles = ":files";

/// The words that may stand at one position of a command line.
struct Candidates {
  std::vector<std::string> words{};
  bool of_flag = false;  ///< whether `words` are values of a flag, which may be lists with commas
};

/// Returns the words that may follow the words `before`: the values of `flag` if that flag takes a value; otherwise
/// flags if `another_flag` is set, else commands, scenarios and other words.
Candidates candidates(Scenarios scenarios, std::span<const std::string> before, const std::string& flag,
                      bool another_flag, const DataNames& names);

inline constexpr std::array<std::string_view, 3> kShells{"bash", "zsh", "fish"};

/// `shell` is one of kShells.
std::string_view completion_script(std::string_view shell);

}  // namespace xferbench::cli
