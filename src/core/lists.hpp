#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <ranges>
#include <set>
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

/// Returns a list with the result of `make` for each item.
template <class Items, class Make>
auto list_of(Items&& items, const Make& make) {
  std::vector<std::decay_t<std::invoke_result_t<const Make&, std::ranges::range_reference_t<Items>>>> all;
  for (auto&& item : items) all.push_back(std::invoke(make, item));
  return all;
}

/// Returns all items of the lists that `make` returns for the items.
template <class Items, class Make>
auto flat_list_of(Items&& items, const Make& make) {
  std::decay_t<std::invoke_result_t<const Make&, std::ranges::range_reference_t<Items>>> all;
  for (auto&& item : items) std::ranges::copy(std::invoke(make, item), std::back_inserter(all));
  return all;
}

/// Returns the different results of `make` for the items.
template <class Items, class Make>
auto set_of(const Items& items, const Make& make) {
  const auto all = list_of(items, make);
  return std::set(all.begin(), all.end());
}

/// Returns pointers to the items, which must outlive them.
template <class Items>
auto pointers_to(const Items& items) {
  return list_of(items, [](const auto& item) { return &item; });
}

/// Returns copies of the items that fulfil the condition.
template <class Items, class Condition>
auto those_of(const Items& items, const Condition& fulfilled) {
  std::vector<std::ranges::range_value_t<Items>> those;
  std::ranges::copy_if(items, std::back_inserter(those), fulfilled);
  return those;
}

/// Returns the indices of the items that fulfil the condition.
template <class Index = std::size_t, class Items, class Condition>
std::vector<Index> places_where(const Items& items, const Condition& fulfilled) {
  std::vector<Index> places;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (std::invoke(fulfilled, items[i])) places.push_back(static_cast<Index>(i));
  }
  return places;
}

/// Returns what `find` finds for the items, as optionals or pointers, without the items for which it finds nothing. By
/// default, the items themselves are optionals or pointers.
template <class Items, class Find = std::identity>
auto found_for(const Items& items, const Find& find = {}) {
  std::vector<std::decay_t<decltype(*std::invoke(find, *std::ranges::begin(items)))>> values;
  for (const auto& item : items) {
    if (const auto& found = std::invoke(find, item)) values.push_back(*found);
  }
  return values;
}

/// Returns the sum of `number_of` over all items; 0 for none.
template <class Items, class NumberOf = std::identity>
auto total_of(const Items& items, const NumberOf& number_of = {}) {
  std::decay_t<std::invoke_result_t<const NumberOf&, std::ranges::range_reference_t<const Items>>> sum{};
  for (const auto& item : items) sum += std::invoke(number_of, item);
  return sum;
}

/// Returns the largest `number_of` over all items; 0 if there are none or all are less.
template <class Items, class NumberOf>
auto most_of(const Items& items, const NumberOf& number_of) {
  std::decay_t<std::invoke_result_t<const NumberOf&, std::ranges::range_reference_t<const Items>>> most{};
  for (const auto& item : items) most = std::max(most, std::invoke(number_of, item));
  return most;
}

/// Returns a pointer to the first item whose `projection` equals `value`; null if there is none.
template <class Range, class Value, class Projection>
auto* found_in(Range& all, const Value& value, Projection projection) {
  const auto found = std::ranges::find(all, value, projection);
  return found == std::ranges::end(all) ? nullptr : &*found;
}

template <class Range, class Value>
bool has_item(const Range& all, const Value& value) {
  return std::ranges::find(all, value) != std::ranges::end(all);
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
  if (!has_item(all, one)) all.push_back(std::move(one));
}

}  // namespace xferbench
