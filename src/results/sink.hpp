// Output of text in pieces.
#pragma once

#include <functional>
#include <string_view>

namespace xferbench {

/// Receives the next piece.
using Sink = std::function<void(std::string_view)>;

/// Writes a whole text in pieces, since a results file may be larger than memory should hold.
using TextWriter = std::function<void(const Sink&)>;

}  // namespace xferbench
