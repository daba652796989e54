// What compiled code of a user's kernel has to be, so that a device may load and launch it: drivers are told neither
// how long code is nor how many arguments a launch passes, and read on where there is nothing. Pure.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "device/kernel_source.hpp"

namespace xferbench {

/// Throws DeviceError unless the content, of a file that has been compiled before, is PTX, a cubin or a fat binary, and
/// none of it is missing: drivers are not told where a cubin ends.
void require_whole(const KernelSource& source);

/// "it must be declared as ...": what a kernel has to be.
std::string contract_of(const KernelSource& source);

/// Throws DeviceError unless a kernel whose parameters take so many bytes each is as the contract wants it.
void require_contract(std::span<const std::size_t> parameter_bytes, const KernelSource& source);

/// The same of the kernel in PTX; throws DeviceError, too, where there is none of that name.
void require_contract_in(std::string_view ptx, const KernelSource& source);

/// Throws DeviceError where no grid has so many blocks.
void require_grid(const OwnLaunch& launch, const std::string& kernel);

/// Whether code is PTX, which is text, and not a cubin or a fat binary.
bool is_text(std::string_view code);

/// Whether PTX or a cubin, which hold their names as text, has something of that name: a word of its own or, as C++
/// mangles what is not extern "C", behind its length.
bool has_name(std::string_view code, std::string_view name);

/// What a driver's compiler says is wrong with PTX, in one line: the first lines of its log.
std::string first_errors(std::string_view log);

/// Whether it is what nvcc --fatbin writes, which may be compressed.
bool is_fat_binary(std::string_view code);

}  // namespace xferbench
