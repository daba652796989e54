// Damages files, as text and as what the text says. The same seed does the same.
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

  /// The text with one to eight damages, with parts of another.
  std::string damaged(std::string text, const std::string& other);

  /// The document with one to eight changes that leave it JSON: fields, metrics and measurements dropped, values
  /// swapped and replaced, lists cut and doubled. What stands below `spared` stays.
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
  /// A list or an object somewhere in the document that holds something.
  Json* place_in(Json& document, std::string_view spared);
  void drop_everywhere(Json& document);
  Json value();

  std::mt19937_64 random_;
};

}  // namespace xferbench::fuzz
