// Error messages for failed operations on real files.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "device/system_calls.hpp"

namespace xferbench {

inline constexpr const char* kThroughCache = "read it through the page cache instead";

/// Throws FileError "cannot OPERATION NAME: ..." with the system's message for `error`, and with `advice`.
[[noreturn]] void fail_at(std::string_view operation, std::string_view name, int error, std::string_view advice = {});

/// Throws FileError for a failed read. `direct`: alignment that direct reads need; nothing: the read was not direct.
[[noreturn]] void fail_reading(std::string_view name, std::uint64_t bytes, std::uint64_t offset, int error,
                               const std::optional<DirectAlignment>& direct);

/// Throws FileError unless the bytes from `offset` on lie within a file of `size` bytes.
void require_inside(std::string_view operation, std::uint64_t bytes, std::uint64_t offset, std::string_view name,
                    std::uint64_t size);

}  // namespace xferbench
