// Where a text goes that is written a piece at a time.
#pragma once

#include <functional>
#include <string_view>

namespace xferbench {

/// Takes the next piece.
using Sink = std::function<void(std::string_view)>;

/// Writes a whole text: a results file may be larger than what one wants to hold in memory.
using TextWriter = std::function<void(const Sink&)>;

}  // namespace xferbench
