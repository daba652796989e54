// Data files that come with the program, found by name: expectations for `check`, and others like them.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "results/result.hpp"

namespace xferbench::app {

/// A file that the user names: one of those that come with the program (`h200` for expectations/h200.json), or else a
/// path. A word without slash and dot is a name first; write ./h200 for a file of that name. `kind` is the folder:
/// "expectations". Throws InputError that lists what there is.
std::filesystem::path find_data(std::string_view kind, const std::string& name_or_path);

/// The files of that kind that come with the program, sorted; none where its data is not installed.
std::vector<std::filesystem::path> data_files(std::string_view kind);

/// Their names, as find_data() knows them. One that could not be shown and typed again is none.
std::vector<std::string> data_names(std::string_view kind);

/// Their names and what they say they are for; of one that `describe` cannot read (it throws InputError), why.
Labels described_data(std::string_view kind, const std::function<std::string(const std::string& path)>& describe);

}  // namespace xferbench::app
