// File reads of the whole process within the window, and the memory that it touched for the first time.
#pragma once

#include <string>

#include "explain/window.hpp"
#include "results/recording_file.hpp"

namespace xferbench::explain {

/// Returns a sentence with the bytes read and the page faults of the window. Empty if the recording has no counters
/// near both ends of the window, as of a whole program, or if they explain less than 2 % of its time.
std::string usage_note(const Recording& r, const Window& window);

}  // namespace xferbench::explain
