// Converts enumerators to the words that files, tables and messages use.
//
// The words of an enumeration are listed once, in order, next to its declaration:
//   enum class Stop { ci, budget };
//   constexpr auto texts_of(Stop) { return enum_texts("ci", "budget"); }
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>

namespace xferbench {

template <class... Words>
constexpr std::array<std::string_view, sizeof...(Words)> enum_texts(const Words&... words) {
  return {words...};
}

template <class Enumeration>
requires std::is_enum_v<Enumeration> && requires(Enumeration value) { texts_of(value); }
constexpr std::string_view to_text(Enumeration value) { return texts_of(value)[static_cast<std::size_t>(value)]; }

}  // namespace xferbench
