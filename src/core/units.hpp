// Formats numbers for people. Pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace xferbench {

inline constexpr std::uint64_t KiB = 1024;
inline constexpr std::uint64_t MiB = 1024 * KiB;
inline constexpr std::uint64_t GiB = 1024 * MiB;
inline constexpr std::uint64_t TiB = 1024 * GiB;

/// Returns the rate in 10^9 bytes per second.
constexpr double gigabytes_per_second(std::uint64_t bytes, double seconds) {
  return static_cast<double>(bytes) / seconds / 1e9;
}

/// Formats the exact size in the largest binary unit that divides it, for example "256MiB", "1536KiB" or "38797324B".
/// `space` is put between number and unit.
std::string format_size_exact(std::uint64_t bytes, std::string_view space = "");

/// Formats the exact size for people, not for case keys: in powers of 1024 or of 1000, whichever needs fewer digits,
/// for example "256 MiB", "256 MB", "1536 KiB".
std::string format_size_readable(std::uint64_t bytes);

/// Rounds to a whole number of bytes. NaN and negative numbers give 0; values are capped at 9e18.
std::uint64_t whole_bytes(double bytes);

/// Formats a rounded size for people, not for case keys: "256 MiB", "256 MB" if that is exact, "37.0 MiB", "12 B".
std::string format_size(std::uint64_t bytes);

/// Formats the size rounded, always in powers of 1024, as is usual for memory: for example "139.7 GiB".
std::string format_memory(std::uint64_t bytes);

/// Formats a time with four significant digits in a suitable unit: "5.617 ms", "3.700 us".
std::string format_seconds(double seconds);

/// Returns one unit for all of these times: that of the smallest, unless the largest would then have more than six
/// digits before its point. Empty without times.
std::string unit_for_all(std::span<const double> seconds);

/// Returns the number of these units in one second, for example 1000 for "ms".
double in_a_second(std::string_view unit);

/// Formats a time with four significant digits in the given unit: "5617 us".
std::string format_seconds_in(double seconds, std::string_view unit);

/// Formats a number with four significant digits, with an exponent only below 1e-4 and from 1e7 on: "0.9412", "4266".
std::string format_significant(double value);

/// A factor with suitable decimals, for example "1.02", "2.4" or "12".
std::string factor_text(double factor);

/// Returns whether the unit counts objects, such as copies and launches.
bool is_whole(std::string_view unit);

/// Formats the value in a way that suits its unit: "5.617 ms", "256 MiB", "95.21 GB/s", "94.1 %". If the unit names
/// counted objects, gives only the number. Empty for NaN.
std::string format_quantity(double value, std::string_view unit);

/// Formats like format_quantity(), but always with the unit: for example "12 copies".
std::string format_with_unit(double value, std::string_view unit);

/// Formats a fraction in percent: 0.941 gives "94.1 %". Absurdly large numbers, which a file may contain, give "over
/// 1000000 %"; NaN gives "-".
std::string format_percent(double fraction, int decimals = 1);

/// Formats like format_percent(), but with the sign: for example "+8.1 %".
std::string format_change(double fraction, int decimals = 1);

/// Formats a fraction in percent with `digits` significant digits or as a whole number, without an exponent: "0.53 %",
/// "2 %", "180 %".
std::string format_percent_short(double fraction, int digits = 2);

/// Returns a count with its noun, for example "1 case" or "3 cases". `several`: its plural; empty: `one` and an s.
std::string counted(std::uint64_t count, std::string_view one, std::string_view several = {});

}  // namespace xferbench
