// The part of a recording that is analyzed.
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
  std::optional<std::uint32_t> thread{};  ///< thread of the last NVTX range; nothing for ranges of the process
  std::size_t times = 1;                  ///< number of NVTX ranges of that name
  bool is_whole = false;                  ///< the whole life of the process
};

/// The whole life of the process, or from the first to the last NVTX range of that name. Throws InputError if no such
/// range has ended.
Window window_of(const Recording& recording, const std::optional<std::string>& range);

}  // namespace xferbench::explain
