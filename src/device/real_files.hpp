// The files of a real host.
#pragma once

#include <memory>

#include "device/file.hpp"
#include "device/system_calls.hpp"

namespace xferbench {

/// Makes the files of this system. `calls` must outlive them and what they open.
std::unique_ptr<Files> make_real_files(SystemCalls& calls = real_system_calls());

}  // namespace xferbench
