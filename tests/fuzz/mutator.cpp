#include "fuzz/mutator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>
#include <utility>

namespace xferbench::fuzz {

namespace {

/// Texts to insert: names and values of real files, and invalid ones.
const std::vector<std::string>& words() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> found{"\"\\x\"", "\xFF\xFE", "\xF4\x90\x80\x80", "\xEF\xBB\xBF"};
    std::istringstream text(R"(
        "schema" "xferbench/1" "xferbench/2" "complete" "results" "key" "samples" "n" "min" "median" "max" "ci95" "p90"
        "clock" "unit" "stop" "warmup" "outliers" "flags" "metrics" "value" "labels" "params" "status" "ok" "failed"
        "skipped" "environment" "gpu" "pcie" "host" "variables" "s" "expect" "case" "metric" "measurement" "at_least"
        "at_most" "of" "share" "link" "aggregate" "best" "median" "runs" "turns" "sampling" "description" "--size"
        { } [ ] , : " \ null true false NaN Infinity
        -Infinity 1e999 -1 1e-999 18446744073709551616 -9223372036854775809 0.1e308 1e308 5e-324 00 1. "\ud800"
        "\udc00\ud800" "\u0000" "\u001b[2J" "\u202e")");
    for (std::string word; text >> word;) found.push_back(word);
    return found;
  }();
  return all;
}

constexpr std::size_t kMostDamages = 8;

}  // namespace

// --- Texts ----------------------------------------------------------------------------------------------------------

std::string Mutator::damaged(std::string text, const std::string& other) {
  const std::size_t damages = 1 + below(1 + below(kMostDamages));  // often only one: then the file may still be read
  for (std::size_t i = 0; i < damages; ++i) damage(text, other);
  return text;
}

Mutator::Span Mutator::span(const std::string& text, std::size_t longest) {
  const std::size_t begin = below(text.size() + 1);
  return {begin, std::min(below(longest) + 1, text.size() - begin)};
}

/// The text between two characters that end a token.
Mutator::Span Mutator::token(const std::string& text) {
  constexpr const char* kEnds = ",:{}[]\n";
  const std::size_t begin = text.find_first_not_of(kEnds, below(text.size() + 1));
  if (begin == std::string::npos) return {text.size(), 0};
  const std::size_t end = std::min(text.find_first_of(kEnds, begin), text.size());
  return {begin, end - begin};
}

void Mutator::damage(std::string& text, const std::string& other) {
  const auto remove = [&text](Span s) { text.erase(s.begin, s.size); };
  switch (below(11)) {
    case 0: text.resize(below(text.size() + 1)); return;
    case 1: return flip(text);
    case 2: return remove(span(text, 64));
    case 3: return duplicate(text, span(text, 512));
    case 4: return remove(token(text));
    case 5: return swap_tokens(text);
    case 6: return insert(text, words()[below(words().size())]);
    case 7: return replace_token(text, words()[below(words().size())]);
    case 8: return replace_token(text, number());
    case 9: return nest(text);
    default: return splice(text, other);
  }
}

void Mutator::flip(std::string& text) {
  if (text.empty()) return;
  char& c = text[below(text.size())];
  c = static_cast<char>(static_cast<unsigned char>(c) ^ (1U << below(8)));
}

void Mutator::duplicate(std::string& text, Span s) {
  const std::string copy = text.substr(s.begin, s.size);
  text.insert(below(2) == 0 ? s.begin : below(text.size() + 1), copy);
}

void Mutator::insert(std::string& text, std::string_view word) { text.insert(below(text.size() + 1), word); }

void Mutator::replace_token(std::string& text, std::string_view word) {
  const Span s = token(text);
  text.replace(s.begin, s.size, word);
}

void Mutator::swap_tokens(std::string& text) {
  const Span a = token(text);
  const std::string first = text.substr(a.begin, a.size);
  const Span b = token(text);
  const std::string second = text.substr(b.begin, b.size);
  text.replace(b.begin, b.size, first);
  if (a.begin + a.size <= text.size()) text.replace(a.begin, a.size, second);
}

void Mutator::nest(std::string& text) {
  const bool object = below(2) == 0;
  std::string deep;
  for (std::size_t i = below(300); i > 0; --i) deep += object ? "{\"a\":" : "[";
  insert(text, deep);
}

void Mutator::splice(std::string& text, const std::string& other) {
  const Span s = span(other, 2048);
  text.insert(below(text.size() + 1), other.substr(s.begin, s.size));
}

std::string Mutator::number() {
  std::string digits = below(3) == 0 ? "-" : "";
  for (std::size_t i = below(40) + 1; i > 0; --i) digits += static_cast<char>('0' + below(10));
  if (below(2) == 0) digits += fmt::format(".{}", below(1'000'000));
  if (below(2) == 0) digits += fmt::format("e{}{}", below(2) == 0 ? "-" : "", below(500));
  return digits;
}

// --- Documents ------------------------------------------------------------------------------------------------------

Json Mutator::tampered(Json document, std::string_view spared) {
  const std::size_t changes = 1 + below(1 + below(kMostDamages));
  for (std::size_t i = 0; i < changes; ++i) tamper(document, spared);
  return document;
}

Json* Mutator::place_in(Json& document, std::string_view spared) {
  Json* at = &document;
  const std::size_t depth = 1 + below(7);
  for (std::size_t level = 0; level < depth; ++level) {
    std::vector<Json*> inside;
    for (auto item = at->begin(); item != at->end(); ++item) {
      const bool is_spared = level == 0 && at->is_object() && item.key() == spared;
      if (item->is_structured() && !item->empty() && !is_spared) inside.push_back(&*item);
    }
    if (inside.empty()) break;
    // Prefer the results, the largest part of a document.
    const bool to_results = level == 0 && document.contains("results") && document["results"].is_array() &&
                            !document["results"].empty() && below(3) != 0;
    at = to_results ? &document["results"] : inside[below(inside.size())];
  }
  return at->empty() ? nullptr : at;
}

/// Removes one metric, measurement or label from the results: from all, or from some of them.
void Mutator::drop_everywhere(Json& document) {
  if (!document.is_object() || !document.contains("results") || !document["results"].is_array()) return;
  std::set<std::string> names;
  const auto each = [&](const auto& with) {
    for (Json& result : document["results"]) {
      for (const char* field : {"metrics", "labels", "measurements"}) {
        if (result.is_object() && result.contains(field) && result[field].is_structured()) with(result[field]);
      }
    }
  };
  const auto name_of = [](const Json& m) {
    return m.is_object() && m.contains("name") && m["name"].is_string() ? m["name"].get<std::string>() : "";
  };
  each([&](Json& all) {
    for (auto item = all.begin(); item != all.end(); ++item)
      names.insert(all.is_object() ? item.key() : name_of(*item));
  });
  if (names.empty()) return;
  const std::string name = *std::next(names.begin(), static_cast<std::ptrdiff_t>(below(names.size())));
  const bool sometimes = below(2) == 0;
  each([&](Json& all) {
    if (sometimes && below(2) == 0) return;
    if (all.is_object()) {
      all.erase(name);
    } else {
      for (std::size_t i = all.size(); i-- > 0;) {
        if (name_of(all[i]) == name) all.erase(i);
      }
    }
  });
}

Json Mutator::value() {
  switch (below(12)) {
    case 0: return nullptr;
    case 1: return below(2) == 0;
    case 2: return 0;
    case 3: return -1;
    case 4: return std::vector<double>{1e308, 1.7e308, 5e-324, -1e308, 1e19, 0.5, 1e-9}[below(7)];
    case 5: return ~std::uint64_t{0} >> below(64);
    case 6: return static_cast<double>(below(1000)) * 1e-6;
    case 7: return std::vector<std::string>{"ok", "failed", "skipped", "interrupted", "s", "", "link", "ci"}[below(8)];
    case 8: return "a\x1b[2J\r\n\x07\xC2\x9B\xE2\x80\xAE" + std::string(below(200), 'x');
    case 9: return Json::array();
    case 10: return Json::object();
    default: return Json::parse(R"([{"value": 1, "unit": "s"}, "x", 3])");
  }
}

void Mutator::tamper(Json& document, std::string_view spared) {
  if (below(4) == 0) return drop_everywhere(document);
  Json* place = place_in(document, spared);
  if (place == nullptr) return;
  const auto item_of = [this](Json& all) {
    return std::next(all.begin(), static_cast<std::ptrdiff_t>(below(all.size())));
  };
  auto item = item_of(*place);
  if (place == &document && place->is_object() && item.key() == spared) return;
  switch (below(6)) {
    case 0: place->erase(item); return;
    case 1: *item = value(); return;
    case 2: return std::swap(*item, *item_of(*place));
    case 3: {  // replaced by an item from another place
      Json* other = place_in(document, spared);
      if (other != nullptr) *item = Json(*item_of(*other));
      return;
    }
    case 4: {
      const Json copy = *item;
      if (place->is_array()) {
        place->insert(place->begin() + static_cast<std::ptrdiff_t>(below(place->size() + 1)), copy);
      } else {
        (*place)[item.key() + (below(2) == 0 ? "2" : "\x1b[1m\n")] = copy;
      }
      return;
    }
    default:
      if (place->is_array()) place->erase(item, place->end());
      if (place->is_object() && item->is_number()) *item = value();
  }
}

}  // namespace xferbench::fuzz
