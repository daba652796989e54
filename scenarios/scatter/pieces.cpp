#include "scenarios/scatter/pieces.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <random>

namespace xferbench {

std::optional<Layout> parse_layout(std::string_view word) {
  if (word == "contiguous") return Layout{Layout::Kind::contiguous};
  if (word == "strided") return Layout{Layout::Kind::strided};
  if (word == "shuffled") return Layout{Layout::Kind::shuffled};
  constexpr std::string_view kRuns = "runs:";
  if (!word.starts_with(kRuns)) return std::nullopt;
  word.remove_prefix(kRuns.size());
  Layout layout{Layout::Kind::runs};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), layout.run);
  const bool is_number = error == std::errc() && end == word.data() + word.size();
  constexpr std::size_t kLongest = 1'000'000;  // so that sizes in bytes cannot overflow
  return is_number && layout.run > 0 && layout.run <= kLongest ? std::optional(layout) : std::nullopt;
}

Places places_of(const Layout& layout, std::span<const std::size_t> sizes, std::size_t pitch, std::size_t shift,
                 std::uint64_t seed) {
  constexpr std::size_t kMargin = 4096;
  constexpr std::size_t kUnit = 256;
  const std::size_t run = layout.kind == Layout::Kind::runs ? layout.run : 1;
  std::vector<std::size_t> order((sizes.size() + run - 1) / run);  // order of the runs in memory
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (layout.kind == Layout::Kind::runs || layout.kind == Layout::Kind::shuffled) {
    std::mt19937_64 random(seed);
    // std::shuffle is not used: its order depends on the standard library, but results of two builds are compared.
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  }
  Places places{.offsets = std::vector<std::size_t>(sizes.size()), .bytes = kMargin + shift};
  for (const std::size_t which : order) {
    const std::size_t end = std::min((which + 1) * run, sizes.size());
    for (std::size_t i = which * run; i < end; ++i) {
      places.offsets[i] = places.bytes;
      // The last piece may be cut. Its place must not move the places after it to unaligned addresses.
      places.bytes += i + 1 == sizes.size() ? (sizes[i] + kUnit - 1) / kUnit * kUnit : sizes[i];
    }
    places.bytes = std::max(places.bytes, places.offsets[end - 1] + pitch);
  }
  places.bytes += kMargin;
  return places;
}

std::vector<Copy> merged(std::vector<Copy> copies) {
  std::ranges::sort(copies, {}, &Copy::source);
  std::vector<Copy> all;
  for (const Copy& copy : copies) {
    Copy* const last = all.empty() ? nullptr : &all.back();
    const bool follows = last != nullptr && last->source + last->bytes == copy.source &&
                         last->destination + last->bytes == copy.destination;
    follows ? static_cast<void>(last->bytes += copy.bytes) : all.push_back(copy);
  }
  return all;
}

std::vector<Copy> through_buffer(std::vector<Copy> copies, std::byte* buffer) {
  for (Copy& copy : copies) {
    if (copy.direction == Direction::h2d) {
      copy.source = buffer;
    } else {
      copy.destination = buffer;
    }
    buffer += copy.bytes;
    copy.direction = Direction::d2d;
  }
  return copies;
}

std::vector<HostSpan> host_spans(std::vector<Copy>& copies, bool source_on_host, std::span<const std::size_t> borders) {
  const auto on_host = [source_on_host](const Copy& copy) -> const std::byte* {
    return source_on_host ? copy.source : copy.destination;
  };
  std::ranges::sort(copies, {}, on_host);
  std::vector<HostSpan> spans;
  const std::byte* end = nullptr;
  std::size_t offset = 0;
  for (std::size_t i = 0; i < copies.size(); ++i) {
    const Copy& copy = copies[i];
    const bool at_border = !borders.empty() && offset >= borders.front();
    while (!borders.empty() && offset >= borders.front()) borders = borders.subspan(1);
    if (end != on_host(copy) || at_border) spans.push_back({.first = i, .offset = offset});
    ++spans.back().count;
    spans.back().bytes += copy.bytes;
    offset += copy.bytes;
    end = on_host(copy) + copy.bytes;
  }
  return spans;
}

std::vector<std::size_t> halving_borders(std::size_t bytes, std::size_t chunks, bool reversed) {
  std::vector<std::size_t> borders;
  for (std::size_t i = 1; i < chunks && bytes >> i > 0; ++i)
    borders.push_back(reversed ? bytes >> i : bytes - (bytes >> i));
  if (reversed) std::ranges::reverse(borders);
  return borders;
}

}  // namespace xferbench
