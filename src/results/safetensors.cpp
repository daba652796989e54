#include "results/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/error.hpp"
#include "core/printable.hpp"

namespace xferbench {

namespace {

constexpr std::size_t kLengthBytes = 8;

std::string header_of(const std::string& path) {
  constexpr std::uint64_t kLongest = 100'000'000;  // the format's own limit
  std::ifstream file(path, std::ios::binary);
  std::array<char, kLengthBytes> number{};
  file.read(number.data(), number.size());
  if (!file) throw InputError("it has less than 8 bytes, or cannot be read");
  static_assert(std::endian::native == std::endian::little);
  const auto length = std::bit_cast<std::uint64_t>(number);
  if (length > kLongest) {
    throw InputError(fmt::format("its length would be {} bytes, at most {} are allowed", length, kLongest));
  }
  std::string text(length, '\0');
  file.read(text.data(), static_cast<std::streamsize>(length));
  if (!file) throw InputError(fmt::format("the file ends within its {} bytes", length));
  return text;
}

/// Returns where the data of each tensor ends, in bytes after the header.
std::vector<std::uint64_t> tensor_ends(const std::string& header) {
  const auto object = nlohmann::json::parse(header, nullptr, false);
  if (!object.is_object()) throw InputError("it is not a JSON object");
  std::vector<std::uint64_t> ends;
  for (const auto& [name, tensor] : object.items()) {
    if (name == "__metadata__") continue;
    const auto offsets = tensor.is_object() ? tensor.find("data_offsets") : tensor.end();
    if (offsets == tensor.end() || !offsets->is_array() || offsets->size() != 2 ||
        !offsets->back().is_number_unsigned()) {
      throw InputError(fmt::format("tensor {} has no data_offsets", printable(name)));
    }
    ends.push_back(offsets->back().get<std::uint64_t>());
  }
  return ends;
}

}  // namespace

std::vector<std::uint64_t> safetensors_sizes(const std::string& path, std::uint64_t bytes) {
  const std::string header = header_of(path);
  const std::uint64_t data = kLengthBytes + header.size();
  std::vector<std::uint64_t> ends{data, bytes};
  for (const std::uint64_t end : tensor_ends(header)) ends.push_back(data + end);
  std::ranges::sort(ends);
  std::vector<std::uint64_t> sizes;
  std::uint64_t begun = 0;
  for (const std::uint64_t end : ends) {
    if (end > begun && end <= bytes) sizes.push_back(end - std::exchange(begun, end));
  }
  return sizes;
}

}  // namespace xferbench
