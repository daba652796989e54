#include "scenarios/storage/stored_file.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/units.hpp"
#include "measure/pattern.hpp"

namespace xferbench {

namespace {

/// Bytes that are filled and checked at once. Each such part of a file has a seed of its own.
constexpr std::size_t kPart = 64 * MiB;

/// Calls body(number of the part, offset, bytes) for each part of a file.
void for_parts(std::uint64_t size, const std::function<void(std::uint64_t, std::uint64_t, std::size_t)>& body) {
  std::uint64_t number = 0;
  for (std::uint64_t offset = 0; offset < size; offset += kPart) {
    body(number++, offset, static_cast<std::size_t>(std::min<std::uint64_t>(kPart, size - offset)));
  }
}

}  // namespace

StoredFile::StoredFile(Files& files, const StorageCase& c, std::uint64_t seed, bool filled)
    : files_(files), seed_(seed), size_(c.size), own_(files.is_folder(c.path)) {
  cached_ = own_ ? files.make_temporary(c.path, c.size) : files.open(c.path, FileRoute::cached);
  if (own_ && filled) {
    hand_out([this](std::span<const std::byte> bytes, std::uint64_t offset) { cached_->write_at(bytes, offset); });
    cached_->sync();
  }
  if (own_) return;
  if (size_ > cached_->size()) {
    throw FileError(
        fmt::format("{} has {} bytes, less than --size {}", c.path, cached_->size(), format_size_exact(size_)));
  }
  cached_->make_cold();  // cached pages of a hole would count as written
  if (const auto hole = cached_->first_hole(); hole && *hole < size_) {
    throw FileError(
        fmt::format("{} has a hole at byte {}: holes are read without the disk and look faster than it; "
                    "copy the file with cp --sparse=never",
                    c.path, *hole));
  }
}

void StoredFile::hand_out(const Take& take) const {
  std::vector<std::byte> part(static_cast<std::size_t>(std::min<std::uint64_t>(kPart, size())));
  for_parts(size(), [&](std::uint64_t number, std::uint64_t offset, std::size_t bytes) {
    pattern::fill_bytes(std::span(part).first(bytes), seed_ + number);
    take(std::span(part).first(bytes), offset);
  });
}

void StoredFile::poison() {
  const std::vector<std::byte> part(static_cast<std::size_t>(std::min<std::uint64_t>(kPart, size())), pattern::kPoison);
  for_parts(size(), [&](std::uint64_t, std::uint64_t offset, std::size_t bytes) {
    cached_->write_at(std::span(part).first(bytes), offset);
  });
}

std::unique_ptr<DataFile> StoredFile::open_again(FileRoute route) {
  if (route == FileRoute::cached) return files_.reopen(*cached_, route);
  try {
    return files_.reopen(*cached_, route);
  } catch (const FileError& error) {
    throw UnavailableError(error.what());
  }
}

bool StoredFile::has_direct_route() {
  try {
    return open_again(FileRoute::direct) != nullptr;
  } catch (const UnavailableError&) {
    return false;
  }
}

void StoredFile::prepare(CacheState state) {
  if (state == CacheState::cold) return cached_->make_cold();
  constexpr double kAll = 0.999;
  if (cached_share().value_or(0) >= kAll) return;
  std::vector<std::byte> part(static_cast<std::size_t>(std::min<std::uint64_t>(kPart, size())));
  for_parts(size(), [&](std::uint64_t, std::uint64_t offset, std::size_t bytes) {
    cached_->read_at(std::span(part).first(bytes), offset);
  });
}

std::optional<double> StoredFile::cached_share() {
  const std::optional<Residency> residency = cached_->residency();
  if (!residency) return std::nullopt;
  return std::min(1.0, static_cast<double>(residency->cached) / static_cast<double>(size()));
}

void StoredFile::check(std::uint64_t first, std::uint64_t count, const Fetch& fetch, std::string_view what) {
  std::vector<std::byte> found(static_cast<std::size_t>(std::min<std::uint64_t>(kPart, size())));
  std::vector<std::byte> right(found.size());
  for_parts(size(), [&](std::uint64_t number, std::uint64_t offset, std::size_t bytes) {
    const std::uint64_t from = std::max(first, offset);
    const std::uint64_t until = std::min(first + count, offset + bytes);
    if (from >= until) return;
    const std::span<std::byte> part = std::span(found).first(until - from);
    fetch(part, from);
    if (own_) {
      pattern::fill_bytes(std::span(right).first(bytes), seed_ + number);
    } else {
      cached_->read_at(std::span(right).first(bytes), offset);
    }
    std::optional<pattern::Mismatch> wrong = pattern::compare_bytes(part, right.data() + (from - offset));
    if (wrong) wrong->offset += from;
    pattern::require(wrong, what);
  });
}

}  // namespace xferbench
