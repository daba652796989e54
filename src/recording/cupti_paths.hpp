// Where CUPTI's library may be, and which CUDA version it is for. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace xferbench {

/// Returns names of CUPTI's library to try to load, in this order: first plain file names, which the loader searches
/// for, then paths in the toolkit's usual folders.
inline std::vector<std::string> cupti_paths() {
  std::vector<std::string> places;
  for (const char* folder : {"", "/usr/local/cuda/lib64/", "/usr/local/cuda/extras/CUPTI/lib64/"}) {
    for (const char* name : {"libcupti.so", "libcupti.so.13", "libcupti.so.12"}) {
      places.push_back(std::string(folder) + name);
    }
  }
  return places;
}

/// Returns CUDA's major version for a version of CUPTI's API. Up to CUDA 12, API versions were small numbers (19 to 28
/// are CUDA 12); since CUDA 13 they are 130000 and so on.
constexpr std::uint32_t cuda_major_of(std::uint32_t cupti_version) {
  if (cupti_version >= 100'000) return cupti_version / 10'000;
  return cupti_version >= 19 ? 12 : 11;
}

}  // namespace xferbench
