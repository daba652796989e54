// NVRTC, CUDA's compiler as a library, loaded when a kernel of the user's is to be compiled. It needs no GPU.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "device/kernel_source.hpp"

namespace xferbench {

/// What to open, in this order: names that the loader finds, then the toolkit's usual folder. Pure.
std::vector<std::string> nvrtc_places();

/// What an NVRTC log says is wrong, in one line: for each error its line's number, the message, and the line itself;
/// also the file, where it is one that `source` includes. Pure.
std::string compile_errors(std::string_view log, const KernelSource& source);

/// Compiled for `source.arch`, which is not empty: a cubin for a real architecture (sm_90), PTX for a virtual one
/// (compute_90). Throws DeviceError that names the file's lines where it does not compile, and where it has no such
/// kernel, that kernel has other parameters than those of the contract, or NVRTC cannot be loaded.
std::string compile(const KernelSource& source);

/// What is to be loaded: the content itself where it has been compiled before (.ptx, .cubin), else compile(). Throws
/// DeviceError, as that does, where the content is no code or not all of it, and of PTX also where the kernel is not
/// that of the contract; what a cubin has is for the driver to tell.
std::string image_of(const KernelSource& source);

/// Whether the file is CUDA C++, by how its name ends.
bool is_cuda_source(const KernelSource& source);

}  // namespace xferbench
