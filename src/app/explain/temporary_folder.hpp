// A folder that is there for a while.
#pragma once

#include <filesystem>

namespace xferbench::app {

/// New, empty and readable by nobody else; removed with all that is in it. Throws OutputError where none can be made.
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
