#include "app/data_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include "cli/values.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"

namespace xferbench::app {

namespace {

namespace fs = std::filesystem;

/// Returns the root folder of the data files, with one subfolder for each kind. It is $XFERBENCH_DATA if that is set.
/// Otherwise it is found relative to the executable, so that an installation can be moved: PREFIX/bin/xferbench has
/// PREFIX/share/xferbench, and a build folder has a link share/xferbench to the source tree.
fs::path data_root() {
  const char* given = std::getenv("XFERBENCH_DATA");
  if (given != nullptr && *given != '\0') return given;
  std::error_code unknown;
  const fs::path folder = fs::read_symlink("/proc/self/exe", unknown).parent_path();
  for (const fs::path& root : {folder.parent_path() / "share" / "xferbench", folder / "share" / "xferbench"}) {
    if (fs::is_directory(root, unknown)) return root;
  }
  return folder.parent_path() / "share" / "xferbench";
}

std::vector<fs::path> files_of(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code unknown;
    if (entry->is_regular_file(unknown)) files.push_back(entry->path());
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

std::vector<fs::path> data_files(std::string_view kind) { return files_of(data_root() / kind); }

std::vector<std::string> data_names(std::string_view kind) {
  std::vector<std::string> names;
  for (const fs::path& file : data_files(kind)) {
    const std::string name = file.stem().string();
    if (find_control(name).bytes == 0) names.push_back(name);
  }
  return names;
}

std::filesystem::path find_data(std::string_view kind, const std::string& name_or_path) {
  const fs::path folder = data_root() / kind;
  const bool may_be_name = name_or_path.find_first_of("/.") == std::string::npos;
  if (may_be_name) {
    const std::vector<fs::path> files = files_of(folder);
    const auto found = std::ranges::find_if(files, [&](const fs::path& file) { return file.stem() == name_or_path; });
    if (found != files.end()) return *found;
  }
  std::error_code unknown;
  if (!name_or_path.empty() && fs::exists(name_or_path, unknown)) return name_or_path;
  const std::vector<std::string> names = data_names(kind);
  throw InputError(fmt::format(
      "there is no file '{}'{}; {}{}", name_or_path,
      may_be_name ? fmt::format(", neither here nor in {}", folder.string()) : "",
      names.empty()
          ? fmt::format(
                "no {} are installed: set XFERBENCH_DATA to the folder that contains the folder {}, or give a path",
                kind, kind)
          : fmt::format("there are {}", fmt::join(names, ", ")),
      cli::suggestion(name_or_path, names)));
}

Labels described_data(std::string_view kind, const std::function<std::string(const std::string& path)>& describe) {
  Labels all;
  for (const fs::path& file : data_files(kind)) {
    std::string what;
    try {
      what = describe(file.string());
    } catch (const InputError& error) {
      what = fmt::format("cannot be used: {}", error.what());
    }
    all.emplace_back(printable(file.stem().string()), std::move(what));
  }
  return all;
}

}  // namespace xferbench::app
