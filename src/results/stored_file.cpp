#include "results/stored_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/printable.hpp"
#include "results/file_io.hpp"
#include "results/trace_file.hpp"

namespace xferbench {

namespace {

using CFile = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// Largest plausible ratio of decompressed to compressed size. Results files reach 5 to 15, those of simulated devices
/// more. A malicious file, made to fill a disk, reaches 7000.
constexpr std::uint64_t kMostTimes = 100;
constexpr std::uint64_t kSurelyHarmless = std::uint64_t{64} << 20;

Descriptor opened(const std::string& path) {
  file_io::refuse_named_pipe(path);
  Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) throw InputError(fmt::format("cannot read {}: {}", printable(path), std::strerror(errno)));
  return file;
}

/// Returns the first `bytes` bytes of the file; empty for files that can be read only once.
std::string beginning_of(const Descriptor& file, std::size_t bytes) {
  std::string text(bytes, '\0');
  if (file_io::read_at(file.number(), 0, text) != 0) text.clear();
  return text;
}

bool is_packed(const Descriptor& file) {
  return beginning_of(file, 6) == std::string_view(
                                      "\xfd"
                                      "7zXZ\0",
                                      6);
}

/// Writes the output of xz for this file to `text`. Returns the exit status of xz, as wait() does.
int unpack(const std::string& path, const Descriptor& packed, std::FILE* text) {
  struct stat status {};
  fstat(packed.number(), &status);
  const std::uint64_t most = std::max(kSurelyHarmless, kMostTimes * static_cast<std::uint64_t>(status.st_size));
  // A descriptor's number, unlike a path, is safe in a shell command. No preset of xz needs more than 64 MiB of
  // dictionary.
  const std::string command =
      fmt::format("exec xz -dc --memlimit-decompress=128MiB < /proc/{}/fd/{} 2> /dev/null", getpid(), packed.number());
  CFile xz(popen(command.c_str(), "re"), pclose);
  if (!xz) throw InputError(fmt::format("cannot unpack {}: {}", printable(path), std::strerror(errno)));
  std::vector<char> piece(std::size_t{1} << 18);
  std::uint64_t bytes = 0;
  while (const std::size_t size = std::fread(piece.data(), 1, piece.size(), xz.get())) {
    bytes += size;
    if (bytes > most) {
      throw InputError(fmt::format("{}: its {} bytes unpack to more than {} MiB; xferbench writes no such file",
                                   printable(path), status.st_size, most >> 20));
    }
    if (std::fwrite(piece.data(), 1, size, text) != size) break;
  }
  if (std::fflush(text) != 0) {
    throw InputError(fmt::format("cannot unpack {}: no space in the folder for temporary files ({})", printable(path),
                                 std::strerror(errno)));
  }
  return pclose(xz.release());
}

}  // namespace

Descriptor unpacked(const std::string& path) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return {};  // the caller's own attempt to read it reports why
  const Descriptor packed = opened(path);
  if (!is_packed(packed)) return {};
  const CFile text(std::tmpfile(), std::fclose);
  if (!text) throw InputError(fmt::format("cannot unpack {}: {}", printable(path), std::strerror(errno)));
  const int end = unpack(path, packed, text.get());
  constexpr int kNotFound = 127;  // exit code of a shell
  if (WIFEXITED(end) && WEXITSTATUS(end) == kNotFound) {
    throw InputError(fmt::format(
        "{} is compressed with xz, but xz is not installed: install xz-utils, or unpack the file elsewhere with xz -dk",
        printable(path)));
  }
  if (end != 0) {
    throw InputError(fmt::format("{}: xz cannot unpack it: it is damaged or truncated; see xz -t", printable(path)));
  }
  return Descriptor(fcntl(fileno(text.get()), F_DUPFD_CLOEXEC, 0));
}

Descriptor open_stored(const std::string& path) {
  Descriptor text = unpacked(path);
  return text ? std::move(text) : opened(path);
}

std::string schema_of(const std::string& path) {
  const std::string text = beginning_of(open_stored(path), 200);
  if (text.starts_with(fmt::format("{{\"{}\"", kTraceEvents))) return std::string(kTraceEvents);
  constexpr std::string_view kSchemaField = "\"schema\"";
  const std::size_t name = text.find(kSchemaField);
  if (name == std::string::npos) return {};
  const std::size_t begin = text.find('"', name + kSchemaField.size());
  const std::size_t end = begin == std::string::npos ? begin : text.find('"', begin + 1);
  return end == std::string::npos ? std::string() : printable(text.substr(begin + 1, end - begin - 1));
}

}  // namespace xferbench
