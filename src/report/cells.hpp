// Pieces of text that tables and maps are made of.
#pragma once

#include <cstddef>
#include <string>

#include "results/result.hpp"

namespace xferbench {

/// The value of an axis as tables show it: "64 MiB", "8", "h2d"; "-" where the case has no such axis.
std::string axis_text(const Result& result, const std::string& axis);

/// Display width: every character but the continuation bytes of UTF-8.
std::size_t width(const std::string& text);

/// Filled up with blanks to a display width; `left`: the text stands on the left.
std::string padded(const std::string& text, std::size_t to, bool left);

/// What is said above results that were simulated.
std::string simulated_text(const std::string& profile);

/// What is said above results of --no-verify, and beside what stands for them.
inline constexpr const char* kNotVerifiedMark = "NOT VERIFIED";
inline constexpr const char* kNotVerified =
    "NOT VERIFIED: measured with --no-verify; nobody looked whether data is right";

}  // namespace xferbench
