// Names of kernels as people write them. Pure functions.
#pragma once

#include <string>

namespace xferbench {

/// "hold" from "_ZN9xferbench7kernels12_GLOBAL__N_14holdEPVNS0_9GateFlagsEjm"; "kernel" for none.
std::string kernel_name(const char* mangled);

}  // namespace xferbench
