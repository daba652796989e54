// How a command line may go on: scripts that let bash, zsh and fish ask the program (`xferbench __complete WORD...`),
// and what it answers.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"

namespace xferbench::cli {

/// Among candidates: the names of files.
inline constexpr const char* kFiles = ":files";

/// What may stand in one place of a command line.
struct Candidates {
  std::vector<std::string> words{};
  bool of_flag = false;  ///< they are values of a flag, which may be lists
};

/// What may follow these words: the value of a flag, if one that takes a value is named, else another flag where one
/// has been begun, or a word.
Candidates candidates(Scenarios scenarios, std::span<const std::string> before, const std::string& flag,
                      bool another_flag, const DataNames& names);

inline constexpr std::array<std::string_view, 3> kShells{"bash", "zsh", "fish"};

/// For one of these shells.
std::string_view completion_script(std::string_view shell);

}  // namespace xferbench::cli
