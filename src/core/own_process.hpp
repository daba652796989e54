// Facts about this process, read from the operating system.
#pragma once

#include <string>

namespace xferbench {

/// Returns the command line that started this process, quoted for a shell; empty if unknown.
std::string own_command();

/// Returns the path of this process's executable; empty if unknown.
std::string own_executable();

/// Returns the name of the host on which this process runs; empty if unknown.
std::string host_name();

}  // namespace xferbench
