// Libraries that the program loads where they are needed, as they are here and now. Opens no GPU and starts nothing.
#pragma once

#include <string>

namespace xferbench {

// Each in a few words: where it was found and what version it is, or that it was not, and what that means.

/// CUPTI, by which timelines and `explain` are made. `toolkit`: CUDA's version that the program was built with, empty
/// where it was built without CUPTI.
std::string describe_cupti(const std::string& toolkit);

/// NVRTC, which compiles kernels of users.
std::string describe_nvrtc();

}  // namespace xferbench
