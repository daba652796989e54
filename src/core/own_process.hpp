// Facts about this process, as the system gives them.
#pragma once

#include <string>

namespace xferbench {

/// The command line that started this process, quoted for a shell; empty if unknown.
std::string own_command();

/// The path of this process's executable; empty if unknown.
std::string own_executable();

/// The name of the host on which this process runs; empty if unknown.
std::string host_name();

}  // namespace xferbench
