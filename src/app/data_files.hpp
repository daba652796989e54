// Data files that come with the program, found by name, such as expectations for `check`.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "results/result.hpp"

namespace xferbench::app {

/// The path of a file that the user names: one that comes with the program (`h200` for expectations/h200.json), or else
/// a path. A word without slash and dot is looked up as a name first; write ./h200 for a file of that name. `kind` is
/// the folder: "expectations". Throws InputError that lists the known names.
std::filesystem::path find_data(std::string_view kind, const std::string& name_or_path);

/// The paths of all data files of `kind` that come with the program, sorted; empty if the data is not installed.
std::vector<std::filesystem::path> data_files(std::string_view kind);

/// The names of the data files of `kind`, as find_data() takes them. Names with control characters are left out.
std::vector<std::string> data_names(std::string_view kind);

/// The names and descriptions of the data files of `kind`. If `describe` throws InputError for a file, its message is
/// the description.
Labels described_data(std::string_view kind, const std::function<std::string(const std::string& path)>& describe);

}  // namespace xferbench::app
