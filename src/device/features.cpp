#include "device/features.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <charconv>
#include <cstdint>
#include <memory>
#include <vector>

#include "device/nvrtc.hpp"
#include "recording/cupti_paths.hpp"

namespace xferbench {

namespace {

using Library = std::unique_ptr<void, int (*)(void*)>;

/// Opens the first library that exists. Binding is lazy (RTLD_LAZY), because these libraries are large.
Library open_first(const std::vector<std::string>& places) {
  for (const std::string& place : places) {
    if (void* library = dlopen(place.c_str(), RTLD_LAZY | RTLD_LOCAL)) return {library, &dlclose};
  }
  return {nullptr, &dlclose};
}

/// Returns the path of the file that the loader opened for the library.
std::string path_of(const Library& library) {
  link_map* map = nullptr;
  return dlinfo(library.get(), RTLD_DI_LINKMAP, static_cast<void*>(&map)) == 0 && map != nullptr ? map->l_name : "";
}

template <class Function>
Function function_of(const Library& library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library.get(), name));
}

}  // namespace

std::string describe_cupti(const std::string& toolkit) {
  if (toolkit.empty()) return "not built: timelines are estimated from events, and explain cannot profile a program";
  const Library library = open_first(cupti_paths());
  if (!library) return "not found: libcupti.so comes with the CUDA Toolkit; add its folder to LD_LIBRARY_PATH";
  const auto get_version = function_of<int (*)(std::uint32_t*)>(library, "cuptiGetVersion");
  std::uint32_t version = 0;
  if (get_version == nullptr || get_version(&version) != 0) return path_of(library) + ", version unknown";
  std::uint32_t built_with = 0;
  std::from_chars(toolkit.data(), toolkit.data() + toolkit.size(), built_with);
  const std::string found = fmt::format("{}, API version {}", path_of(library), version);
  if (cuda_major_of(version) == built_with) return found;
  return fmt::format("{}: from CUDA {}, but this program needs CUDA {}", found, cuda_major_of(version), built_with);
}

std::string describe_nvrtc() {
  const Library library = open_first(nvrtc_paths());
  if (!library)
    return "not found: libnvrtc.so comes with the CUDA Toolkit; without it, --kernel takes only .ptx and .cubin files";
  const auto get_version = function_of<int (*)(int*, int*)>(library, "nvrtcVersion");
  int major = 0;
  int minor = 0;
  if (get_version == nullptr || get_version(&major, &minor) != 0) return path_of(library) + ", version unknown";
  return fmt::format("{}, version {}.{}", path_of(library), major, minor);
}

}  // namespace xferbench
