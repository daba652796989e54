// The files of a real host.
#pragma once

#include <memory>

#include "device/file.hpp"

namespace xferbench {

/// Makes the files of this system.
std::unique_ptr<Files> make_real_files();

}  // namespace xferbench
