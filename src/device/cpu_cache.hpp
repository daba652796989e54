// The CPU's caches, for those who ask what it costs that host memory is or is not in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace xferbench {

/// Whether this program can push memory out of the caches of this CPU (x86-64 only).
bool can_flush_cache();

/// Writes every line of the range back and drops it from all caches. On this thread; about 10 GB/s.
void flush_from_cache(std::span<const std::byte> range);

/// Reads every line, so that as much of the range as fits is in the caches.
void load_into_cache(std::span<const std::byte> range);

/// Whether copy_past_cache() writes past the caches of this CPU (x86-64 only).
bool can_stream_stores();

/// Copies so that what is written goes to memory and not through the caches, which need not fetch it first. Everything
/// is seen by others, devices too, when it returns. The ranges do not overlap.
void copy_past_cache(std::byte* destination, const std::byte* source, std::size_t bytes);

/// Of the largest cache of the first CPU, as the system says; 0 if it does not.
std::uint64_t last_level_cache_bytes();

}  // namespace xferbench
