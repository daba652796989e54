// Dependencies between the folders of the source tree: the tests read all #include lines and fail on a forbidden one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/scenarios.hpp"

namespace xferbench {
namespace {

namespace fs = std::filesystem;

struct Source {
  std::string path;  // relative to the source tree, with forward slashes
  std::vector<std::string> includes;
};

std::vector<std::string> includes_of(std::istream& text) {
  static const std::regex directive(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"].*)");
  std::vector<std::string> includes;
  std::smatch match;
  for (std::string line; std::getline(text, line);) {
    if (std::regex_match(line, match, directive)) includes.push_back(match[1]);
  }
  return includes;
}

bool is_source(const fs::path& path) {
  const std::string extension = path.extension().string();
  return extension == ".cpp" || extension == ".hpp" || extension == ".cu" || extension == ".cuh" || extension == ".h" ||
         extension == ".in";
}

const std::vector<Source>& sources() {
  static const std::vector<Source> all = [] {
    std::vector<Source> found;
    const fs::path root = XFERBENCH_SOURCE_DIR;
    for (const char* folder : {"src", "kernels", "scenarios"}) {
      for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
        if (!entry.is_regular_file() || !is_source(entry.path())) continue;
        std::ifstream text(entry.path());
        found.push_back({fs::relative(entry.path(), root).generic_string(), includes_of(text)});
      }
    }
    return found;
  }();
  return all;
}

bool begins_with_any(std::string_view text, const std::vector<std::string_view>& beginnings) {
  return std::ranges::any_of(beginnings, [text](std::string_view b) { return text.starts_with(b); });
}

bool in(const Source& source, const std::vector<std::string_view>& folders) {
  return begins_with_any(source.path, folders);
}

bool is_cuda_source(const Source& source) { return source.path.ends_with(".cu") || source.path.ends_with(".cuh"); }

/// Every "file includes header" that the rule forbids, one on each line; empty if there is none.
std::string violations(const std::vector<Source>& all, const std::function<bool(const Source&)>& concerns,
                       const std::vector<std::string_view>& forbidden) {
  std::string found;
  for (const Source& source : all) {
    if (!concerns(source)) continue;
    for (const std::string& include : source.includes) {
      if (begins_with_any(include, forbidden)) found += source.path + " includes " + include + "\n";
    }
  }
  return found;
}

const std::vector<std::string_view> kCudaHeaders{"cuda",  "driver_types.h", "nvml.h", "device_launch_parameters.h",
                                                 "cupti", "nvtx3/"};

// --- The reader of includes -----------------------------------------------------------------------------------------

TEST(IncludeReader, FindsBothKindsOfIncludesAndNothingElse) {
  std::istringstream text(
      "#include <CLI/CLI.hpp>\n"
      "  #  include \"core/axis.hpp\"  // why\n"
      "// #include <nlohmann/json.hpp>\n"
      "#define include\n");
  EXPECT_EQ(includes_of(text), (std::vector<std::string>{"CLI/CLI.hpp", "core/axis.hpp"}));
}

TEST(IncludeReader, NamesWhatBreaksARule) {
  const std::vector<Source> tree{{"src/a/x.cpp", {"b/y.hpp", "vector"}}, {"src/c/z.cpp", {"b/y.hpp"}}};
  const auto in_a = [](const Source& s) { return in(s, {"src/a/"}); };
  EXPECT_EQ(violations(tree, in_a, {"b/"}), "src/a/x.cpp includes b/y.hpp\n");
  EXPECT_EQ(violations(tree, in_a, {"d/"}), "");
}

TEST(IncludeReader, SeesTheTreeWithTheIncludesThatAreKnownToBeThere) {
  const auto has = [](const char* path, const char* include) {
    const auto found = std::ranges::find(sources(), path, &Source::path);
    return found != sources().end() && std::ranges::find(found->includes, include) != found->includes.end();
  };
  EXPECT_TRUE(has("src/cli/command_line.hpp", "CLI/CLI.hpp"));
  EXPECT_TRUE(has("src/results/json_codec.cpp", "nlohmann/json.hpp"));
  EXPECT_TRUE(has("src/device/cuda/cuda_stream.hpp", "cuda_runtime.h"));
  EXPECT_TRUE(std::ranges::any_of(sources(), is_cuda_source));
}

// --- Libraries ------------------------------------------------------------------------------------------------------

TEST(Architecture, OnlyTheCommandLineKnowsCli11) {
  // CLI11 takes longest to compile, so only a few files may include it, all of them through this header.
  const auto others = [](const Source& s) { return s.path != "src/cli/command_line.hpp"; };
  EXPECT_EQ(violations(sources(), others, {"CLI/", "CLI11"}), "");
  const auto strangers = [](const Source& s) { return !in(s, {"src/cli/command"}); };
  EXPECT_EQ(violations(sources(), strangers, {"cli/command_line.hpp"}), "");
}

TEST(Architecture, OnlyResultsAndReportsKnowTheJsonLibrary) {
  const auto others = [](const Source& s) { return !in(s, {"src/results/", "src/report/"}); };
  EXPECT_EQ(violations(sources(), others, {"nlohmann"}), "");
}

TEST(Architecture, OnlyTheCudaDeviceAndKernelsKnowCuda) {
  const auto others = [](const Source& s) { return !in(s, {"src/device/cuda/", "src/inject/"}) && !is_cuda_source(s); };
  EXPECT_EQ(violations(sources(), others, kCudaHeaders), "");
}

TEST(Architecture, OnlyOneFileKnowsLibnuma) {
  const auto others = [](const Source& s) { return s.path != "src/device/host.cpp"; };
  EXPECT_EQ(violations(sources(), others, {"numa.h", "numaif.h", "numacompat"}), "");
}

TEST(Architecture, OnlyOneFileKnowsLiburing) {
  const auto others = [](const Source& s) { return s.path != "src/device/uring_queue.cpp"; };
  EXPECT_EQ(violations(sources(), others, {"liburing", "linux/io_uring"}), "");
}

TEST(Architecture, OnlyThePluginKnowsMpi) {
  const auto others = [](const Source& s) { return s.path != "src/mpi/plugin.cpp"; };
  EXPECT_EQ(violations(sources(), others, {"mpi.h"}), "");
  const auto strangers = [](const Source& s) { return !in(s, {"src/mpi/", "src/ranks/mpi_plugin.cpp"}); };
  EXPECT_EQ(violations(sources(), strangers, {"mpi/"}), "");
}

TEST(Architecture, OnlyKernelsThatAreLinkedForItLaunchFromTheDevice) {
  const auto others = [](const Source& s) {
    return s.path != "kernels/dynpar/dynpar.cu" && s.path != "kernels/dynpar/device_sort.cu";
  };
  EXPECT_EQ(violations(sources(), others, {"kernels/dynpar/device_launch.cuh"}), "");
}

// --- Folders with rules (rooms) -------------------------------------------------------------------------------------

/// A folder of the program and all folders that it includes: a new or lost dependency fails the test.
struct Room {
  std::string_view name;
  std::vector<std::string_view> sees;
};

/// In order of dependency: a folder may include only folders earlier in this list. Files in no folder (main.cpp) have
/// no rule.
const std::vector<Room>& rooms() {
  static const std::vector<Room> all{
      {"core", {}},
      {"recording", {"core"}},
      {"results", {"core", "recording"}},
      {"device", {"core", "recording"}},
      {"device/sim", {"core", "recording", "device", "results"}},
      {"device/cuda", {"core", "recording", "device"}},
      {"kernels", {"device"}},
      {"mpi", {}},
      {"inject", {"core", "recording"}},
      {"ranks", {"core", "device", "mpi"}},
      {"model", {"core", "results"}},
      {"measure", {"core", "device", "ranks", "results"}},
      {"run", {"core", "device", "ranks", "results", "model", "measure"}},
      {"scenarios", {"core", "device", "ranks", "results", "kernels", "model", "measure", "run"}},
      {"soak", {"core", "device", "results", "kernels", "measure", "run"}},
      {"compare", {"core", "results", "measure", "model"}},
      {"check", {"core", "results", "measure", "model"}},
      {"fleet", {"core", "results", "measure"}},
      {"explain", {"core", "recording", "results", "measure"}},
      {"validate", {"core", "results", "measure"}},
      {"paper", {"core"}},
      {"words",
       {"core", "results", "model", "measure", "soak", "compare", "check", "fleet", "explain", "validate", "paper"}},
      {"report", {"core", "results", "model", "soak", "compare", "check", "explain", "validate", "paper", "words"}},
      {"cli", {"core", "device", "ranks", "results", "measure", "run", "compare", "explain"}},
      {"app",
       {"core", "recording", "device", "ranks", "results", "measure", "run", "scenarios", "soak", "compare", "check",
        "fleet", "explain", "validate", "paper", "words", "report", "cli"}},
      {"main.cpp", {"core", "scenarios", "app"}},
  };
  return all;
}

/// The room of a file by its path below src/; kernels/ and scenarios/ count as rooms too. Empty if it is in none.
std::string_view room_of(std::string_view path) {
  std::string_view found;
  for (const Room& room : rooms()) {
    // A name without a dot is a header of the standard library, such as <compare>, and not the room of that name.
    const bool is_it = path == room.name && path.find('.') != std::string_view::npos;
    const bool inside = is_it || (path.starts_with(room.name) && path.substr(room.name.size()).starts_with('/'));
    if (inside && room.name.size() > found.size()) found = room.name;
  }
  return found;
}

std::string_view below_src(std::string_view path) { return path.starts_with("src/") ? path.substr(4) : path; }

/// The includes between rooms that exist: [from][to] is one example.
std::map<std::string_view, std::map<std::string_view, std::string>> arrows() {
  std::map<std::string_view, std::map<std::string_view, std::string>> found;
  for (const Source& source : sources()) {
    const std::string_view from = room_of(below_src(source.path));
    for (const std::string& include : source.includes) {
      const std::string_view to = room_of(include);
      if (!to.empty() && to != from) found[from][to] = source.path + " includes " + include;
    }
  }
  return found;
}

TEST(Architecture, EveryFileHasItsRoom) {
  for (const Source& source : sources()) {
    if (source.path.ends_with(".in")) continue;
    EXPECT_NE(room_of(below_src(source.path)), "") << source.path;
  }
}

TEST(Architecture, ArrowsPointDown) {
  std::set<std::string_view> below;
  for (const Room& room : rooms()) {
    for (const std::string_view seen : room.sees) EXPECT_TRUE(below.contains(seen)) << room.name << " sees " << seen;
    below.insert(room.name);
  }
}

// Otherwise a room between two rooms of one folder could depend on one and be used by the other: a cycle of folders.
TEST(Architecture, RoomsOfOneFolderStandTogether) {
  std::vector<std::string_view> folders;
  for (const Room& room : rooms()) {
    const std::string_view folder = room.name.substr(0, room.name.find('/'));
    if (folders.empty() || folders.back() != folder) folders.push_back(folder);
  }
  EXPECT_EQ(std::set(folders.begin(), folders.end()).size(), folders.size());
}

TEST(Architecture, RoomsSeeWhatTheListSaysAndNothingElse) {
  auto found = arrows();
  for (const Room& room : rooms()) {
    auto& sees = found[room.name];
    for (const std::string_view seen : room.sees) {
      EXPECT_EQ(sees.erase(seen), 1U) << room.name << " does not see " << seen << " any more: strike it from the list";
    }
    for (const auto& [other, include] : sees)
      ADD_FAILURE() << room.name << " must not see " << other << ": " << include;
  }
}

TEST(Architecture, JudgingKnowsOfMeasuringOnlyItsStatistics) {
  for (const Source& source : sources()) {
    if (!in(source, {"src/compare/", "src/check/", "src/fleet/", "src/explain/", "src/validate/"})) continue;
    for (const std::string& include : source.includes) {
      EXPECT_TRUE(!include.starts_with("measure/") || include == "measure/statistics.hpp")
          << source.path << " includes " << include;
    }
  }
}

TEST(Architecture, OnlyTheListOfBackendsKnowsThem) {
  const auto others = [](const Source& s) { return !in(s, {"src/device/"}); };
  EXPECT_EQ(violations(sources(), others, {"device/cuda", "device/sim"}), "");
}

TEST(Architecture, ScenariosKnowNoLibrary) {
  const auto scenarios = [](const Source& s) { return in(s, {"scenarios/"}); };
  EXPECT_EQ(violations(sources(), scenarios, {"CLI/", "CLI11", "nlohmann"}), "");
}

// --- Cases ----------------------------------------------------------------------------------------------------------

/// The first lines of the functions in this text that look up an axis of a case by name.
std::set<std::string> readers_in(std::istream& text) {
  static const std::regex lookup(R"re((\.|->)(has|is|count|count_or|real|word|one_of<\w+>)\(")re");
  std::set<std::string> found;
  std::string function;
  for (std::string line; std::getline(text, line);) {
    if (!line.empty() && (std::isalpha(static_cast<unsigned char>(line.front())) != 0)) function = line;
    if (std::regex_search(line, lookup)) found.insert(function);
  }
  return found;
}

TEST(ReadersOfCases, AreFoundWhereTheyLookAnAxisUp) {
  std::istringstream text(
      "CopyCase copy_case(const Case& c) {\n"
      "  return {c.count(\"size\"), c.one_of<Kind>(\"kind\", kKinds)};\n"
      "}\n"
      "bool is_large(const Result& r) {\n"
      "  return r.config.count(\"size\") > 7 && r.metric(\"rate\");\n"
      "}\n"
      "bool has(const Labels& labels) { return labels.has(name); }\n");
  EXPECT_EQ(readers_in(text),
            (std::set<std::string>{"CopyCase copy_case(const Case& c) {", "bool is_large(const Result& r) {"}));
}

TEST(Architecture, AScenarioReadsItsCasesInOneFunction) {
  static const std::regex parser(R"(\w+Case \w+_case\(const Case& c\) \{.*)");
  const std::set<std::string> others{"overlap", "smem"};  // these have several such functions
  std::map<std::string, std::set<std::string>> readers;   // by scenario, named by its file or folder
  for (const Source& source : sources()) {
    if (!in(source, {"scenarios/"})) continue;
    std::ifstream text(fs::path(XFERBENCH_SOURCE_DIR) / source.path);
    const fs::path below = fs::path(source.path).lexically_relative("scenarios");
    readers[below.begin()->stem().string()].merge(readers_in(text));
  }
  // Axes for kernels of users are read by one function for all scenarios.
  EXPECT_EQ(readers.extract("common").mapped(),
            (std::set<std::string>{
                "std::shared_ptr<const OwnKernelChoice> own_kernel_of(const Case& c, std::size_t payload_bytes) {"}));
  EXPECT_EQ(readers.extract("scenarios").mapped(), std::set<std::string>());
  EXPECT_EQ(readers.erase("calibration"), 1U) << "which looks for results of many scenarios";
  EXPECT_EQ(readers.size(), scenarios().size());
  for (const auto& [scenario, functions] : readers) {
    if (others.contains(scenario)) continue;
    ASSERT_EQ(functions.size(), 1U) << scenario;
    EXPECT_TRUE(std::regex_match(*functions.begin(), parser)) << scenario << ": " << *functions.begin();
  }
}

}  // namespace
}  // namespace xferbench
