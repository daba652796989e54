#include "app/explain/temporary_folder.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

#include "core/error.hpp"

namespace xferbench::app {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder() {
  std::error_code failed;
  fs::path parent = fs::temp_directory_path(failed);
  if (failed) parent = "/tmp";
  parent = fs::absolute(parent);  // absolute, because programs that get this path may run in another working directory
  std::string name = (parent / "xferbench-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    throw OutputError(fmt::format("cannot make a folder in {}: {}; set TMPDIR to another folder", parent.string(),
                                  std::strerror(errno)));
  }
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace xferbench::app
