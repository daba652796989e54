// The timed regions of one case of scenario storage, and their verification.
#pragma once

#include <cstddef>
#include <string_view>

#include "measure/region.hpp"
#include "run/scenario.hpp"
#include "scenarios/common/peer_access.hpp"
#include "scenarios/storage/case.hpp"
#include "scenarios/storage/loader.hpp"
#include "scenarios/storage/stored_file.hpp"

namespace xferbench {

inline constexpr const char* kReadAlone = "read-alone";
inline constexpr const char* kFastestRead = "fastest-read";
inline constexpr const char* kWriteAlone = "write-alone";
inline constexpr const char* kFastestWrite = "fastest-write";
inline constexpr const char* kLinkOnly = "pinned-link";

class StorageTransfer : NonCopyable {
 public:
  /// Opens or makes the file, which all cases of a run with the same path and size share. `same_work`: a transfer of
  /// the same file, whose GPU memory is then shared; null: allocates its own.
  StorageTransfer(const StorageCase& c, const RunContext& bench, const StorageTransfer* same_work = nullptr);

  static MemoryNeeds needs(const StorageCase& c);

  /// A region that loads or saves in the case's way. Its parts are named in storage.cpp.
  [[nodiscard]] Region whole_way();
  /// Like whole_way(), but without parts, for a caller that times the region by itself.
  [[nodiscard]] Region without_parts();
  /// A region of the same way into the same host memory, without the GPU.
  [[nodiscard]] Region file_alone();
  /// A region of the fastest way to read or write without the GPU, as tried once in the run.
  [[nodiscard]] Region fastest_file();
  /// A region that copies as many bytes from or to page-locked memory. With several GPUs, each copies its share over
  /// its own link, all at once.
  [[nodiscard]] Region link_only();

  /// Runs one pass on poisoned memory. Throws VerificationError if a byte is wrong on any GPU.
  void verify();

  [[nodiscard]] const FilePlace& place() const { return place_; }
  [[nodiscard]] std::size_t parts() const { return parts_; }
  /// Number of reads of way cufile by each path so far; nothing if cuFile does not report it. Only for that way.
  [[nodiscard]] std::optional<CufilePaths> cufile_paths() { return way_->other_process()->paths(); }
  /// Largest share of the file, 0 to 1, that was in the page cache before a cold pass, or was not before a warm one.
  [[nodiscard]] double missed_state() const { return missed_; }

 private:
  [[nodiscard]] Region file_passes(const char* name, std::shared_ptr<FileWay> way);
  void prepare();
  /// Bytes that the loading process has caused the system to read from devices so far; nothing if unknown.
  [[nodiscard]] std::optional<std::uint64_t> bytes_from_device();
  /// Enqueues the copies of link_only() for one of gpus_.
  void copy_pinned(std::size_t gpu) const;
  void check(std::string_view what);

  const RunContext& bench_;
  Device& device_;
  StorageCase case_;
  std::shared_ptr<StoredFile> file_;
  FilePlace place_;
  std::size_t parts_;                 // parts of the whole file
  std::optional<PeerAccess> access_;  // declared before the memory, so that peer access ends after the memory is freed
  std::vector<FileOnGpu> gpus_;
  std::vector<Stream> streams_;  // one for each of gpus_
  std::shared_ptr<FileWay> way_;
  HostBuffer pinned_;  // page-locked memory of link_only()
  double missed_ = 0;
};

}  // namespace xferbench
