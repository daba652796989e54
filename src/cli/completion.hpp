// Scripts that complete command lines in bash and zsh, made from the scenarios' axes and the flags. Pure functions to
// text.
#pragma once

#include <span>
#include <string>

#include "core/column.hpp"

namespace xferbench::cli {

/// `expectations` are the names that check --expect knows.
std::string bash_completion(std::span<const ScenarioView> scenarios, std::span<const std::string> expectations);
std::string zsh_completion(std::span<const ScenarioView> scenarios, std::span<const std::string> expectations);

}  // namespace xferbench::cli
