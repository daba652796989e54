#include "core/spelling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

namespace xferbench {

std::string lower_case(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

namespace {

/// Returns the number of letters to insert, delete or replace, and of adjacent letters to swap, to turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  std::vector<std::size_t> above;
  std::vector<std::size_t> two_above;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    two_above = std::exchange(above, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], two_above[j - 2] + 1);
    }
  }
  return row.back();
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
  std::string best;
  // In words of four letters or less two wrong letters leave nothing alike: --mem is not --mpi.
  const std::size_t letters = word.size() - std::min(word.find_first_not_of('-'), word.size());
  const std::size_t most = letters <= 4 ? 1 : std::max<std::size_t>(2, word.size() / 3);
  std::tuple best_distance(most + 1, false, std::size_t{0});
  // longest word in letters that is compared; the time is proportional to the product of both lengths
  constexpr std::size_t kLongest = 200;
  if (word.size() > kLongest) return best;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongest) continue;
    // the word is spelled correctly but not allowed here, so it is no useful suggestion
    if (candidate == word) continue;
    const std::size_t edits = edit_distance(lower_case(word), lower_case(candidate));
    // A word that is the beginning of a candidate counts as one wrong letter and is preferred to other candidates at
    // that distance. Of two such candidates, the one with fewer missing letters is chosen.
    const bool begins = word.size() >= 2 && candidate.starts_with(word);
    const std::tuple distance(begins ? std::min<std::size_t>(1, edits) : edits, !begins, edits);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string suggestion(std::string_view word, std::span<const std::string> candidates) {
  const std::string near = nearest(word, candidates);
  return near.empty() ? "" : fmt::format("; did you mean '{}'?", near);
}

}  // namespace xferbench
