// NVRTC, CUDA's run-time compiler, loaded only when a user's kernel must be compiled. It needs no GPU.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "device/kernel_source.hpp"

namespace xferbench {

/// Library names for dlopen, in order: names that the loader looks up, then paths in the toolkit's usual folder. Pure.
std::vector<std::string> nvrtc_paths();

/// Summarizes the errors of an NVRTC log in one line: for each error the line number, message and source line, plus
/// the file if the error is in an included file. Pure.
std::string compile_errors(std::string_view log, const KernelSource& source);

/// Compiles for `source.arch`, which must not be empty. Returns a cubin for a real architecture (sm_90), PTX for a
/// virtual one (compute_90). Throws DeviceError for compile errors (naming the file's lines), for a missing kernel,
/// for a wrong signature, and if NVRTC cannot be loaded.
std::string compile(const KernelSource& source);

/// The image to load: the content itself if it is already compiled (.ptx, .cubin), else compile(). Throws DeviceError
/// as compile() does and for invalid or truncated content. Checks the signature in PTX only; the driver checks that
/// of a cubin.
std::string image_of(const KernelSource& source);

/// Whether the file is CUDA C++, judged by its extension.
bool is_cuda_source(const KernelSource& source);

}  // namespace xferbench
