// A temporary folder, which the destructor removes.
#pragma once

#include <filesystem>

#include "core/non_copyable.hpp"

namespace xferbench::app {

/// RAII owner of a temporary folder. The constructor creates the folder, readable by its owner only. The destructor
/// removes it with all of its files. Throws OutputError if the folder cannot be created.
class TemporaryFolder : NonCopyable {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace xferbench::app
