// Damages files, as text and as JSON. The same seed gives the same damage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace xferbench::fuzz {

using Json = nlohmann::ordered_json;

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  /// Applies one to eight damages to the text; inserted parts come from `other`.
  std::string damaged(std::string text, const std::string& other);

  /// Applies one to eight changes that keep valid JSON: dropped fields and metrics, replaced and swapped values, cut
  /// and doubled lists. The field `spared` of the document stays as it is.
  Json tampered(Json document, std::string_view spared = {});

  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : static_cast<std::size_t>(random_() % limit); }

 private:
  struct Span {
    std::size_t begin;
    std::size_t size;
  };

  Span span(const std::string& text, std::size_t longest);
  Span token(const std::string& text);
  void damage(std::string& text, const std::string& other);
  void flip(std::string& text);
  void duplicate(std::string& text, Span s);
  void insert(std::string& text, std::string_view word);
  void replace_token(std::string& text, std::string_view word);
  void swap_tokens(std::string& text);
  void nest(std::string& text);
  void splice(std::string& text, const std::string& other);
  std::string number();

  void tamper(Json& document, std::string_view spared);
  /// A random non-empty list or object in the document, outside of `spared`; null if there is none.
  Json* place_in(Json& document, std::string_view spared);
  void drop_everywhere(Json& document);
  Json value();

  std::mt19937_64 random_;
};

}  // namespace xferbench::fuzz
