#include "core/printable.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace xferbench {

namespace {

/// A decoded UTF-8 character. `bytes` is 0 if the bytes are invalid: truncated, overlong or half of a surrogate pair.
struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;
};

Character character_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) -> std::uint32_t {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0;
  };
  const std::uint32_t first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4) return {};
  std::uint32_t code = first & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return {};
    code = code << 6U | (byte(i) & 0x3FU);
  }
  constexpr std::array<std::uint32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[bytes] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return {};
  return {code, bytes};
}

bool is_control(std::uint32_t code) {
  struct Range {
    std::uint32_t first;
    std::uint32_t last;
  };
  constexpr std::array kRanges{
      Range{0x00, 0x1F},        // C0 control characters, such as line breaks and ESC
      Range{0x7F, 0x9F},        // DEL and C1 control characters, one of which stands for ESC [
      Range{0x061C, 0x061C},    // direction mark
      Range{0x200B, 0x200F},    // zero-width characters and direction marks
      Range{0x2028, 0x202E},    // line and paragraph separators; direction embeddings and overrides
      Range{0x2060, 0x206F},    // invisible joiners; direction isolates
      Range{0xFEFF, 0xFEFF},    // byte order mark, or zero-width blank
      Range{0xFFF9, 0xFFFB},    // interlinear annotations
      Range{0xE0000, 0xE007F},  // invisible tags
  };
  return std::ranges::any_of(kRanges, [code](const Range& r) { return r.first <= code && code <= r.last; });
}

}  // namespace

ControlCharacter find_control(std::string_view text, std::size_t from) {
  for (std::size_t i = from; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte >= 0x20 && byte < 0x7F) {  // the fast path for most text
      ++i;
      continue;
    }
    const Character c = character_at(text, i);
    if (c.bytes == 0) return {i, 1};
    if (is_control(c.code)) return {i, c.bytes};
    i += c.bytes;
  }
  return {text.size(), 0};
}

std::string shortened(std::string_view text, std::size_t most) {
  constexpr std::string_view kBetween = "...";
  if (text.size() <= most) return std::string(text);
  const auto is_inside = [text](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80; };
  const std::size_t room = most - kBetween.size();
  std::size_t head = room / 2;
  std::size_t tail = text.size() - (room - head);
  while (head > 0 && is_inside(head)) --head;
  while (tail < text.size() && is_inside(tail)) ++tail;
  return std::string(text.substr(0, head)).append(kBetween).append(text.substr(tail));
}

std::string printable(std::string_view text, char instead) {
  std::string shown;
  shown.reserve(text.size());
  std::size_t done = 0;
  while (done < text.size()) {
    const auto [begin, bytes] = find_control(text, done);
    shown += text.substr(done, begin - done);
    if (bytes > 0) shown += instead;
    done = begin + bytes;
  }
  return shown;
}

}  // namespace xferbench
