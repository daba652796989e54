// Wrappers of read() and pread() for programs that preload this library (explain --files). They record reads of files
// by a process whose recording has begun. Not recorded: reads within libc (such as fread()), io_uring, and mapped
// files.
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdint>

#include "inject/recorder.hpp"
#include "recording/signal_guard.hpp"

namespace xferbench::inject {

using recording::FileRead;

namespace {

/// Shorter reads take less time than recording them is worth.
constexpr std::size_t kLeastRecorded = 64 << 10;

/// Returns the function that a wrapper replaces, in libc or in another preloaded library.
template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// Returns a hash that differs between files, and that changes when a file is written.
std::uint64_t version_of(const struct stat& status) {
  std::uint64_t version = 0;
  for (const auto part :
       {static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino),
        static_cast<std::uint64_t>(status.st_mtim.tv_sec), static_cast<std::uint64_t>(status.st_mtim.tv_nsec)}) {
    version = (version ^ part) * 1099511628211U;  // as FNV-1a does
  }
  return version;
}

/// `offset`: of the first byte; negative: the bytes end at the descriptor's current place.
void record(Recorder& recorder, FileRead read, int descriptor, off_t offset) {
  struct stat status {};
  // Files of the system, as in /proc, have no size.
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) return;
  if (offset < 0) offset = lseek(descriptor, 0, SEEK_CUR) - static_cast<off_t>(read.bytes);
  if (offset < 0) return;
  char path[PATH_MAX];  // NOLINT(cppcoreguidelines-avoid-c-arrays)
  const ssize_t length = readlink(fmt::format("/proc/self/fd/{}", descriptor).c_str(), path, sizeof path);
  if (length <= 0) return;
  read.offset = static_cast<std::uint64_t>(offset);
  read.version = version_of(status);
  read.file = recorder.writer().name({path, static_cast<std::size_t>(length)});
  recorder.add(recording::Type::file_read, read.begin, read);
}

/// Calls `call`, which returns like read(2), and records it if it read a file.
template <class Call>
ssize_t recorded(int descriptor, std::size_t bytes, off_t offset, Call call) {
  Recorder* const recorder = bytes < kLeastRecorded ? nullptr : Recorder::existing();
  if (recorder == nullptr || !recorder->is_live()) return call();
  const recording::Time begin = now();
  const ssize_t got = call();
  const int error = errno;
  if (got >= static_cast<ssize_t>(kLeastRecorded)) {
    const SignalGuard guard;
    try {
      record(*recorder,
             {.begin = begin, .end = now(), .bytes = static_cast<std::uint64_t>(got), .thread = this_thread()},
             descriptor, offset);
    } catch (const std::exception&) {  // out of memory: this read is not recorded
    }
  }
  errno = error;
  return got;
}

}  // namespace

}  // namespace xferbench::inject

// NOLINTBEGIN(bugprone-reserved-identifier): the names are those of libc
extern "C" {

using xferbench::inject::next;
using xferbench::inject::recorded;

__attribute__((visibility("default"))) ssize_t read(int descriptor, void* memory, std::size_t bytes) {
  static auto* const real = next<ssize_t(int, void*, std::size_t)>("read");
  return recorded(descriptor, bytes, -1, [=] { return real(descriptor, memory, bytes); });
}

__attribute__((visibility("default"))) ssize_t pread(int descriptor, void* memory, std::size_t bytes, off_t offset) {
  static auto* const real = next<ssize_t(int, void*, std::size_t, off_t)>("pread");
  return recorded(descriptor, bytes, offset, [=] { return real(descriptor, memory, bytes, offset); });
}

__attribute__((visibility("default"))) ssize_t pread64(int descriptor, void* memory, std::size_t bytes,
                                                       off64_t offset) {
  static auto* const real = next<ssize_t(int, void*, std::size_t, off64_t)>("pread64");
  return recorded(descriptor, bytes, offset, [=] { return real(descriptor, memory, bytes, offset); });
}

// Programs that are compiled with _FORTIFY_SOURCE call these. `size`: of the memory.
__attribute__((visibility("default"))) ssize_t __read_chk(int descriptor, void* memory, std::size_t bytes,
                                                          std::size_t size) {
  static auto* const real = next<ssize_t(int, void*, std::size_t, std::size_t)>("__read_chk");
  return recorded(descriptor, bytes, -1, [=] { return real(descriptor, memory, bytes, size); });
}

__attribute__((visibility("default"))) ssize_t __pread_chk(int descriptor, void* memory, std::size_t bytes,
                                                           off_t offset, std::size_t size) {
  static auto* const real = next<ssize_t(int, void*, std::size_t, off_t, std::size_t)>("__pread_chk");
  return recorded(descriptor, bytes, offset, [=] { return real(descriptor, memory, bytes, offset, size); });
}

__attribute__((visibility("default"))) ssize_t __pread64_chk(int descriptor, void* memory, std::size_t bytes,
                                                             off64_t offset, std::size_t size) {
  static auto* const real = next<ssize_t(int, void*, std::size_t, off64_t, std::size_t)>("__pread64_chk");
  return recorded(descriptor, bytes, offset, [=] { return real(descriptor, memory, bytes, offset, size); });
}
}
// NOLINTEND(bugprone-reserved-identifier)
