// Pieces of text that tables and maps are made of.
#pragma once

#include <cstddef>
#include <string>

#include "report/style.hpp"
#include "results/result.hpp"

namespace xferbench {

/// The value of an axis as tables show it: "64 MiB", "8", "h2d"; "-" where the case has no such axis.
std::string axis_text(const Result& result, const std::string& axis);

/// Display width: every character but the continuation bytes of UTF-8.
std::size_t width(const std::string& text);

/// Filled up with blanks to a display width; `left`: the text stands on the left.
std::string padded(const std::string& text, std::size_t to, bool left);

/// A sentence in lines of so many columns (0: one line), broken at blanks but not behind a number, with these margins.
/// Ends with a line feed.
std::string wrapped(const std::string& text, std::size_t columns, const std::string& first_margin,
                    const std::string& margin);

/// The same in a tone, from the first column on.
std::string paragraph(const std::string& text, Tone tone, const Style& style);

/// What is said above results that were simulated.
std::string simulated_text(const std::string& profile);

/// What is said above results of --no-verify, and beside what stands for them.
inline constexpr const char* kNotVerifiedMark = "NOT VERIFIED";
inline constexpr const char* kNotVerified =
    "NOT VERIFIED: measured with --no-verify; nobody looked whether data is right";

}  // namespace xferbench
