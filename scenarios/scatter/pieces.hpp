// Where the pieces of a scattered payload lie, and how lists of copies are joined and grouped. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "device/types.hpp"

namespace xferbench {

/// The order of pieces in memory.
struct Layout {
  enum class Kind {
    contiguous,  ///< one behind the other, without gaps
    strided,     ///< in order, at an even distance
    shuffled,    ///< in random order
    runs,        ///< runs of `run` neighbours, in random order
  };
  Kind kind = Kind::shuffled;
  std::size_t run = 1;
};

/// Parses "contiguous", "strided", "shuffled" or "runs:N"; nothing for another word.
std::optional<Layout> parse_layout(std::string_view word);

struct Places {
  std::vector<std::size_t> offsets;  ///< byte offset of each piece
  std::size_t bytes = 0;             ///< size of the buffer, with a margin before the first place and after the last
};

/// Returns the places of pieces of these sizes. `pitch`: bytes from one place to the next or, with runs, from the last
/// place of a run to the next run, unless the piece is larger; 0: no gaps. `shift`: added to all offsets.
Places places_of(const Layout& layout, std::span<const std::size_t> sizes, std::size_t pitch, std::size_t shift,
                 std::uint64_t seed);

/// Sorts the copies by source and joins those that are neighbours on both sides.
std::vector<Copy> merged(std::vector<Copy> copies);

/// Returns the copies inside the GPU between a packed buffer, which holds the pieces in the order of `copies`, and the
/// places of the pieces: out of the buffer for H2D, into the buffer for D2H.
std::vector<Copy> through_buffer(std::vector<Copy> copies, std::byte* buffer);

/// Consecutive copies of a list whose host ranges follow each other without gaps, so that one copy moves them all.
struct HostSpan {
  std::size_t first = 0;   ///< index of the first copy
  std::size_t count = 0;   ///< number of copies
  std::size_t offset = 0;  ///< bytes of all earlier copies in the list
  std::size_t bytes = 0;
};

/// Sorts the copies by host address and groups them into spans. A new span begins where host memory has a gap, and
/// where the total bytes so far reach one of `borders`, which ascend.
std::vector<HostSpan> host_spans(std::vector<Copy>& copies, bool source_on_host, std::span<const std::size_t> borders);

/// Returns the offsets that divide `bytes` into `chunks` chunks. Each chunk is half as large as the previous one and
/// the last two are equal, so that work after the last chunk is short. `reversed`: chunks grow instead.
std::vector<std::size_t> halving_borders(std::size_t bytes, std::size_t chunks, bool reversed);

}  // namespace xferbench
