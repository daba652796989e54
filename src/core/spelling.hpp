// Guesses which known word a misspelled word was meant to be. Pure functions.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace xferbench {

std::string lower_case(std::string_view text);

/// Returns the candidate nearest to `word` by edit distance; empty if none is near enough to be a typing error.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

/// Returns for example "; did you mean 'h2d'?"; empty if no candidate is near enough.
std::string suggestion(std::string_view word, std::span<const std::string> candidates);

}  // namespace xferbench
