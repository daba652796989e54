#include "scenarios/storage/parts.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "core/error.hpp"
#include "core/printable.hpp"
#include "results/safetensors.hpp"

namespace xferbench {

namespace {

constexpr std::uint64_t kPlaceAlignment = 256;
constexpr std::size_t kMadeTensors = 300;

/// Returns sizes like those of a model's tensors: few tensors hold most of the bytes. Large and small ones are mixed.
std::vector<std::uint64_t> made_sizes(std::uint64_t bytes) {
  constexpr double kDecades = 4;
  constexpr std::size_t kMixing = 71;  // has no factor in common with kMadeTensors
  const std::size_t count = std::min<std::uint64_t>(kMadeTensors, bytes);
  std::vector<double> weights(count);
  double all = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t rank = i * kMixing % kMadeTensors;
    all += weights[i] = std::pow(10.0, kDecades * static_cast<double>(rank) / kMadeTensors);
  }
  std::vector<std::uint64_t> sizes(count);
  const std::uint64_t spare = bytes - count;  // each part gets one byte first, so that no part is empty
  double until = 0;
  std::uint64_t given = 0;
  for (std::size_t i = 0; i < count; ++i) {
    until += weights[i] / all;
    const auto end = i + 1 == count ? spare : static_cast<std::uint64_t>(until * static_cast<double>(spare));
    sizes[i] = 1 + end - given;
    given = end;
  }
  return sizes;
}

std::vector<std::uint64_t> sizes_in(const std::string& path, std::uint64_t bytes) {
  try {
    return safetensors_sizes(path, bytes);
  } catch (const InputError& error) {
    throw UsageError(
        fmt::format("--layout: {} has no safetensors header: {}; give a .safetensors file, a folder, or "
                    "--layout whole",
                    printable(path), error.what()));
  }
}

}  // namespace

PartTable::PartTable(std::uint64_t first, const std::vector<std::uint64_t>& sizes, bool aligned) {
  std::uint64_t place = 0;
  for (const std::uint64_t size : sizes) {
    if (size == 0) continue;
    parts_.push_back({first, size, place});
    first += size;
    place += aligned ? (size + kPlaceAlignment - 1) / kPlaceAlignment * kPlaceAlignment : size;
  }
}

std::uint64_t PartTable::bytes() const {
  return parts_.empty() ? 0 : parts_.back().first + parts_.back().count - parts_.front().first;
}

std::uint64_t PartTable::bytes_on_gpu() const { return parts_.empty() ? 0 : parts_.back().place + parts_.back().count; }

std::uint64_t PartTable::place_of(std::uint64_t offset) const {
  const auto after = std::ranges::upper_bound(parts_, offset, {}, &FilePart::first);
  const FilePart& part = *std::prev(after);
  return part.place + (offset - part.first);
}

std::vector<model::Chunk> PartTable::chunks(std::size_t most) const {
  std::vector<model::Chunk> all;
  for (const FilePart& part : parts_) {
    for (std::uint64_t done = 0; done < part.count; done += most) {
      all.push_back({part.first + done, std::min<std::size_t>(most, part.count - done)});
    }
  }
  return all;
}

void PartTable::fetch(Device& device, const std::byte* on_gpu, std::span<std::byte> to, std::uint64_t offset) const {
  const std::uint64_t end = offset + to.size();
  for (const FilePart& part : parts_) {
    const std::uint64_t from = std::max(offset, part.first);
    const std::uint64_t until = std::min(end, part.first + part.count);
    if (from >= until) continue;
    device.copy_and_wait({to.data() + (from - offset), on_gpu + place_of(from), until - from, Direction::d2h});
  }
}

std::vector<std::uint64_t> part_sizes(const StorageCase& c) {
  if (c.layout == FileLayout::whole) return {c.size};
  std::error_code error;
  return std::filesystem::is_regular_file(c.path, error) ? sizes_in(c.path, c.size) : made_sizes(c.size);
}

}  // namespace xferbench
