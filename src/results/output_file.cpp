#include "results/output_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <system_error>

#include "core/error.hpp"

namespace xferbench {

namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

[[noreturn]] void fail(const std::string& path, int error) {
  throw OutputError(fmt::format("cannot write {}: {}", path, std::strerror(error)));
}

void write_into(std::FILE* file, const std::string& path, const TextWriter& write) {
  write([&](std::string_view piece) {
    if (std::fwrite(piece.data(), 1, piece.size(), file) != piece.size()) fail(path, errno);
  });
  if (std::fflush(file) != 0) fail(path, errno);
}

/// Writes all of it; where it is to be `durable`, down to the disk, so that an error that only shows there is not
/// missed.
void write_all(const std::string& path, const char* mode, const TextWriter& write, bool durable) {
  File file(std::fopen(path.c_str(), mode), std::fclose);
  if (!file) fail(path, errno);
  write_into(file.get(), path, write);
  // EINVAL and the like: terminals and pipes have nothing to synchronise.
  if (durable && fsync(fileno(file.get())) != 0 && (errno == ENOSPC || errno == EIO || errno == EDQUOT))
    fail(path, errno);
  if (std::fclose(file.release()) != 0) fail(path, errno);
}

/// Whether the path leads to standard output, as /dev/stdout does.
bool leads_to_standard_output(const std::string& path) {
  struct stat named {};
  struct stat open {};
  return stat(path.c_str(), &named) == 0 && fstat(STDOUT_FILENO, &open) == 0 && named.st_dev == open.st_dev &&
         named.st_ino == open.st_ino;
}

}  // namespace

void write_standard_output(const std::string& text) {
  write_into(stdout, "standard output", [&](const Sink& sink) { sink(text); });
}

ResultsFile::ResultsFile(std::string path) : path_(std::move(path)), replaceable_(false) {
  // Behind /dev/stdout may be a file that the shell appends to: replacing it would destroy what it holds.
  if (leads_to_standard_output(path_)) path_ = "-";
  if (is_standard_output()) return;
  std::error_code unknown;
  const auto status = std::filesystem::status(path_, unknown);
  if (std::filesystem::is_directory(status)) fail(path_, EISDIR);
  replaceable_ = !std::filesystem::exists(status) || std::filesystem::is_regular_file(status);
  if (!replaceable_) {
    if (access(path_.c_str(), W_OK) != 0) fail(path_, errno);
    return;
  }
  // A link is followed, so that the file it names is replaced and not the link.
  if (std::filesystem::exists(status)) path_ = std::filesystem::canonical(path_).string();
  // Renaming over a write-protected file would succeed; whoever protected it did not mean that.
  if (std::filesystem::exists(status) && access(path_.c_str(), W_OK) != 0) fail(path_, errno);
  const std::filesystem::path folder = std::filesystem::absolute(path_, unknown).parent_path();
  if (!std::filesystem::exists(folder, unknown)) {
    throw OutputError(fmt::format("cannot write {}: there is no folder {}", path_, folder.string()));
  }
  const std::string beside = path_ + ".partial";
  write_all(
      beside, "w", [](const Sink&) {}, false);
  std::filesystem::remove(beside, unknown);
}

std::string ResultsFile::target() const {
  if (is_standard_output()) return path_;
  std::error_code unknown;
  const std::filesystem::path whole = std::filesystem::weakly_canonical(std::filesystem::absolute(path_), unknown);
  return unknown ? path_ : whole.string();
}

void ResultsFile::replace(const TextWriter& write, bool durable) const {
  const std::string beside = path_ + ".partial";
  std::error_code error;
  try {
    write_all(beside, "w", write, durable);
  } catch (const OutputError&) {
    std::filesystem::remove(beside, error);
    throw;
  }
  // The new file takes the old one's permissions, if there is an old one.
  const auto status = std::filesystem::status(path_, error);
  if (std::filesystem::exists(status)) std::filesystem::permissions(beside, status.permissions(), error);
  std::filesystem::rename(beside, path_, error);
  if (error) fail(path_, error.value());
}

void ResultsFile::update(const TextWriter& write) const {
  if (replaceable_) replace(write, false);  // waiting for the disk after each case would slow a sweep
}

void ResultsFile::finish(const TextWriter& write) const {
  if (is_standard_output()) return write_into(stdout, "standard output", write);
  if (replaceable_) return replace(write, true);
  write_all(path_, "a", write, true);
}

}  // namespace xferbench
