#include "model/chunk_schedule.hpp"

#include <algorithm>
#include <cmath>

namespace xferbench::model {

namespace {

std::size_t up_to_page(double elements, std::size_t page) {
  return static_cast<std::size_t>(std::ceil(elements / static_cast<double>(page))) * page;
}

}  // namespace

std::vector<Chunk> chunk_schedule(std::size_t elements, const ChunkRules& rules) {
  const std::size_t least = std::min(rules.least, rules.most);
  // A shrinking chunk takes this fraction of the remaining elements, so that each round of
  // `abreast` chunks is 1/taper as large as the round before.
  const double share = (1 - 1 / rules.taper) / static_cast<double>(rules.abreast);
  std::size_t grown = rules.grow ? least : rules.most;  // current maximum while chunks grow
  std::vector<Chunk> chunks;
  for (std::size_t first = 0; first < elements;) {
    const std::size_t left = elements - first;
    std::size_t count = grown;
    if (rules.shrink)
      count = std::min(count, std::max(least, up_to_page(share * static_cast<double>(left), rules.page)));
    chunks.push_back({first, std::min(count, left)});
    first += chunks.back().count;
    if (chunks.size() % rules.abreast != 0) continue;
    grown = std::min(rules.most, up_to_page(rules.taper * static_cast<double>(grown), rules.page));
  }
  return chunks;
}

}  // namespace xferbench::model
