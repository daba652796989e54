// Libraries that come with the program and are loaded where they are needed.
#pragma once

#include <array>
#include <filesystem>
#include <string_view>

namespace xferbench {

/// Where such a library may be, the likelier place first: beside the program, as in a build folder, and where it is
/// installed.
std::array<std::filesystem::path, 2> plugin_places(std::string_view file);

}  // namespace xferbench
