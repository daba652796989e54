#include "support/stored_results.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "support/files.hpp"

namespace xferbench::test {

namespace {

namespace fs = std::filesystem;

fs::path folder() { return fs::path(XFERBENCH_SOURCE_DIR) / "docs" / "results"; }

/// Unpacked files, which are removed at the end of the program.
class Unpacked {
 public:
  [[nodiscard]] std::string of(const fs::path& compressed, const std::string& name) const {
    const fs::path there = folder_ / name;
    const std::string command = "xz -dc '" + compressed.string() + "' > '" + there.string() + "'";
    if (!fs::exists(there) && std::system(command.c_str()) != 0) throw std::runtime_error("failed: " + command);
    return there.string();
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace

std::string stored_result(const std::string& name) {
  const fs::path plain = folder() / name;
  if (fs::exists(plain)) return plain.string();
  static const Unpacked kUnpacked;
  return kUnpacked.of(folder() / (name + ".xz"), name);
}

std::vector<std::string> stored_results(std::size_t most_bytes) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder())) {
    const fs::path& path = entry.path();
    const fs::path name = path.extension() == ".xz" ? path.stem() : path.filename();
    if (name.extension() != ".json" || entry.file_size() > most_bytes) continue;  // soak files are not JSON results
    names.push_back(name.string());
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace xferbench::test
