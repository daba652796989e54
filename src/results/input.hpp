// Small text files that people write.
#pragma once

#include <filesystem>
#include <string>

namespace xferbench {

/// The whole file. Throws InputError if it cannot be read or is larger than anybody would write by hand (16 MiB).
std::string read_text(const std::filesystem::path& file);

}  // namespace xferbench
