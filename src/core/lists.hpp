// Helpers for lists.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace xferbench {

/// Groups items by name. The groups are in the order in which each name first occurs.
template <class Items, class NameOf>
auto by_name(const Items& items, const NameOf& name_of) {
  using Element = std::ranges::range_value_t<Items>;
  using Name = std::decay_t<std::invoke_result_t<const NameOf&, const Element&>>;
  std::vector<std::pair<Name, std::vector<Element>>> groups;
  std::map<Name, std::size_t> places;
  for (const Element& item : items) {
    const auto [place, is_new] = places.try_emplace(std::invoke(name_of, item), groups.size());
    if (is_new) groups.push_back({place->first, {}});
    groups[place->second].second.push_back(item);
  }
  return groups;
}

/// Returns a pointer to the first item whose `projection` equals `value`; null if there is none.
template <class Range, class Value, class Projection>
auto* found_in(Range& all, const Value& value, Projection projection) {
  const auto found = std::ranges::find(all, value, projection);
  return found == std::ranges::end(all) ? nullptr : &*found;
}

/// Splits the text at each separator. A separator at the end adds no empty part.
inline std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(at, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// Appends `one` unless the list already contains it.
template <class T>
void add_new(std::vector<T>& all, std::type_identity_t<T> one) {
  if (std::ranges::find(all, one) == all.end()) all.push_back(std::move(one));
}

}  // namespace xferbench
