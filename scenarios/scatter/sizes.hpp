// The sizes of a payload's pieces: equal, spread, read from a file, or those of a language model's cache.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace xferbench {

/// More pieces than this are refused: their lists and places would need gigabytes of host memory.
inline constexpr std::size_t kMostPieces = 4'000'000;

/// Returns the sizes of pieces of `piece` bytes that are `all` bytes together. In this and the next two functions the
/// last piece is cut where `all` ends.
std::vector<std::size_t> equal_sizes(std::size_t all, std::size_t piece);

/// Returns random sizes from `least` to `most` bytes, in multiples of 256 bytes. They are log-uniform: as many between
/// 4 and 8 KiB as between 8 and 16 KiB. The sizes are the same in every process.
std::vector<std::size_t> spread_sizes(std::size_t all, std::size_t least, std::size_t most);

/// Reads sizes from a file with one number of bytes per line. After the last line, starts again at the first. Throws
/// InputError, naming the file and the line, if it cannot be read, has no sizes or gives too many pieces.
std::vector<std::size_t> sizes_in_file(const std::string& file, std::size_t all);

/// The pieces of one block of a cache of keys and values.
struct CacheBlock {
  std::size_t piece = 0;   ///< bytes of one layer's keys or values
  std::size_t pieces = 0;  ///< pieces of all layers
};

/// Parses for example "layers:32,heads:8,dim:128,tokens:16,dtype:bf16", in any order. "tensors:1" says that keys and
/// values lie together; without it there are two pieces for each layer. For another text, returns what is wrong with
/// it: the field, its value and what is allowed, for example "layers:0: not a whole number from 1 to 100000".
std::variant<CacheBlock, std::string> parse_cache_block(std::string_view text);

}  // namespace xferbench
