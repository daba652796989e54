#include "scenarios/scatter/sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <random>
#include <set>
#include <utility>

#include "core/error.hpp"

namespace xferbench {

namespace {

/// Returns sizes that `next` gives, until they are `all` bytes together or there are too many pieces.
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
    // not std::uniform_real_distribution, which may differ between standard libraries
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

std::optional<CacheBlock> parse_cache_block(std::string_view text) {
  using Named = std::pair<std::string_view, std::size_t>;
  constexpr std::array<Named, 5> kBytesOfType{{{"fp32", 4}, {"bf16", 2}, {"fp16", 2}, {"fp8", 1}, {"int8", 1}}};
  std::array<Named, 6> fields{{{"layers", 0}, {"heads", 0}, {"dim", 0}, {"tokens", 0}, {"dtype", 0}, {"tensors", 2}}};
  std::set<std::string_view> seen;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    const std::size_t colon = std::min(part.find(':'), part.size());
    auto* const field = std::ranges::find(fields, part.substr(0, colon), &Named::first);
    if (field == fields.end() || colon == part.size()) return std::nullopt;
    if (!seen.insert(field->first).second) return std::nullopt;
    const std::string_view value = part.substr(colon + 1);
    const auto* const type = std::ranges::find(kBytesOfType, value, &Named::first);
    const bool is_type = field->first == "dtype";
    if (is_type && type == kBytesOfType.end()) return std::nullopt;
    field->second = is_type ? type->second : whole_number(value).value_or(0);
    constexpr std::size_t kLargest = 100'000;  // so that products cannot overflow
    if (field->second == 0 || field->second > kLargest) return std::nullopt;
  }
  const auto& [layers, heads, dim, tokens, dtype, tensors] = fields;
  const CacheBlock block{heads.second * dim.second * tokens.second * dtype.second, layers.second * tensors.second};
  return block.piece > 0 && block.pieces > 0 && tensors.second <= 2 ? std::optional(block) : std::nullopt;
}

}  // namespace xferbench
