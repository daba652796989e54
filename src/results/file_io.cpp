#include "results/file_io.hpp"

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace xferbench::file_io {

namespace {

/// `write_some(rest)` says as the system does how much it has written.
template <class WriteSome>
int write_all(std::string_view text, const WriteSome& write_some) {
  while (!text.empty()) {
    const ssize_t written = write_some(text);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

int write(int file, std::string_view text) {
  return write_all(text, [file](std::string_view rest) { return ::write(file, rest.data(), rest.size()); });
}

int write_at(int file, std::uint64_t at, std::string_view text) {
  const std::uint64_t end = at + text.size();
  return write_all(text, [=](std::string_view rest) {
    return pwrite(file, rest.data(), rest.size(), static_cast<off_t>(end - rest.size()));
  });
}

int read_at(int file, std::uint64_t at, std::string& text) {
  std::size_t filled = 0;
  int error = 0;
  while (filled < text.size() && error == 0) {
    const ssize_t got = pread(file, text.data() + filled, text.size() - filled, static_cast<off_t>(at + filled));
    if (got == 0) break;
    if (got < 0 && errno != EINTR) error = errno;
    if (got > 0) filled += static_cast<std::size_t>(got);
  }
  text.resize(filled);
  return error;
}

int synchronize(int file) {
  if (fsync(file) == 0 || errno == EINVAL || errno == EROFS || errno == EBADF || errno == ENOTSUP) return 0;
  return errno;
}

bool lock(int file) { return flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK; }

bool is_ordinary(int file) {
  struct stat status {};
  return fstat(file, &status) == 0 && S_ISREG(status.st_mode);
}

}  // namespace xferbench::file_io
