#include "device/modelled_rank.hpp"

#include <fmt/format.h>

#include "core/error.hpp"

namespace xferbench {

std::string for_rank(const std::string& path, int rank, int local_rank, const std::string& host) {
  std::string made;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i] != '%') {
      made += path[i];
      continue;
    }
    const char letter = ++i < path.size() ? path[i] : ' ';
    switch (letter) {
      case 'r': made += std::to_string(rank); break;
      case 'l': made += std::to_string(local_rank); break;
      case 'h': made += host; break;
      case '%': made += '%'; break;
      default:
        throw UsageError(fmt::format(
            "--simulate {}: after % write r (rank), l (local rank on its host), h (host name) or % (a percent sign)",
            path));
    }
  }
  return made;
}

}  // namespace xferbench
