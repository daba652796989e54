// What was probably meant by a word that nobody knows. Pure functions.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace xferbench {

std::string lower_case(std::string_view text);

/// The candidate nearest to `word` by edit distance, if it is near enough to be a slip of the hand; else empty.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

/// "; did you mean 'h2d'?" or empty.
std::string suggestion(std::string_view word, std::span<const std::string> candidates);

}  // namespace xferbench
