// Scripts that let bash and zsh ask the program how a command line may go on (`xferbench __complete WORD...`).
#pragma once

#include <string_view>

namespace xferbench::cli {

std::string_view bash_completion();
std::string_view zsh_completion();

}  // namespace xferbench::cli
