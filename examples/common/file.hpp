// A file for the examples that read one: made in $TMPDIR or /tmp, in the page cache since it was just written, and
// deleted at the end.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "work.cuh"

namespace examples {

[[noreturn]] inline void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

/// Holds number(i) at index i, as 4 bytes each.
class NumbersFile {
 public:
  explicit NumbersFile(std::size_t bytes) {
    const char* const folder = std::getenv("TMPDIR");
    path_ = std::string(folder == nullptr ? "/tmp" : folder) + "/explain-numbers-XXXXXX";
    descriptor_ = mkstemp(path_.data());
    if (descriptor_ < 0) fail(path_);
    std::vector<std::uint32_t> block(std::size_t{1} << 20);
    for (std::size_t first = 0; first < bytes / sizeof(block[0]); first += block.size()) {
      const std::size_t count = std::min(block.size(), bytes / sizeof(block[0]) - first);
      for (std::size_t i = 0; i < count; ++i) block[i] = number(first + i);
      write_all(block.data(), count * sizeof(block[0]));
    }
  }
  NumbersFile(const NumbersFile&) = delete;
  NumbersFile& operator=(const NumbersFile&) = delete;
  ~NumbersFile() {
    close(descriptor_);
    unlink(path_.c_str());
  }

  int descriptor() const { return descriptor_; }

  /// Reads all of these bytes, from this place in the file.
  void read(void* to, std::size_t bytes, std::size_t from) const {
    for (std::size_t done = 0; done < bytes;) {
      const ssize_t got =
          pread(descriptor_, static_cast<char*>(to) + done, bytes - done, static_cast<off_t>(from + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail(path_);
      if (got == 0) throw std::runtime_error(path_ + " is shorter than it was");
      done += static_cast<std::size_t>(got);
    }
  }

 private:
  void write_all(const void* data, std::size_t bytes) {
    for (std::size_t done = 0; done < bytes;) {
      const ssize_t wrote = write(descriptor_, static_cast<const char*>(data) + done, bytes - done);
      if (wrote <= 0) {
        unlink(path_.c_str());
        fail(path_);
      }
      done += static_cast<std::size_t>(wrote);
    }
  }

  std::string path_;
  int descriptor_ = -1;
};

/// What add_up() finds in step `step` of such a file.
inline unsigned long long sum_of_numbers(std::size_t step, std::size_t count) {
  unsigned long long sum = 0;
  for (std::size_t i = step * count; i < (step + 1) * count; ++i) sum += number(i);
  return sum;
}

}  // namespace examples
