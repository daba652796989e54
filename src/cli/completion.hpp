// Completion of command lines: scripts that let bash, zsh and fish ask the program (`xferbench __complete WORD...`),
// and the program's answers.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"

namespace xferbench::cli {

/// The candidate that stands for the names of files.
inline constexpr const char* kFiles = ":files";

/// What may stand in one place of a command line.
struct Candidates {
  std::vector<std::string> words{};
  bool of_flag = false;  ///< whether `words` are values of a flag, which may be lists with commas
};

/// The candidates after the words `before`: values of `flag` if it takes a value; else other flags if `another_flag` is
/// set, else words.
Candidates candidates(Scenarios scenarios, std::span<const std::string> before, const std::string& flag,
                      bool another_flag, const DataNames& names);

inline constexpr std::array<std::string_view, 3> kShells{"bash", "zsh", "fish"};

/// `shell` is one of kShells.
std::string_view completion_script(std::string_view shell);

}  // namespace xferbench::cli
