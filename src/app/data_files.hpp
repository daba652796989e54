// Data files that come with the program, found by name, such as expectations for `check`.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "results/result.hpp"

namespace xferbench::app {

/// Returns the path of a file that the user names: a data file that comes with the program (`h200` for
/// expectations/h200.json) or a path. A word without slash and dot is looked up as a data file first, so a file of that
/// name must be written ./h200. `kind` is the name of the folder: "expectations" or "suites". If nothing is found,
/// throws InputError that lists the known names.
std::filesystem::path find_data(std::string_view kind, const std::string& name_or_path);

/// The paths of all data files of `kind` that come with the program, sorted; empty if the data is not installed.
std::vector<std::filesystem::path> data_files(std::string_view kind);

/// Returns the names that find_data() accepts for the data files of `kind`, except names with control characters.
std::vector<std::string> data_names(std::string_view kind);

/// Returns the names and descriptions of the data files of `kind`. If `describe` throws InputError for a file, the
/// error message is used as its description.
Labels described_data(std::string_view kind, const std::function<std::string(const std::string& path)>& describe);

}  // namespace xferbench::app
