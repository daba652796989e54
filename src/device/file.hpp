// Interface to files and to the page cache, as operations of the host. A simulated machine has a disk and a page cache
// of its own, so scenarios use this interface and never the system's calls.
//
//   std::unique_ptr<DataFile> file = host.files().open("model.safetensors", FileRoute::cached);
//   file->make_cold();
//   file->read_at(slot, 0);
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

#include "core/non_copyable.hpp"

namespace xferbench {

/// An operation on a file failed. The case fails; the run continues. The message names the file, the operation, what
/// the system said and, where it is known, what to do.
struct FileError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class FileRoute {
  cached,  ///< through the page cache
  direct,  ///< past the page cache (O_DIRECT); what is not aligned to FilePlace's numbers goes through a copy
};

/// How much of a file the page cache holds, in bytes of whole pages.
struct Residency {
  std::uint64_t cached = 0;
  std::uint64_t dirty = 0;  ///< cached and not yet written to the device; 0 if unknown
};

/// Where a file lies: facts for reports and for messages. Unknown texts are empty, unknown numbers 0.
struct FilePlace {
  std::string file_system{};          ///< as in "ext4"
  std::string device{};               ///< block device, as in "vda"; empty if there is none
  std::string scheduler{};            ///< I/O scheduler of the device, as in "none" or "mq-deadline"
  std::uint64_t readahead = 0;        ///< bytes that the system reads ahead
  std::uint64_t largest_request = 0;  ///< bytes of the largest request to the device
  bool in_memory = false;             ///< tmpfs or ramfs: there is no disk behind the file
  bool network = false;               ///< NFS, CIFS and the like: cold here may be warm on the server
  bool virtual_machine = false;       ///< the virtual machine's host may have cached data that is cold here
  std::uint64_t free_bytes = 0;       ///< free space for this user
  /// Alignment of memory and of offsets that direct transfers need, in bytes; 0: unknown or not supported. For a file
  /// that is open with FileRoute::direct, these are the values that its reads use, never 0.
  std::size_t direct_memory_alignment = 0;
  std::size_t direct_offset_alignment = 0;
};

/// A mapping of a whole file for reading (mmap). If the file becomes shorter while it is mapped, reads beyond its end
/// give zeros instead of ending the program by SIGBUS; require_intact() then throws. It may outlive its DataFile.
class FileMapping : NonCopyable {
 public:
  virtual ~FileMapping() = default;
  [[nodiscard]] virtual std::span<const std::byte> bytes() const = 0;
  /// Maps the pages of a range at once, which is faster than one fault per page. Does nothing if the system cannot.
  virtual void populate(std::size_t offset, std::size_t bytes) = 0;
  /// Announces reads of a range, whose time a simulated host charges; a real host does nothing. With `locked_next`,
  /// the time to map pages is not charged, because page-locking includes it.
  virtual void note_read(std::size_t /*offset*/, std::size_t /*bytes*/, bool /*locked_next*/) {}
  /// Throws FileError if a page of the file could not be read since the mapping was made, or if the file is shorter
  /// now. Call it after the reads and before their data is trusted.
  virtual void require_intact() const = 0;
};

/// Which threads copy data out of the page cache for a ReadQueue. Has no effect on direct reads.
enum class QueueCopies {
  by_caller,   ///< the thread that uses the queue, one read after another
  by_workers,  ///< threads of the system, several reads at once
};

/// Reads of one file that are in flight at the same time, each into a slot of its own. For one thread. The destructor
/// waits until no read is in flight; slots and file must live until then, also after an error.
class ReadQueue : NonCopyable {
 public:
  virtual ~ReadQueue() = default;

  /// Starts to read `bytes`, at least 1, from `offset` on into slot `slot`, in which no other read may be in flight.
  /// The read may be submitted only by finish(), so that several reads are one system call. Direct reads overwrite the
  /// slot up to the next aligned byte after `bytes`, if the slot is that large; other unaligned parts are read by a
  /// request of their own and copied before start() returns. Throws FileError.
  virtual void start(std::size_t slot, std::size_t bytes, std::uint64_t offset) = 0;
  /// Waits until one of the reads has ended, continues short and interrupted reads, and returns the slot, which holds
  /// all bytes. A read must be in flight. Throws FileError, also if the file ends early; then only destroy the queue.
  [[nodiscard]] virtual std::size_t finish() = 0;
  /// CPU seconds up to now of all threads that may work for the queue, including the caller.
  [[nodiscard]] virtual double cpu_now() const = 0;
};

/// An open file. Threads may use one DataFile at the same time.
class DataFile : NonCopyable {
 public:
  virtual ~DataFile() = default;

  /// Path for messages.
  [[nodiscard]] virtual const std::string& name() const = 0;
  /// Number of its open descriptor, which this object owns; -1 if there is none, as for a simulated file.
  [[nodiscard]] virtual int descriptor() const { return -1; }
  /// Bytes when the file was opened. Reads and mappings expect at least as many for as long as it is open.
  [[nodiscard]] virtual std::uint64_t size() const = 0;

  /// Reads exactly `to.size()` bytes from `offset` on. Goes on after short reads and interrupted calls. Throws
  /// FileError, also if the file ends before. With FileRoute::direct, only requests with aligned memory and offsets go
  /// straight to `to`: the rest, such as the last part of a block, takes requests of its own and a copy.
  virtual void read_at(std::span<std::byte> to, std::uint64_t offset) = 0;
  /// Writes all bytes at `offset`, within size(). Goes on after short writes and interrupted calls. With
  /// FileRoute::direct, memory, offset and number of bytes must be aligned. Throws FileError, also for a file that was
  /// opened for reading only.
  virtual void write_at(std::span<const std::byte> from, std::uint64_t offset) = 0;
  /// Makes a queue of reads into `slots` equal parts of `memory`, which divides without a rest and stays the caller's.
  /// No part may be larger than 1 GiB. Throws FileError, also if this system has no such queue (io_uring), forbids it
  /// or does not take this memory for it.
  [[nodiscard]] virtual std::unique_ptr<ReadQueue> make_queue(std::span<std::byte> memory, std::size_t slots,
                                                              QueueCopies copies) = 0;
  /// Waits until all written data is on the device (fdatasync). Throws FileError.
  virtual void sync() = 0;
  /// Maps the whole file. Throws FileError.
  [[nodiscard]] virtual std::unique_ptr<FileMapping> map() = 0;

  /// Writes dirty pages back and asks the system to drop the file's pages from the page cache. Pages that are mapped or
  /// in use stay, and so do all pages of a file in memory; see residency(). Throws FileError.
  virtual void make_cold() = 0;
  /// Returns how much of the file the page cache holds; nothing if the system does not report it, as for files of other
  /// users that this user may not write.
  [[nodiscard]] virtual std::optional<Residency> residency() = 0;
  /// Returns the offset of the first hole or unwritten range, which is read without the device; nothing if there is
  /// none or if unknown. Call it after make_cold(): cached pages of a reserved range count as written, even if they are
  /// zeros that were read.
  [[nodiscard]] virtual std::optional<std::uint64_t> first_hole() = 0;
  [[nodiscard]] virtual FilePlace place() const = 0;
};

/// Bytes that a block device has carried since the system started, for all programs.
struct DeviceTraffic {
  std::uint64_t reads = 0;
  std::uint64_t bytes_read = 0;
  std::uint64_t writes = 0;
  std::uint64_t bytes_written = 0;
};

class Files : NonCopyable {
 public:
  virtual ~Files() = default;

  /// Opens a file or a block device for reading; it is never written. Throws FileError, for FileRoute::direct also if
  /// the file system does not support it or is in memory.
  [[nodiscard]] virtual std::unique_ptr<DataFile> open(const std::string& path, FileRoute way) = 0;
  /// Makes a file of `size` bytes in `folder` for reading and writing, without a name or with one that is removed at
  /// once: nothing remains of it, however the program ends. Its space is reserved where the file system can, and is
  /// read as zeros, without the device, until it is written. Throws FileError, also if less than 5 % of `size` (at
  /// least 64 MiB) would remain free.
  [[nodiscard]] virtual std::unique_ptr<DataFile> make_temporary(const std::string& folder, std::uint64_t size) = 0;
  /// Opens the file of another object of this host again by another route, with the same access (reading or writing).
  /// Throws FileError as open() does.
  [[nodiscard]] virtual std::unique_ptr<DataFile> reopen(const DataFile& file, FileRoute way) = 0;
  /// Whether `path` is a folder. Throws FileError if it does not exist.
  [[nodiscard]] virtual bool is_folder(const std::string& path) = 0;
  /// Returns facts about a file or a folder. Throws FileError if it does not exist.
  [[nodiscard]] virtual FilePlace place_of(const std::string& path) = 0;
  /// Bytes that this process has caused the system to read from devices so far; nothing if unknown.
  [[nodiscard]] virtual std::optional<std::uint64_t> bytes_from_device() = 0;
  /// Returns the traffic of the block device at that place; nothing if there is none or if unknown.
  [[nodiscard]] virtual std::optional<DeviceTraffic> traffic_of(const FilePlace& place) = 0;
};

}  // namespace xferbench
