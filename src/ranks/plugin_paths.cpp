#include "ranks/plugin_paths.hpp"

#include <system_error>

namespace xferbench {

std::array<std::filesystem::path, 2> plugin_paths(std::string_view file) {
  std::error_code unknown;
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path();
  return {folder / file, (folder / XFERBENCH_PLUGIN_FOLDER / file).lexically_normal()};
}

}  // namespace xferbench
