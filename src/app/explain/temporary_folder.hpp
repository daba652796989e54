// A temporary folder, which the destructor removes.
#pragma once

#include <filesystem>

namespace xferbench::app {

/// Created empty and readable by its owner only; removed with all that is in it. Throws OutputError if that fails.
class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace xferbench::app
