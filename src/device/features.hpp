// Describes the optional libraries that are loaded at run time (CUPTI, NVRTC) as found on this machine. Opens no GPU.
#pragma once

#include <string>

namespace xferbench {

// Each returns a short text: the path and version, or that the library is missing and what that means.

/// CUPTI, which timelines and `explain` need. `toolkit`: the CUDA version the program was built with, empty if it was
/// built without CUPTI.
std::string describe_cupti(const std::string& toolkit);

/// NVRTC, which compiles users' kernels.
std::string describe_nvrtc();

}  // namespace xferbench
