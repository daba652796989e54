#include "device/system_calls.hpp"

#include <sys/syscall.h>

#include <array>
#include <cstring>

namespace xferbench {

namespace {

// Constants of <linux/stat.h>, the table of system calls and <linux/mman.h>, which older systems' headers lack.
constexpr unsigned kAskDirectAlignment = 0x2000;       // STATX_DIOALIGN
constexpr std::size_t kDirectAlignmentAt = 152;        // stx_dio_mem_align and stx_dio_offset_align
constexpr std::size_t kStatxBytes = 256;               // struct statx, which keeps room for later members
constexpr long kCachestat = 451;                       // the same number on all architectures
using CachestatRange = std::array<std::uint64_t, 2>;   // offset, and length with 0 for all
using CachestatAnswer = std::array<std::uint64_t, 5>;  // pages: cached, dirty, being written, evicted, lately evicted

}  // namespace

int SystemCalls::fault(const char* /*call*/, std::size_t& /*bytes*/) { return 0; }

bool SystemCalls::permitted(const char* name, std::size_t& bytes) {
  const int error = fault(name, bytes);
  if (error != 0) errno = error;
  return error == 0;
}

int SystemCalls::open(const char* path, int flags, mode_t mode) {
  return made("open", [&] { return ::open(path, flags | O_CLOEXEC, mode); });
}

int SystemCalls::drop_pages(int file) {
  return made("posix_fadvise", [file] {
    const int error = ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);  // returns the error instead of setting errno
    if (error != 0) errno = error;
    return error == 0 ? 0 : -1;
  });
}

int SystemCalls::populate(std::byte* mapped, std::size_t bytes) {
  constexpr int kPopulateRead = 22;  // MADV_POPULATE_READ, which older headers lack
  return made("madvise", ::madvise, static_cast<void*>(mapped), bytes, kPopulateRead);
}

void* SystemCalls::mmap(std::size_t bytes, int file, off_t offset) {
  std::size_t none = 0;
  return permitted("mmap", none) ? ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, offset) : MAP_FAILED;
}

int SystemCalls::cachestat(int file, CachedPages& pages) {
  return made("cachestat", [&] {
    CachestatRange whole{};
    CachestatAnswer answer{};
    const long result = syscall(kCachestat, file, whole.data(), answer.data(), 0);
    pages = {answer[0], answer[1] + answer[2]};
    return static_cast<int>(result);
  });
}

int SystemCalls::direct_alignment(int file, DirectAlignment& alignment) {
  return made("statx", [&] {
    alignas(std::uint64_t) std::array<std::byte, kStatxBytes> answer{};
    if (syscall(SYS_statx, file, "", AT_EMPTY_PATH, kAskDirectAlignment, answer.data()) != 0) return -1;
    std::uint32_t told = 0;
    std::array<std::uint32_t, 2> bytes{};
    std::memcpy(&told, answer.data(), sizeof(told));
    std::memcpy(bytes.data(), answer.data() + kDirectAlignmentAt, sizeof(bytes));
    alignment = {bytes[0], bytes[1]};
    if ((told & kAskDirectAlignment) == 0) errno = ENOSYS;
    return (told & kAskDirectAlignment) == 0 ? -1 : 0;
  });
}

int SystemCalls::completed(int result) {
  std::size_t bytes = result < 0 ? 0 : static_cast<std::size_t>(result);
  const int error = fault("io_uring completion", bytes);
  if (error != 0) return -error;
  return result < 0 ? result : static_cast<int>(bytes);
}

SystemCalls& real_system_calls() {
  static SystemCalls calls;
  return calls;
}

}  // namespace xferbench
