// NVRTC, CUDA's run-time compiler, loaded only when a user's kernel must be compiled. It needs no GPU.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "device/kernel_source.hpp"

namespace xferbench {

/// Returns library names to try with dlopen: first plain names, then paths in the toolkit's usual folder.
std::vector<std::string> nvrtc_paths();

/// Summarizes up to five errors of an NVRTC log in one line: for each the line number, message and source line, and the
/// name of the file if the error is in an included file.
std::string compile_errors(std::string_view log, const KernelSource& source);

/// Compiles for `source.arch`, which must not be empty. Returns a cubin for a real architecture (sm_90), PTX for a
/// virtual one (compute_90). Throws DeviceError for compile errors (naming the file's lines), for a missing kernel,
/// for a wrong signature, and if NVRTC cannot be loaded.
std::string compile(const KernelSource& source);

/// Returns the image to load: the content itself if it is already compiled (.ptx, .cubin), otherwise the result of
/// compile(). Throws DeviceError like compile(), and for invalid or truncated content. Of compiled content, only PTX is
/// checked for the kernel's signature.
std::string image_of(const KernelSource& source);

/// Whether the file contains CUDA C++, judged by its extension.
bool is_cuda_source(const KernelSource& source);

}  // namespace xferbench
