#include "core/printable.hpp"

namespace xferbench {

std::string printable(std::string_view text) {
  std::string shown;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const unsigned char next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
    const bool second_set = byte == 0xC2 && next >= 0x80 && next < 0xA0;  // U+0080 to U+009F in UTF-8: ESC [ as one
    const bool control = byte < 0x20 || byte == 0x7F || second_set;
    shown += control ? '?' : text[i];
    if (second_set) ++i;
  }
  return shown;
}

}  // namespace xferbench
