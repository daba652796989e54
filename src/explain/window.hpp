// The part of a recording's time that is explained.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "results/recording_file.hpp"

namespace xferbench::explain {

struct Window {
  recording::Time begin = 0;
  recording::Time end = 0;
  std::optional<std::uint32_t> thread{};  ///< on which it begins and ends, where it is an NVTX range of one
  std::size_t times = 1;                  ///< ranges of that name in it
  bool is_whole = false;                  ///< the life of the process, with its start and its end
};

/// The whole life of the process, or from the first to the last NVTX range of that name. Throws InputError where there
/// is no such range.
Window window_of(const Recording& recording, const std::optional<std::string>& range);

}  // namespace xferbench::explain
