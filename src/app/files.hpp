// What every command keeps to that reads files and writes files: nothing that it reads is lost, nothing is read twice.
#pragma once

#include <optional>
#include <span>
#include <string>

namespace xferbench::app {

/// A flag that names a file to be written, and its value if it was given.
struct AskedFile {
  const char* flag;  ///< without dashes
  const std::optional<std::string>& path;
};

/// Throws UsageError if a file that is to be written is one of those that the command reads, by whatever name. "-" is
/// standard input and standard output.
void refuse_to_overwrite(std::span<const std::string> inputs, std::span<const AskedFile> outputs);

/// Throws UsageError if two of the files that stand for different processes are the same.
void refuse_same_twice(std::span<const std::string> files);

}  // namespace xferbench::app
