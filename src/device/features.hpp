// Describes the optional libraries that are loaded at run time (CUPTI, NVRTC) as found on this machine. Opens no GPU.
#pragma once

#include <string>

namespace xferbench {

// Each function returns a short text: the path and version of the library, or that it is missing and what does not work
// without it.

/// Describes CUPTI, which timelines and `explain` need. `toolkit` is the CUDA version that the program was built with;
/// empty if it was built without CUPTI.
std::string describe_cupti(const std::string& toolkit);

/// Describes NVRTC, which compiles users' kernels.
std::string describe_nvrtc();

}  // namespace xferbench
