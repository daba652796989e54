// Whether NVRTC is installed, for tests that compile kernels of users.
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <memory>
#include <string>

#include "device/nvrtc.hpp"

namespace xferbench::test {

inline bool has_nvrtc() {
  return std::ranges::any_of(nvrtc_paths(), [](const std::string& place) {
    const std::unique_ptr<void, int (*)(void*)> library(dlopen(place.c_str(), RTLD_NOW), &dlclose);
    return library != nullptr;
  });
}

}  // namespace xferbench::test
