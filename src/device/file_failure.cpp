#include "device/file_failure.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "device/file.hpp"

namespace xferbench {

void fail_at(std::string_view operation, std::string_view name, int error, std::string_view advice) {
  throw FileError(fmt::format("cannot {} {}: {}{}{}", operation, name, std::generic_category().message(error),
                              advice.empty() ? "" : "; ", advice));
}

void fail_reading(std::string_view name, std::uint64_t bytes, std::uint64_t offset, int error,
                  const std::optional<DirectAlignment>& direct) {
  const std::string what = fmt::format("read {} bytes at offset {} of", bytes, offset);
  if (error == EINVAL && direct) {
    fail_at(what, name, error,
            fmt::format("direct reads need memory aligned to {} bytes and offsets to {} here, or the file system "
                        "refuses them: {}",
                        direct->memory, direct->offset, kThroughCache));
  }
  fail_at(what, name, error, error == EIO ? "look at the kernel's log (dmesg) for faults of the device" : "");
}

void require_inside(std::string_view operation, std::uint64_t bytes, std::uint64_t offset, std::string_view name,
                    std::uint64_t size) {
  if (offset <= size && bytes <= size - offset) return;
  throw FileError(fmt::format("cannot {} {} bytes at offset {} of {}: it has {} bytes; stay within them", operation,
                              bytes, offset, name, size));
}

}  // namespace xferbench
