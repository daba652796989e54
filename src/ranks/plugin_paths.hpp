// Where the program looks for the libraries that it loads on demand.
#pragma once

#include <array>
#include <filesystem>
#include <string_view>

namespace xferbench {

/// Returns the two possible paths of the library `file`, likelier one first: in the folder of the executable, as in a
/// build folder, and in the installation's library folder.
std::array<std::filesystem::path, 2> plugin_paths(std::string_view file);

}  // namespace xferbench
