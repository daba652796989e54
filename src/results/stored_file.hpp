// Files as they are stored: perhaps packed with xz, which the program of that name unpacks.
#pragma once

#include <string>

#include "core/descriptor.hpp"

namespace xferbench {

/// The text of an ordinary file that is packed with xz, in a file without a name; none of any other. Throws InputError
/// where xz is missing, finds damage, or makes more of it than anybody writes.
Descriptor unpacked(const std::string& path);

/// An open file, packed or not, for reading from its front. Throws InputError.
Descriptor open_stored(const std::string& path);

/// What it says that it is: "xferbench/1". Empty where it does not begin as our files do.
std::string schema_of(const std::string& path);

}  // namespace xferbench
