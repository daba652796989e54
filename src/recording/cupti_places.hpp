// Where CUPTI's library may be, and whether one that was found fits. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace xferbench {

/// What to open, in this order: names that the loader finds, then the toolkit's usual folders.
inline std::vector<std::string> cupti_places() {
  std::vector<std::string> places;
  for (const char* folder : {"", "/usr/local/cuda/lib64/", "/usr/local/cuda/extras/CUPTI/lib64/"}) {
    for (const char* name : {"libcupti.so", "libcupti.so.13", "libcupti.so.12"}) {
      places.push_back(std::string(folder) + name);
    }
  }
  return places;
}

/// Of CUPTI's API version: up to CUDA 12 they were counted (19 to 28 are CUDA 12), since then they are 130000 and so
/// on.
constexpr std::uint32_t cuda_major_of(std::uint32_t cupti_version) {
  if (cupti_version >= 100'000) return cupti_version / 10'000;
  return cupti_version >= 19 ? 12 : 11;
}

}  // namespace xferbench
