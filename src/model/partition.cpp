#include "model/partition.hpp"

#include <algorithm>
#include <cmath>

namespace xferbench::model {

namespace {

/// Returns floor(elements * part / chunks) without overflow: the end of the first `part` of `chunks` equal parts.
std::size_t even_boundary(std::size_t elements, std::size_t part, std::size_t chunks) {
  return elements / chunks * part + elements % chunks * part / chunks;
}

/// Returns the end of the first `part` parts if each part is `growth` (not 1) times the previous one: the fraction
/// (g^part - 1) / (g^chunks - 1) of all elements.
std::size_t growing_boundary(std::size_t elements, std::size_t part, std::size_t chunks, double growth) {
  // Uses powers of numbers below 1, which never overflow. For growing parts, g^(part-chunks) is factored out.
  const double shrink = -std::abs(std::log(growth));
  const auto behind = static_cast<double>(chunks - part);
  const double share = std::expm1(static_cast<double>(part) * shrink) /
                       std::expm1(static_cast<double>(chunks) * shrink) * (growth > 1 ? std::exp(behind * shrink) : 1);
  return static_cast<std::size_t>(static_cast<double>(elements) * share);
}

}  // namespace

std::vector<Chunk> partition(std::size_t elements, std::size_t chunks, std::size_t alignment, double growth) {
  const bool even = growth == 1;
  const auto boundary = [&](std::size_t part) {
    return even ? even_boundary(elements, part, chunks) : growing_boundary(elements, part, chunks, growth);
  };
  // Rounding a boundary down moves it by less than one alignment, so parts of at least that length do not become empty.
  const std::size_t shortest = even ? elements / chunks : std::min(boundary(1), elements - boundary(chunks - 1));
  const std::size_t step = shortest >= alignment ? alignment : 1;
  std::vector<Chunk> parts;
  parts.reserve(chunks);
  std::size_t first = 0;
  for (std::size_t part = 1; part <= chunks; ++part) {
    // With steep growth, early parts could be empty. So each part gets at least one element and leaves one for each
    // later part.
    const std::size_t end = part == chunks ? elements : boundary(part) / step * step;
    const std::size_t last = std::clamp(end, first + 1, elements - (chunks - part));
    parts.push_back({first, last - first});
    first = last;
  }
  return parts;
}

}  // namespace xferbench::model
