// What the system says of this process.
#pragma once

#include <string>

namespace xferbench {

/// The words of the command that it was started by, quoted as for a shell; empty where the system does not tell.
std::string own_command();

/// The path of its program; empty where the system does not tell.
std::string own_executable();

/// The name of the host that it runs on; empty where the system does not tell.
std::string host_name();

}  // namespace xferbench
