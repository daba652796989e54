// Host call stacks: captured when a CUDA call begins, symbolized when its record arrives.
#pragma once

#include <cstdint>

#include "recording/recording_writer.hpp"

namespace xferbench::inject {

/// Makes backtrace() load its library, which must not happen inside a CUDA call. Call it before the first capture.
void prepare_stacks() noexcept;

/// Captures the stack of the CUDA call that this thread is about to make. Does nothing if memory is exhausted.
void remember_stack(std::uint32_t correlation) noexcept;

/// Writes the stack that was captured for the call, unless an equal one has been written. Returns the number of the
/// stack, or 0 if there is none.
std::uint32_t written_stack(std::uint32_t correlation, RecordingWriter& writer) noexcept;

}  // namespace xferbench::inject
