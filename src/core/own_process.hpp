// Facts about this process, as the system gives them.
#pragma once

#include <string>

namespace xferbench {

/// The command line that started it, quoted for a shell; empty if unknown.
std::string own_command();

/// The path of its executable; empty if unknown.
std::string own_executable();

/// The name of its host; empty if unknown.
std::string host_name();

}  // namespace xferbench
