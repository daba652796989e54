// Opens files that may be compressed with xz; the program xz decompresses them.
#pragma once

#include <string>

#include "core/descriptor.hpp"

namespace xferbench {

/// Decompresses a regular file that is compressed with xz to an unnamed file. Returns an empty Descriptor for other
/// files. Throws InputError if xz is missing, the file is damaged, or the result is implausibly large.
Descriptor unpacked(const std::string& path);

/// Opens a file, compressed or not, for reading from its beginning. Throws InputError.
Descriptor open_stored(const std::string& path);

/// Returns the schema that the file names, for example "xferbench/1". Empty if the file does not begin as a file of
/// xferbench does.
std::string schema_of(const std::string& path);

}  // namespace xferbench
