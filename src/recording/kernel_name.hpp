// Readable names of kernels. Pure functions.
#pragma once

#include <string>

namespace xferbench {

/// Returns, for example, "hold" for "_ZN9xferbench7kernels12_GLOBAL__N_14holdEPVNS0_9GateFlagsEjm", and "kernel" for a
/// null pointer.
std::string kernel_name(const char* mangled);

}  // namespace xferbench
