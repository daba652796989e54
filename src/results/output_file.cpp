#include "results/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "core/descriptor.hpp"
#include "core/error.hpp"
#include "results/file_io.hpp"

namespace xferbench {

namespace {

[[noreturn]] void fail(const std::string& path, int error) {
  throw OutputError(fmt::format("cannot write {}: {}", path, std::strerror(error)));
}

void write_to(int descriptor, const std::string& path, const TextWriter& write_text) {
  write_text([&](std::string_view piece) {
    const int error = file_io::write(descriptor, piece);
    if (error == EPIPE && descriptor == STDOUT_FILENO)
      throw ClosedPipeError("cannot write standard output: its reader has closed it");
    if (error != 0) fail(path, error);
  });
}

/// Appends to a file that cannot be replaced, such as a pipe, and keeps its present contents.
void append_to(const std::string& path, const TextWriter& write_text) {
  const Descriptor file = file_io::open_to_append(path);
  if (!file && errno == ENXIO) throw OutputError(fmt::format("cannot write {}: no process reads from this pipe", path));
  if (!file) fail(path, errno);
  write_to(file.number(), path, write_text);
}

/// Whether the path leads to a regular file or to no file, which ReplacedFile can write. Also true for a folder, for
/// which ReplacedFile reports the error.
bool can_be_replaced(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode) || S_ISDIR(status.st_mode);
}

}  // namespace

bool leads_to_standard_output(const std::string& path) {
  struct stat named {};
  struct stat open {};
  return stat(path.c_str(), &named) == 0 && fstat(STDOUT_FILENO, &open) == 0 && named.st_dev == open.st_dev &&
         named.st_ino == open.st_ino;
}

void write_standard_output(const std::string& text) {
  write_to(STDOUT_FILENO, "standard output", [&](const Sink& sink) { sink(text); });
}

ResultsFile::ResultsFile(std::string path, Previous previous) : path_(std::move(path)) {
  // /dev/stdout may be a file that the shell appends to; replacing it would destroy its contents.
  if (leads_to_standard_output(path_)) path_ = "-";
  if (is_standard_output()) return;
  if (can_be_replaced(path_)) {
    replaced_.emplace(path_, previous);
  } else if (access(path_.c_str(), W_OK) != 0) {
    fail(path_, errno);
  }
}

std::string ResultsFile::target() const {
  if (is_standard_output()) return path_;
  std::error_code unknown;
  const std::filesystem::path whole = std::filesystem::weakly_canonical(std::filesystem::absolute(path_), unknown);
  return unknown ? path_ : whole.string();
}

void ResultsFile::update(const TextWriter& write) {
  if (replaced_) replaced_->replace(write);
}

void ResultsFile::finish(const TextWriter& write) {
  if (is_standard_output()) return write_to(STDOUT_FILENO, "standard output", write);
  if (replaced_) return replaced_->replace(write);
  append_to(path_, write);
}

}  // namespace xferbench
