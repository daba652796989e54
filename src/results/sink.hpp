// Output of text in pieces.
#pragma once

#include <functional>
#include <string_view>

namespace xferbench {

/// A function that receives the next piece of a text.
using Sink = std::function<void(std::string_view)>;

/// A function that writes a whole text in pieces, since a results file may be larger than memory should hold.
using TextWriter = std::function<void(const Sink&)>;

}  // namespace xferbench
