// Data files: suites, expectations and profiles that are found by name.
#include "app/data_files.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/error.hpp"
#include "support/files.hpp"

namespace xferbench::app {
namespace {

namespace fs = std::filesystem;

/// Sets XFERBENCH_DATA to a folder with expectations/{a100,h200}.json.
class DataFiles : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(root_ / "expectations");
    for (const char* name : {"h200.json", "a100.json"}) test::write_file(root_ / "expectations" / name, "{}\n");
    setenv("XFERBENCH_DATA", root_.path().c_str(), 1);
  }
  void TearDown() override { unsetenv("XFERBENCH_DATA"); }
  static std::string refusal(const std::string& name, const char* kind = "expectations") {
    try {
      return find_data(kind, name).string();
    } catch (const InputError& error) {
      return error.what();
    }
  }
  test::TemporaryFolder root_;
};

TEST_F(DataFiles, AreFoundByNameAndListedInOrder) {
  EXPECT_EQ(find_data("expectations", "h200"), root_ / "expectations" / "h200.json");
  EXPECT_EQ(data_names("expectations"), (std::vector<std::string>{"a100", "h200"}));
  EXPECT_TRUE(data_names("nothing").empty());
}

TEST_F(DataFiles, APathIsTakenAsItIs) {
  const fs::path own = root_ / "own.json";
  test::write_file(own, "{}\n");
  EXPECT_EQ(find_data("expectations", own.string()), own);
}

TEST_F(DataFiles, WhatIsNotThereIsAnsweredWithWhatIs) {
  EXPECT_EQ(refusal("h20"), "there is no file 'h20', neither here nor in " + (root_ / "expectations").string() +
                                "; there are a100, h200; did you mean 'h200'?");
  EXPECT_EQ(refusal("no/such.json"), "there is no file 'no/such.json'; there are a100, h200");
  EXPECT_NE(refusal("", "nothing").find("set XFERBENCH_DATA"), std::string::npos);
}

TEST(DataFilesOfABuild, AreThoseOfTheSourceTree) {
  unsetenv("XFERBENCH_DATA");
  // The kind of data is the name of a folder. In the source tree "." contains the folder scenarios.
  const std::vector<std::string> names = data_names(".");
  EXPECT_NE(std::ranges::find(names, "scenarios"), names.end());
}

}  // namespace
}  // namespace xferbench::app
