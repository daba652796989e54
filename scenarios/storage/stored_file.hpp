// The file of a storage case: a made file, filled from the seed, or a user's file, which is only read.
#pragma once

#include <cstddef>
#include <string_view>

#include "device/file.hpp"
#include "scenarios/storage/case.hpp"

namespace xferbench {

class StoredFile : NonCopyable {
 public:
  /// Opens the user's file, or makes one and writes it if `filled`. Throws FileError, also if the user's file has
  /// holes.
  StoredFile(Files& files, const StorageCase& c, std::uint64_t seed, bool filled);

  /// Bytes to load, from the beginning of the file.
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] FilePlace place() const { return cached_->place(); }
  /// The file through the page cache.
  [[nodiscard]] DataFile& cached() { return *cached_; }
  /// Opens the file once more. Throws UnavailableError if the file system does not have the route.
  [[nodiscard]] std::unique_ptr<DataFile> open_again(FileRoute route);
  [[nodiscard]] bool has_direct_route();

  /// Brings the page cache into this state, untimed.
  void prepare(CacheState state);
  /// Share of the file, 0 to 1, that the page cache holds; nothing if the system does not tell.
  [[nodiscard]] std::optional<double> cached_share();

  using Take = std::function<void(std::span<const std::byte> bytes, std::uint64_t offset)>;
  /// Calls `take` with the content of a made file, in order.
  void hand_out(const Take& take) const;
  /// Overwrites a made file with bytes that no correct file has.
  void poison();
  /// Copies loaded data, which should equal the file from `offset` on, to `to`.
  using Fetch = std::function<void(std::span<std::byte> to, std::uint64_t offset)>;
  /// Throws VerificationError if loaded data of a range differs from the file. Reads a user's file again for that.
  void check(std::uint64_t first, std::uint64_t count, const Fetch& fetch, std::string_view what);

 private:
  Files& files_;
  std::uint64_t seed_;
  std::uint64_t size_;
  bool own_;
  std::unique_ptr<DataFile> cached_;
};

}  // namespace xferbench
