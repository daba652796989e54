#include "core/wildcards.hpp"

namespace xferbench {

bool matches(std::string_view pattern, std::string_view text) {
  std::uint64_t steps = 0;
  return matches(pattern, text, steps);
}

bool matches(std::string_view pattern, std::string_view text, std::uint64_t& steps) {
  std::size_t p = 0;
  std::size_t t = 0;
  // index of the last * so far; `taken` is the end of the text that this * has matched
  std::size_t star = std::string_view::npos;
  std::size_t taken = 0;
  ++steps;
  while (t < text.size()) {
    ++steps;
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

}  // namespace xferbench
