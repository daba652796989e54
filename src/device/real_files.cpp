#include "device/real_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/descriptor.hpp"
#include "core/printable.hpp"
#include "core/units.hpp"
#include "device/file_failure.hpp"
#include "device/file_place.hpp"
#include "device/mapping_guard.hpp"
#include "device/pages.hpp"
#include "device/uring_queue.hpp"

namespace xferbench {

namespace {

// Alignment if the system does not report what direct transfers need. All common devices have blocks of 512 or of 4096
// bytes, and the larger number suits both.
constexpr DirectAlignment kLargestUsual{4096, 4096};

constexpr std::uint64_t round_down(std::uint64_t number, std::uint64_t step) { return number / step * step; }
constexpr std::uint64_t round_up(std::uint64_t number, std::uint64_t step) {
  return round_down(number + step - 1, step);
}

using SharedDescriptor = std::shared_ptr<const Descriptor>;

/// A path that opens the same file again, also one without a name.
std::string own_path_of(const Descriptor& file) { return fmt::format("/proc/self/fd/{}", file.number()); }

SharedDescriptor opened(SystemCalls& calls, const std::string& path, int flags, std::string_view operation,
                        std::string_view name) {
  const int number = calls.open(path.c_str(), flags, S_IRUSR | S_IWUSR);
  if (number < 0) fail_at(operation, name, errno);
  return std::make_shared<Descriptor>(number);
}

// --- Mapped ---------------------------------------------------------------------------------------------------------

class MappedBytes : NonCopyable {
 public:
  MappedBytes(void* data, std::size_t bytes) : all_(static_cast<std::byte*>(data), bytes) {}
  ~MappedBytes() { ::munmap(all_.data(), all_.size()); }
  [[nodiscard]] std::span<std::byte> all() const { return all_; }

 private:
  std::span<std::byte> all_;
};

/// Shared and read-only, so that the driver can register the page cache's own pages. Gives no advice (madvise) about
/// the order of reads, because programs that map models give none.
class RealMapping final : public FileMapping {
 public:
  RealMapping(SystemCalls& calls, SharedDescriptor file, std::string name, void* mapped, std::size_t bytes)
      : calls_(calls), file_(std::move(file)), name_(std::move(name)), mapped_(mapped, bytes), guard_(mapped_.all()) {}

  [[nodiscard]] std::span<const std::byte> bytes() const override { return mapped_.all(); }

  /// Pages that could not be read are found by require_intact() after the reads.
  void populate(std::size_t offset, std::size_t bytes) override {
    const std::size_t begin = round_down(offset, page_bytes());
    static_cast<void>(calls_.populate(mapped_.all().data() + begin, offset + bytes - begin));
  }

  void require_intact() const override {
    struct stat facts {};
    if (calls_.fstat(file_->number(), facts) != 0) fail_at("check the size of", name_, errno);
    const auto now = static_cast<std::uint64_t>(facts.st_size);
    // A file that ends within the last page is read as zeros from there on, without a signal.
    if (S_ISREG(facts.st_mode) && now < mapped_.all().size()) {
      throw FileError(fmt::format("{} ended at {} bytes, expected {}: it became shorter while it was mapped", name_,
                                  now, mapped_.all().size()));
    }
    if (!guard_.broken()) return;
    throw FileError(
        fmt::format("cannot read all of {} while it is mapped: its device or its file system failed, or it "
                    "was shorter for a time; look at the kernel's log (dmesg)",
                    name_));
  }

 private:
  SystemCalls& calls_;
  SharedDescriptor file_;
  std::string name_;
  MappedBytes mapped_;
  MappingGuard guard_;  // last member: it ends before the mapping
};

/// A file without bytes cannot be mapped.
struct EmptyMapping final : FileMapping {
  [[nodiscard]] std::span<const std::byte> bytes() const override { return {}; }
  void populate(std::size_t, std::size_t) override {}
  void require_intact() const override {}
};

// --- An open file ---------------------------------------------------------------------------------------------------

struct FreeAligned {
  void operator()(std::byte* data) const { std::free(data); }
};
using AlignedBytes = std::unique_ptr<std::byte, FreeAligned>;

AlignedBytes aligned_bytes(std::size_t alignment, std::size_t bytes) {
  AlignedBytes made(static_cast<std::byte*>(std::aligned_alloc(alignment, round_up(bytes, alignment))));
  if (!made) throw std::bad_alloc();
  return made;
}

class RealFile final : public DataFile {
 public:
  struct Opened {
    SharedDescriptor file;
    std::string name;
    bool writable = false;
    std::optional<DirectAlignment> direct;  // nothing: through the page cache
  };

  RealFile(SystemCalls& calls, Opened opened) : calls_(calls), opened_(std::move(opened)) {
    struct stat facts {};
    if (calls_.fstat(number(), facts) != 0) fail_at("open", name(), errno);
    const off_t size = S_ISBLK(facts.st_mode) ? calls_.lseek(number(), 0, SEEK_END) : facts.st_size;
    if (size < 0) fail_at("find the size of", name(), errno);
    size_ = static_cast<std::uint64_t>(size);
    owner_ = facts.st_uid;
  }

  [[nodiscard]] const Opened& opened() const { return opened_; }
  [[nodiscard]] const std::string& name() const override { return opened_.name; }
  [[nodiscard]] int descriptor() const override { return number(); }
  [[nodiscard]] std::uint64_t size() const override { return size_; }

  void read_at(std::span<std::byte> to, std::uint64_t offset) override;
  void write_at(std::span<const std::byte> from, std::uint64_t offset) override;
  [[nodiscard]] std::unique_ptr<ReadQueue> make_queue(std::span<std::byte> memory, std::size_t slots,
                                                      QueueCopies copies) override {
    return make_uring_queue(calls_, {*this, number(), opened_.direct}, memory, slots, copies);
  }
  void sync() override;
  [[nodiscard]] std::unique_ptr<FileMapping> map() override;
  void make_cold() override;
  [[nodiscard]] std::optional<Residency> residency() override;
  [[nodiscard]] std::optional<std::uint64_t> first_hole() override;
  [[nodiscard]] FilePlace place() const override;

 private:
  [[nodiscard]] int number() const { return opened_.file->number(); }
  [[nodiscard]] std::size_t read_once(std::span<std::byte> to, std::uint64_t offset);
  [[nodiscard]] std::size_t read_direct(std::span<std::byte> to, std::uint64_t offset);
  [[nodiscard]] std::size_t read_through_copy(std::span<std::byte> to, std::uint64_t offset);
  [[noreturn]] void fail_writing(const std::string& operation, int error, std::uint64_t bytes);
  [[nodiscard]] std::optional<Residency> mapped_residency();

  SystemCalls& calls_;
  Opened opened_;
  std::uint64_t size_ = 0;
  uid_t owner_ = 0;
};

void RealFile::read_at(std::span<std::byte> to, std::uint64_t offset) {
  require_inside("read", to.size(), offset, name(), size_);
  while (!to.empty()) {
    const std::size_t got = opened_.direct ? read_direct(to, offset) : read_once(to, offset);
    if (got == 0) {
      throw FileError(
          fmt::format("{} ended at {} bytes, expected {}: it became shorter while it was read", name(), offset, size_));
    }
    to = to.subspan(got);
    offset += got;
  }
}

/// Returns how many bytes one request read; 0 at the end of the file.
std::size_t RealFile::read_once(std::span<std::byte> to, std::uint64_t offset) {
  const ssize_t got = calls_.pread(number(), to, offset);
  if (got >= 0) return static_cast<std::size_t>(got);
  fail_reading(name(), to.size(), offset, errno, opened_.direct);
}

std::size_t RealFile::read_direct(std::span<std::byte> to, std::uint64_t offset) {
  const DirectAlignment needed = *opened_.direct;
  const bool aligned = offset % needed.offset == 0 && reinterpret_cast<std::uintptr_t>(to.data()) % needed.memory == 0;
  const std::size_t whole = round_down(to.size(), needed.offset);
  return aligned && whole > 0 ? read_once(to.first(whole), offset) : read_through_copy(to, offset);
}

/// Reads whole blocks to a small aligned buffer and copies them to `to`. Ends at the next block's start if memory is
/// aligned from there on.
std::size_t RealFile::read_through_copy(std::span<std::byte> to, std::uint64_t offset) {
  constexpr std::size_t kMost = 256 * KiB;
  const DirectAlignment needed = *opened_.direct;
  const std::size_t skipped = offset % needed.offset;
  const std::size_t head = skipped == 0 ? 0 : needed.offset - skipped;
  const bool aligned_then = head > 0 && reinterpret_cast<std::uintptr_t>(to.data() + head) % needed.memory == 0;
  const std::size_t wanted = std::min({to.size(), aligned_then ? head : to.size(), kMost});
  const std::size_t bytes = round_up(skipped + wanted, needed.offset);
  const AlignedBytes copy = aligned_bytes(std::max(needed.memory, kLargestUsual.memory), bytes);
  const std::size_t got = read_once({copy.get(), bytes}, offset - skipped);
  if (got <= skipped) return 0;
  const std::size_t delivered = std::min(got - skipped, wanted);
  std::memcpy(to.data(), copy.get() + skipped, delivered);
  return delivered;
}

void RealFile::write_at(std::span<const std::byte> from, std::uint64_t offset) {
  const std::string what = fmt::format("write {} bytes at offset {} of", from.size(), offset);
  if (!opened_.writable) throw FileError(fmt::format("cannot {} {}: it is open for reading only", what, name()));
  require_inside("write", from.size(), offset, name(), size_);
  while (!from.empty()) {
    const ssize_t put = calls_.pwrite(number(), from, offset);
    if (put <= 0) fail_writing(what, put == 0 ? EIO : errno, from.size());
    from = from.subspan(static_cast<std::size_t>(put));
    offset += static_cast<std::size_t>(put);
  }
}

void RealFile::fail_writing(const std::string& operation, int error, std::uint64_t bytes) {
  if (error == EINVAL && opened_.direct) {
    fail_at(operation, name(), error,
            fmt::format("direct writes need memory aligned to {} bytes, offsets and sizes to {}: write through the "
                        "page cache instead",
                        opened_.direct->memory, opened_.direct->offset));
  }
  if (error != ENOSPC && error != EDQUOT) fail_at(operation, name(), error);
  fail_at(operation, name(), error,
          fmt::format("{} were still to be written and {} are free; choose a smaller --size or another --path",
                      format_size(bytes), format_size(place().free_bytes)));
}

void RealFile::sync() {
  if (calls_.fdatasync(number()) != 0) fail_writing("write all data to the device of", errno, size_);
}

std::unique_ptr<FileMapping> RealFile::map() {
  if (size_ == 0) return std::make_unique<EmptyMapping>();
  void* mapped = calls_.mmap(size_, number(), 0);
  if (mapped == MAP_FAILED) fail_at("map", name(), errno);
  try {
    return std::make_unique<RealMapping>(calls_, opened_.file, name(), mapped, size_);
  } catch (const std::system_error& error) {
    fail_at("map", name(), error.code().value(), "it could not be protected against a file that becomes shorter");
  }
}

void RealFile::make_cold() {
  // Dirty pages cannot be dropped, so they are written first. Another process may have written a file that is open for
  // reading only here, and some file systems have nothing to write back (EINVAL, EROFS).
  if (calls_.fdatasync(number()) != 0 && errno != EINVAL && errno != EROFS) {
    fail_writing("write all data to the device of", errno, size_);
  }
  if (calls_.drop_pages(number()) != 0) fail_at("drop from the page cache", name(), errno);
}

std::optional<Residency> RealFile::residency() {
  CachedPages pages;
  if (calls_.cachestat(number(), pages) != 0) return mapped_residency();
  return Residency{pages.cached * page_bytes(), pages.dirty * page_bytes()};
}

/// For systems without cachestat(), or with a seccomp filter that blocks it.
std::optional<Residency> RealFile::mapped_residency() {
  // For other users' files, mincore() reports all pages as cached.
  const std::string path = own_path_of(*opened_.file);
  if (owner_ != ::geteuid() && ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0) return std::nullopt;
  constexpr std::uint64_t kPart = GiB;  // the answer takes one byte a page
  std::vector<unsigned char> pages;
  Residency found;
  for (std::uint64_t offset = 0; offset < size_; offset += kPart) {
    const std::size_t bytes = std::min(kPart, size_ - offset);
    void* data = calls_.mmap(bytes, number(), static_cast<off_t>(offset));
    if (data == MAP_FAILED) return std::nullopt;
    const MappedBytes mapped(data, bytes);
    pages.assign(round_up(bytes, page_bytes()) / page_bytes(), 0);
    if (calls_.mincore(mapped.all().data(), bytes, pages.data()) != 0) return std::nullopt;
    for (const unsigned char page : pages) found.cached += (page & 1U) * page_bytes();
  }
  return found;
}

std::optional<std::uint64_t> RealFile::first_hole() {
  const off_t hole = calls_.lseek(number(), 0, SEEK_HOLE);
  if (hole < 0 || static_cast<std::uint64_t>(hole) >= size_) return std::nullopt;
  return static_cast<std::uint64_t>(hole);
}

FilePlace RealFile::place() const {
  FilePlace place = place_of_open_file(calls_, number());
  if (opened_.direct) {
    place.direct_memory_alignment = opened_.direct->memory;
    place.direct_offset_alignment = opened_.direct->offset;
  }
  return place;
}

// --- Opening --------------------------------------------------------------------------------------------------------

void require_readable_kind(mode_t mode, std::string_view name) {
  if (S_ISREG(mode) || S_ISBLK(mode)) return;
  const std::string_view kind = S_ISDIR(mode)    ? "a folder"
                                : S_ISFIFO(mode) ? "a pipe"
                                : S_ISSOCK(mode) ? "a socket"
                                                 : "a character device";
  throw FileError(fmt::format("{} is {}, expected a file; name a file or a block device", name, kind));
}

/// Returns which alignment the file needs. Throws FileError if it does not support direct transfers.
DirectAlignment required_alignment(SystemCalls& calls, int file, std::string_view name) {
  DirectAlignment told;
  if (calls.direct_alignment(file, told) != 0) return kLargestUsual;
  if (told.memory != 0 && told.offset != 0) return told;
  throw FileError(fmt::format("the file system does not support direct reads of {}; {}", name, kThroughCache));
}

/// Opening proves nothing: some file systems accept O_DIRECT and then refuse reads.
void try_direct_read(SystemCalls& calls, int file, DirectAlignment needed, std::string_view name) {
  const AlignedBytes block = aligned_bytes(std::max(needed.memory, kLargestUsual.memory), needed.offset);
  if (calls.pread(file, {block.get(), needed.offset}, 0) >= 0) return;
  fail_at("read directly from", name, errno, kThroughCache);
}

[[noreturn]] void fail_for_space(std::string_view name, std::uint64_t size, std::uint64_t free, std::uint64_t reserve) {
  throw FileError(
      fmt::format("cannot make {} of {}: {} are free there, of which {} are to stay free; choose a smaller "
                  "--size or another --path",
                  name, format_size(size), format_size(free), format_size(reserve)));
}

/// Gives the file its size and its space, so that a full disk shows now and not in the middle of a measurement.
void reserve_space(SystemCalls& calls, int file, std::string_view name, std::uint64_t size) {
  struct statvfs space {};
  if (calls.fstatvfs(file, space) != 0) fail_at("find the free space for", name, errno);
  const std::uint64_t free = std::uint64_t{space.f_bavail} * space.f_frsize;
  const std::uint64_t reserve = std::max(size / 20, 64 * MiB);
  const bool known = space.f_blocks != 0;  // a tmpfs without a limit has 0
  if (known && (free < reserve || free - reserve < size)) fail_for_space(name, size, free, reserve);
  if (size == 0) return;
  // posix_fallocate() is not used: it writes to each block if the file system cannot reserve space.
  if (calls.fallocate(file, static_cast<off_t>(size)) == 0) return;
  if (errno == ENOSPC || errno == EDQUOT) fail_for_space(name, size, free, reserve);
  if (errno != EOPNOTSUPP && errno != ENOSYS) fail_at("reserve the space of", name, errno);
  if (calls.ftruncate(file, static_cast<off_t>(size)) != 0) fail_at("set the size of", name, errno);
}

/// Makes a file and removes its name at once, for file systems without files that have no name (O_TMPFILE).
SharedDescriptor nameless_by_removal(SystemCalls& calls, const std::string& folder, std::string_view name) {
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    const std::string path = fmt::format("{}/.xferbench-{}-{}", folder, ::getpid(), i);
    const int number = calls.open(path.c_str(), O_RDWR | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
    if (number < 0 && errno == EEXIST) continue;
    if (number < 0) fail_at("make", name, errno);
    auto file = std::make_shared<Descriptor>(number);
    if (calls.unlink(path.c_str()) != 0) fail_at("remove the name of", name, errno, "remove " + printable(path));
    return file;
  }
  fail_at("make", name, EEXIST, "remove files named .xferbench-* from there");
}

class RealFiles final : public Files {
 public:
  explicit RealFiles(SystemCalls& calls) : calls_(calls) {}

  std::unique_ptr<DataFile> open(const std::string& path, FileRoute way) override {
    const std::string name = printable(path);
    // Opening a device or a pipe can have effects or block, so its kind is found first, and once more for the file that
    // was then opened.
    require_readable_kind(facts_of(path).st_mode, name);
    SharedDescriptor file = opened(calls_, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, "open", name);
    struct stat facts {};
    if (calls_.fstat(file->number(), facts) != 0) fail_at("open", name, errno);
    require_readable_kind(facts.st_mode, name);
    auto cached = std::make_unique<RealFile>(calls_, RealFile::Opened{std::move(file), name, false, {}});
    if (way == FileRoute::direct) return reopen(*cached, way);
    return cached;
  }

  std::unique_ptr<DataFile> make_temporary(const std::string& folder, std::uint64_t size) override {
    const std::string name = "a temporary file in " + printable(folder);
    if (!is_folder(folder)) throw FileError(printable(folder) + " is a file, expected a folder; name a folder");
    constexpr int kFlags = O_TMPFILE | O_RDWR;
    const int number = calls_.open(folder.c_str(), kFlags, S_IRUSR | S_IWUSR);
    const bool unsupported = number < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL);
    if (number < 0 && !unsupported) fail_at("make", name, errno);
    SharedDescriptor file =
        unsupported ? nameless_by_removal(calls_, folder, name) : std::make_shared<Descriptor>(number);
    reserve_space(calls_, file->number(), name, size);
    return std::make_unique<RealFile>(calls_, RealFile::Opened{std::move(file), name, true, {}});
  }

  std::unique_ptr<DataFile> reopen(const DataFile& file, FileRoute way) override {
    const RealFile::Opened& other = dynamic_cast<const RealFile&>(file).opened();
    const std::string& name = other.name;
    const std::string path = own_path_of(*other.file);
    const int access = other.writable ? O_RDWR : O_RDONLY | O_NONBLOCK;
    RealFile::Opened again{nullptr, name, other.writable, {}};
    if (way == FileRoute::cached) {
      again.file = opened(calls_, path, access, "open", name);
    } else {
      const FilePlace place = file.place();
      if (place.in_memory) {
        throw FileError(
            fmt::format("{} has no disk behind it: direct reads mean nothing here ({}); choose a file on a "
                        "disk, or {}",
                        place.file_system, name, kThroughCache));
      }
      const int number = calls_.open(path.c_str(), access | O_DIRECT);
      if (number < 0) fail_at("read directly from", name, errno, errno == EINVAL ? kThroughCache : "");
      again.file = std::make_shared<Descriptor>(number);
      again.direct = required_alignment(calls_, number, name);
      try_direct_read(calls_, number, *again.direct, name);
    }
    return std::make_unique<RealFile>(calls_, std::move(again));
  }

  bool is_folder(const std::string& path) override { return S_ISDIR(facts_of(path).st_mode); }

  FilePlace place_of(const std::string& path) override {
    const SharedDescriptor file = opened(calls_, path, O_PATH, "look at", printable(path));
    return place_of_open_file(calls_, file->number());
  }

  std::optional<DeviceTraffic> traffic_of(const FilePlace& place) override { return traffic_of_device(place.device); }
  std::optional<std::uint64_t> bytes_from_device() override {
    std::ifstream counters("/proc/self/io");
    std::uint64_t bytes = 0;
    for (std::string word; counters >> word;) {
      if (word == "read_bytes:" && counters >> bytes) return bytes;
    }
    return std::nullopt;
  }

 private:
  struct stat facts_of(const std::string& path) {
    struct stat facts {};
    if (calls_.stat(path.c_str(), facts) != 0) fail_at("open", printable(path), errno);
    return facts;
  }

  SystemCalls& calls_;
};

}  // namespace

std::unique_ptr<Files> make_real_files(SystemCalls& calls) { return std::make_unique<RealFiles>(calls); }

}  // namespace xferbench
