// Checks a user's compiled kernel before a device loads it. The driver gets neither the code's length nor the number of
// launch arguments. So it would read out of bounds for a truncated file or a wrong signature. Pure functions.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "device/kernel_source.hpp"

namespace xferbench {

/// Throws DeviceError unless the source's content, already compiled, is PTX, a complete cubin or a complete fat binary.
void require_whole(const KernelSource& source);

/// Throws DeviceError unless the parameter sizes, in bytes, match the required signature.
void require_contract(std::span<const std::size_t> parameter_bytes, const KernelSource& source);

/// Like require_contract(), for parameters that the PTX declares. Also throws DeviceError if the PTX lacks the kernel.
void require_contract_in(std::string_view ptx, const KernelSource& source);

/// Throws DeviceError if the launch has more blocks than a CUDA grid permits.
void require_grid(const OwnLaunch& launch, const std::string& kernel);

/// Whether code is PTX (text), as opposed to a cubin or a fat binary.
bool is_text(std::string_view code);

/// Whether PTX or a cubin contains a symbol, either as a word of its own or C++-mangled (preceded by the name's
/// length).
bool has_name(std::string_view code, std::string_view name);

/// Returns the first three non-empty lines of the log of the driver's PTX compiler, joined into one line.
std::string first_errors(std::string_view log);

/// Whether code is a fat binary, which nvcc --fatbin writes (possibly compressed).
bool is_fat_binary(std::string_view code);

}  // namespace xferbench
