// Host call stacks: captured when a CUDA call begins, symbolized when its record arrives.
#pragma once

#include <cstdint>

#include "recording/recording_writer.hpp"

namespace xferbench::inject {

/// Call before the first capture: backtrace() loads a library at first use, which must not happen inside a CUDA call.
void prepare_stacks() noexcept;

/// Captures the stack of the call that this thread is about to make. Does nothing when memory is short.
void remember_stack(std::uint32_t correlation) noexcept;

/// Writes the stack captured for the call unless an equal one was written before. Returns its number, or 0 if there
/// is no stack.
std::uint32_t written_stack(std::uint32_t correlation, RecordingWriter& writer) noexcept;

}  // namespace xferbench::inject
