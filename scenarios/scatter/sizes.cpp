#include "scenarios/scatter/sizes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <optional>
#include <random>
#include <utility>

#include "core/error.hpp"
#include "core/lists.hpp"

namespace xferbench {

namespace {

/// Calls next() for sizes until their sum is `all` bytes, or until there are too many pieces.
template <class Next>
std::vector<std::size_t> sizes_until(std::size_t all, const Next& next) {
  std::vector<std::size_t> sizes;
  for (std::size_t left = all; left > 0 && sizes.size() <= kMostPieces; left -= sizes.back()) {
    sizes.push_back(std::min(left, next()));
  }
  return sizes;
}

std::optional<std::size_t> whole_number(std::string_view text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  return is_whole && number > 0 ? std::optional(number) : std::nullopt;
}

std::vector<std::size_t> lines_of(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw InputError(fmt::format("cannot read {}: --piece-sizes needs a file with one size in each line", file));
  std::vector<std::size_t> sizes;
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    constexpr std::size_t kLargest = std::size_t{1} << 40;
    const std::optional<std::size_t> bytes = whole_number(line);
    if (!bytes || *bytes > kLargest) {
      throw InputError(fmt::format("{}, line {}: not a size in bytes from 1 to 2^40", file, number));
    }
    sizes.push_back(*bytes);
    if (sizes.size() > kMostPieces) throw InputError(fmt::format("{} has more than {} lines", file, kMostPieces));
  }
  if (in.bad()) throw InputError(fmt::format("{} cannot be read as a file", file));
  if (sizes.empty()) throw InputError(fmt::format("{} is empty; write one size in bytes in each line", file));
  return sizes;
}

template <class Named>
std::string names_of(const Named& all) {
  return fmt::format("{}", fmt::join(list_of(all, [](const auto& one) { return one.name; }), ", "));
}

}  // namespace

std::vector<std::size_t> equal_sizes(std::size_t all, std::size_t piece) {
  return sizes_until(all, [piece] { return piece; });
}

std::vector<std::size_t> spread_sizes(std::size_t all, std::size_t least, std::size_t most) {
  constexpr double kUnit = 256;
  constexpr std::uint64_t kSeed = 3;
  std::mt19937_64 random(kSeed);
  const double decades = std::log(static_cast<double>(most) / static_cast<double>(least));
  return sizes_until(all, [&] {
    // std::uniform_real_distribution is not used, because it may differ between standard libraries.
    const double part = std::ldexp(static_cast<double>(random() >> 11U), -53);
    const double bytes = std::round(static_cast<double>(least) * std::exp(part * decades) / kUnit) * kUnit;
    return std::clamp(static_cast<std::size_t>(bytes), least, most);
  });
}

std::vector<std::size_t> sizes_in_file(const std::string& file, std::size_t all) {
  const std::vector<std::size_t> lines = lines_of(file);
  std::size_t next = 0;
  std::vector<std::size_t> sizes = sizes_until(all, [&] { return lines[next++ % lines.size()]; });
  if (sizes.size() <= kMostPieces) return sizes;
  throw InputError(fmt::format("the sizes in {} make more than {} pieces; choose a smaller --size", file, kMostPieces));
}

std::variant<CacheBlock, std::string> parse_cache_block(std::string_view text) {
  struct Field {
    std::string_view name;
    std::size_t most = 100'000;  // largest legal value, so that products cannot overflow
    std::size_t value = 0;
    bool seen = false;
  };
  struct Type {
    std::string_view name;
    std::size_t bytes;
  };
  constexpr std::array<Type, 5> kElementTypes{{{"fp32", 4}, {"bf16", 2}, {"fp16", 2}, {"fp8", 1}, {"int8", 1}}};
  std::array<Field, 6> fields{{{"layers"}, {"heads"}, {"dim"}, {"tokens"}, {"dtype"}, {"tensors", 2, 2}}};
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    const std::size_t colon = std::min(part.find(':'), part.size());
    const std::string_view value = part.substr(std::min(colon + 1, part.size()));
    auto* const field = std::ranges::find(fields, part.substr(0, colon), &Field::name);
    if (field == fields.end()) return fmt::format("{}: the fields are {}", part, names_of(fields));
    if (std::exchange(field->seen, true)) return fmt::format("{}: {} is there twice", part, field->name);
    if (field->name == "dtype") {
      const auto* const type = std::ranges::find(kElementTypes, value, &Type::name);
      if (type == kElementTypes.end()) return fmt::format("{}: the types are {}", part, names_of(kElementTypes));
      field->value = type->bytes;
    } else {
      field->value = whole_number(value).value_or(0);
      if (field->value == 0 || field->value > field->most) {
        return fmt::format("{}: not a whole number from 1 to {}", part, field->most);
      }
    }
  }
  const auto* const missing = std::ranges::find(fields, 0U, &Field::value);
  if (missing != fields.end()) return fmt::format("{} is missing", missing->name);
  const auto& [layers, heads, dim, tokens, dtype, tensors] = fields;
  return CacheBlock{heads.value * dim.value * tokens.value * dtype.value, layers.value * tensors.value};
}

}  // namespace xferbench
