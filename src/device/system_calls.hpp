// The system's calls on files, in one place, so that a test can make each of them fail or stop short.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "core/non_copyable.hpp"

namespace xferbench {

/// Alignment that direct transfers of one file need, in bytes; 0: the file does not support them.
struct DirectAlignment {
  std::size_t memory = 0;
  std::size_t offset = 0;
};

struct CachedPages {
  std::uint64_t cached = 0;
  std::uint64_t dirty = 0;  ///< not yet written to the device, or being written
};

/// Calls that are named as in the system behave like them: -1 (MAP_FAILED) and errno say that one failed. A call that a
/// signal interrupted is made again. Threads may use one object at the same time.
class SystemCalls : NonCopyable {
 public:
  virtual ~SystemCalls() = default;

  int open(const char* path, int flags, mode_t mode = 0);
  int unlink(const char* path) { return made("unlink", ::unlink, path); }
  int stat(const char* path, struct stat& facts) { return made("stat", ::stat, path, &facts); }
  int fstat(int file, struct stat& facts) { return made("fstat", ::fstat, file, &facts); }
  int fstatfs(int file, struct statfs& facts) { return made("fstatfs", ::fstatfs, file, &facts); }
  int fstatvfs(int file, struct statvfs& facts) { return made("fstatvfs", ::fstatvfs, file, &facts); }
  ssize_t pread(int file, std::span<std::byte> to, std::uint64_t offset) {
    return moved("pread", ::pread, file, to, offset);
  }
  ssize_t pwrite(int file, std::span<const std::byte> from, std::uint64_t offset) {
    return moved("pwrite", ::pwrite, file, from, offset);
  }
  int fdatasync(int file) { return made("fdatasync", ::fdatasync, file); }
  int ftruncate(int file, off_t size) { return made("ftruncate", ::ftruncate, file, size); }
  int fallocate(int file, off_t size) { return made("fallocate", ::fallocate, file, 0, 0, size); }
  off_t lseek(int file, off_t offset, int whence) { return made("lseek", ::lseek, file, offset, whence); }
  int mincore(void* mapped, std::size_t bytes, unsigned char* pages) {
    return made("mincore", ::mincore, mapped, bytes, pages);
  }
  /// Advises that the pages of the whole file are not needed (posix_fadvise).
  int drop_pages(int file);
  /// Maps `bytes` from `offset` on for reading, shared.
  void* mmap(std::size_t bytes, int file, off_t offset);
  /// Maps the pages of a range of a mapping (madvise, Linux 5.14).
  int populate(std::byte* mapped, std::size_t bytes);
  /// Counts the whole file's pages in the page cache (cachestat, Linux 6.5).
  int cachestat(int file, CachedPages& pages);
  /// Gets the alignment for direct transfers by statx (Linux 6.1); ENOSYS if statx does not report it.
  int direct_alignment(int file, DirectAlignment& alignment);

  /// Makes a call of liburing, which returns an error number as a negative result. `name` is the system's call.
  template <class Call>
  int ring(const char* name, Call call) {
    for (;;) {
      std::size_t none = 0;
      const int error = fault(name, none);
      const int result = error != 0 ? -error : call();
      if (result != -EINTR) return result;
    }
  }
  /// Returns the result of a read that a ring has ended: its bytes, or an error number as a negative one.
  int completed(int result);

 protected:
  /// Called before each call of this name. Returns 0 to make it, or the error number with which it fails instead. May
  /// reduce `bytes` where the call reads or writes; it is 0 for other calls.
  virtual int fault(const char* call, std::size_t& bytes);

 private:
  /// Whether the call may be made. If not, sets errno to the injected error.
  bool permitted(const char* name, std::size_t& bytes);

  template <class Call, class... Arguments>
  std::invoke_result_t<Call, Arguments...> made(const char* name, Call call, Arguments... arguments) {
    for (;;) {
      std::size_t none = 0;
      const std::invoke_result_t<Call, Arguments...> result = permitted(name, none) ? call(arguments...) : -1;
      if (result != -1 || errno != EINTR) return result;
    }
  }
  template <class Call, class Byte>
  ssize_t moved(const char* name, Call call, int file, std::span<Byte> range, std::uint64_t offset) {
    for (;;) {
      std::size_t bytes = range.size();
      const ssize_t done = permitted(name, bytes) ? call(file, range.data(), bytes, static_cast<off_t>(offset)) : -1;
      if (done != -1 || errno != EINTR) return done;
    }
  }
};

/// The system's calls without faults.
SystemCalls& real_system_calls();

}  // namespace xferbench
