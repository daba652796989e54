#include "results/file_io.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "core/error.hpp"
#include "core/printable.hpp"

namespace xferbench::file_io {

namespace {

/// Writes all of the text. `write_some(rest)` returns like write(2): the number of bytes written, or -1 with errno.
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

Descriptor open_to_append(const std::string& path, int more_flags) {
  constexpr mode_t kMode = 0666;  // the umask applies
  Descriptor file(open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK | more_flags, kMode));
  if (file) static_cast<void>(fcntl(file.number(), F_SETFL, fcntl(file.number(), F_GETFL) & ~O_NONBLOCK));
  return file;
}

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

void refuse_named_pipe(const std::string& path) {
  std::error_code unknown;
  // canonical() fails for a link in /proc to an unnamed pipe.
  if (!std::filesystem::is_fifo(path, unknown) || std::filesystem::canonical(path, unknown).empty()) return;
  throw InputError(fmt::format("cannot read {}: it is a named pipe; give an ordinary file", printable(path)));
}

}  // namespace xferbench::file_io
