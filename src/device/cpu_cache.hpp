// Flushes and fills the CPU caches, to measure how cached or uncached host memory affects a transfer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace xferbench {

/// Whether flush_from_cache() works on this CPU (x86-64 only).
bool can_flush_cache();

/// Writes every cache line of the range back to memory and evicts it from all caches. Runs on the calling thread, at
/// about 10 GB/s.
void flush_from_cache(std::span<const std::byte> range);

/// Reads every cache line of the range, which loads as much of the range as fits into the caches.
void load_into_cache(std::span<const std::byte> range);

/// Whether copy_past_cache() bypasses the caches of this CPU (x86-64 only).
bool can_stream_stores();

/// Copies with non-temporal stores: the written lines bypass the caches and are not fetched first. On return all data
/// is visible to other threads and to devices. The ranges must not overlap.
void copy_past_cache(std::byte* destination, const std::byte* source, std::size_t bytes);

/// Size of the largest cache of CPU 0 according to sysfs; 0 if unknown.
std::uint64_t last_level_cache_bytes();

}  // namespace xferbench
