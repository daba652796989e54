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

/// The files of that kind that come with the program, sorted; empty if the data is not installed.
std::vector<std::filesystem::path> data_files(std::string_view kind);

/// Their names, as find_data() takes them. Names with control characters are left out.
std::vector<std::string> data_names(std::string_view kind);

/// Their names and descriptions. If `describe` throws InputError, the description says why.
Labels described_data(std::string_view kind, const std::function<std::string(const std::string& path)>& describe);

}  // namespace xferbench::app
