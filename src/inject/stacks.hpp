// Call stacks of the host, taken when a call begins and named when its record comes.
#pragma once

#include <cstdint>

#include "recording/recording_writer.hpp"

namespace xferbench::inject {

/// Before the first: the system loads a library for this, which is not to happen inside a call.
void prepare_stacks() noexcept;

/// Of the call that this thread is about to make. Does nothing where memory is short.
void remember_stack(std::uint32_t correlation) noexcept;

/// Writes the stack that was remembered for the call, unless one that is the same was before; its number, or 0 where
/// there is none.
std::uint32_t written_stack(std::uint32_t correlation, RecordingWriter& writer) noexcept;

}  // namespace xferbench::inject
