// Who may see whom. Folders keep their independence only while something checks it: these rules read the includes of
// the source tree.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

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

/// Every "file includes header" that a rule forbids; empty if the rule holds.
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

// --- The reader itself ----------------------------------------------------------------------------------------------

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
  EXPECT_TRUE(has("src/cli/command.cpp", "CLI/CLI.hpp"));
  EXPECT_TRUE(has("src/results/writer.cpp", "nlohmann/json.hpp"));
  EXPECT_TRUE(has("src/device/cuda/cuda_device.hpp", "cuda_runtime.h"));
  EXPECT_TRUE(std::ranges::any_of(sources(), is_cuda_source));
}

// --- Libraries ------------------------------------------------------------------------------------------------------

TEST(Architecture, OnlyTheCommandLineKnowsCli11) {
  EXPECT_EQ(violations(sources(), [](const Source& s) { return !in(s, {"src/cli/"}); }, {"CLI/", "CLI11"}), "");
}

TEST(Architecture, OnlyResultsAndReportsKnowTheJsonLibrary) {
  const auto others = [](const Source& s) { return !in(s, {"src/results/", "src/report/"}); };
  EXPECT_EQ(violations(sources(), others, {"nlohmann"}), "");
}

TEST(Architecture, OnlyTheCudaDeviceAndKernelsKnowCuda) {
  const auto others = [](const Source& s) { return !in(s, {"src/device/cuda/"}) && !is_cuda_source(s); };
  EXPECT_EQ(violations(sources(), others, kCudaHeaders), "");
}

TEST(Architecture, OnlyOneFileKnowsLibnuma) {
  const auto others = [](const Source& s) { return s.path != "src/device/numa.cpp"; };
  EXPECT_EQ(violations(sources(), others, {"numa.h", "numaif.h", "numacompat"}), "");
}

TEST(Architecture, KernelsKnowNeitherCommandLineNorJson) {
  EXPECT_EQ(violations(sources(), is_cuda_source, {"CLI/", "CLI11", "nlohmann", "cli/", "report/"}), "");
}

TEST(Architecture, OnlyKernelsThatAreLinkedForItLaunchFromTheDevice) {
  const auto others = [](const Source& s) {
    return s.path != "kernels/dynpar/dynpar.cu" && s.path != "kernels/dynpar/device_sort.cu";
  };
  EXPECT_EQ(violations(sources(), others, {"kernels/dynpar/device_launch.cuh"}), "");
}

// --- Folders --------------------------------------------------------------------------------------------------------

TEST(Architecture, WhatIsBelowKnowsNothingOfWhatIsAbove) {
  const auto below = [](const Source& s) {
    return in(s, {"src/core/", "src/measure/", "src/model/", "src/report/", "src/device/", "src/compare/"});
  };
  EXPECT_EQ(violations(sources(), below, {"scenarios/", "run/", "cli/"}), "");
}

TEST(Architecture, CoreKnowsOnlyItself) {
  const auto core = [](const Source& s) { return in(s, {"src/core/"}); };
  EXPECT_EQ(violations(sources(), core, {"device/", "measure/", "model/", "report/", "kernels/"}), "");
}

TEST(Architecture, ModelsAreFormulasAndKnowNoDevice) {
  const auto model = [](const Source& s) { return in(s, {"src/model/"}); };
  EXPECT_EQ(violations(sources(), model, {"device/", "measure/", "report/", "kernels/"}), "");
}

TEST(Architecture, ReportsAreMadeOfRecordsAndKnowNoDevice) {
  const auto report = [](const Source& s) { return in(s, {"src/report/"}); };
  EXPECT_EQ(violations(sources(), report, {"device/", "measure/", "kernels/"}), "");
}

TEST(Architecture, ComparingKnowsOfMeasuringOnlyStatisticsAndOfReportsOnlyTheReader) {
  for (const Source& source : sources()) {
    if (!in(source, {"src/compare/"})) continue;
    for (const std::string& include : source.includes) {
      if (include == "measure/statistics.hpp" || include == "results/reader.hpp") continue;
      EXPECT_FALSE(begins_with_any(include, {"device/", "measure/", "report/", "kernels/"}))
          << source.path << " includes " << include;
    }
  }
}

TEST(Architecture, MeasuringKnowsNoBackendAndNoReport) {
  const auto measure = [](const Source& s) { return in(s, {"src/measure/"}); };
  EXPECT_EQ(violations(sources(), measure, {"device/cuda", "device/sim", "report/", "kernels/"}), "");
}

TEST(Architecture, CheckingIsMadeOfRecords) {
  const auto check = [](const Source& s) { return in(s, {"src/check/"}); };
  EXPECT_EQ(violations(sources(), check, {"device/", "measure/", "run/", "cli/", "app/", "scenarios/", "kernels/"}),
            "");
}

TEST(Architecture, BackendsDoNotKnowEachOther) {
  const auto simulated = [](const Source& s) { return in(s, {"src/device/sim/"}); };
  const auto real = [](const Source& s) { return in(s, {"src/device/cuda/"}); };
  EXPECT_EQ(violations(sources(), simulated, {"device/cuda"}), "");
  EXPECT_EQ(violations(sources(), real, {"device/sim"}), "");
}

TEST(Architecture, ScenariosKnowNoLibraryAndNoBackend) {
  const auto scenarios = [](const Source& s) { return in(s, {"scenarios/"}); };
  EXPECT_EQ(
      violations(sources(), scenarios, {"CLI/", "CLI11", "nlohmann", "cli/", "report/", "device/cuda", "device/sim"}),
      "");
  EXPECT_EQ(violations(sources(), scenarios, kCudaHeaders), "");
}

}  // namespace
}  // namespace xferbench
