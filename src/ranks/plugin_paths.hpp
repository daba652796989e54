// Locations of libraries that come with the program and are loaded on demand.
#pragma once

#include <array>
#include <filesystem>
#include <string_view>

namespace xferbench {

/// Possible paths of the library `file`, likelier one first: in the program's folder, as in a build folder, and in its
/// installation.
std::array<std::filesystem::path, 2> plugin_paths(std::string_view file);

}  // namespace xferbench
