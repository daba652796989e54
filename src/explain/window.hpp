// The part of a recording that is analyzed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "results/recording_file.hpp"

namespace xferbench::explain {

using recording::Time;

struct Window {
  Time begin = 0;
  Time end = 0;
  std::optional<std::uint32_t> thread{};  ///< thread of the range that ended last; nothing for a start/end range
  std::size_t times = 1;                  ///< number of occurrences of the NVTX range
  bool is_whole = false;                  ///< the window is the whole life of the process
};

/// Without a range, returns the whole life of the process. Else returns the time from the begin of the first to the end
/// of the last NVTX range of that name. Throws InputError if no range of that name has ended.
Window window_of(const Recording& recording, const std::optional<std::string>& range);

}  // namespace xferbench::explain
