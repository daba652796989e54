// The value grammar of the command line. Pure functions from text to values; UsageError says what is wrong with the
// text and what would be right.
//
//   sizes    4096  4K  256M  1G (powers of 1024)   4KiB MiB GiB (the same)   KB MB GB (powers of 1000)   1.5G
//   lists    1,2,4        ranges   4K:1G:x4 (times 4)   1:16:+1 (plus 1)   1:16 (doubling)
//   words    h2d,d2h      all (every word that the axis knows)
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/axis.hpp"
#include "core/spelling.hpp"
#include "device/open.hpp"
#include "results/fleet.hpp"

namespace xferbench::cli {

/// Parses a size in bytes: "256M" gives 268435456. Throws UsageError if it is not a whole number or too large.
std::uint64_t parse_size(std::string_view text);

/// Parses the values of an axis: in the order written, each once, and checked against the limits of the axis. `flag`
/// ("--size") begins the error message.
std::vector<Value> parse_axis(const Axis& axis, std::string_view text, std::string_view flag);

/// Formats the minimum or maximum of an axis in the way in which its values are written, for example "4 KiB" or "0.5".
std::string bound_text(const Axis& axis, double bound);

using xferbench::nearest;
using xferbench::suggestion;

/// Parses the value of --gpu: a number, a UUID ("GPU-8932f937", "MIG-...") or a PCI address ("0000:1a:00.0"). Throws
/// UsageError.
GpuSelection one_gpu(const std::string& text);

/// Parses "all", "2" (the first two GPUs) or "0,3" (these GPUs). Throws UsageError.
GpuSelection gpu_selection(const std::string& text);

/// Parses a percentage above 0 and up to 100: "90%" or "90" gives 0.9. Throws UsageError that begins with `flag`.
double parse_percent(std::string_view text, std::string_view flag);

/// Parses the value of --concurrency, for example "all,one": each concurrency at most once, in that order. Throws
/// UsageError.
std::vector<RankConcurrency> paces(const std::string& text);

}  // namespace xferbench::cli
