// The environment variables that ask the injected library for a recording.
#include "recording/recording_request.hpp"

#include <gtest/gtest.h>

#include <map>

namespace xferbench {
namespace {

std::optional<RecordingRequest> read_back(const std::map<std::string, std::string>& variables) {
  return recording_request([&variables](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

std::map<std::string, std::string> as_map(const RecordingRequest& request) {
  std::map<std::string, std::string> variables;
  for (const auto& [name, value] : to_environment(request)) variables[name] = value;
  return variables;
}

TEST(RecordingRequest, SurvivesTheEnvironment) {
  const RecordingRequest plain{.folder = "/tmp/x y"};
  EXPECT_EQ(read_back(as_map(plain)), plain);
  EXPECT_EQ(to_environment(plain).size(), 1U);
  const RecordingRequest all{.folder = "/r",
                             .max_records = 1'000'000,
                             .from = 0.25,
                             .seconds = 3.5,
                             .range = "a step",
                             .stacks = true,
                             .only_ranges = true,
                             .cupti = "/lib/libcupti.so"};
  EXPECT_EQ(read_back(as_map(all)), all);
}

TEST(RecordingRequest, IsNoneWithoutAFolder) {
  EXPECT_FALSE(read_back({}));
  EXPECT_FALSE(read_back({{"XFERBENCH_RECORD_FOLDER", ""}, {"XFERBENCH_RECORD_MAX", "7"}}));
}

TEST(RecordingRequest, TakesWhatCannotBeReadAsAbsent) {
  const RecordingRequest plain{.folder = "/r"};
  EXPECT_EQ(read_back({{"XFERBENCH_RECORD_FOLDER", "/r"},
                       {"XFERBENCH_RECORD_MAX", "-1"},
                       {"XFERBENCH_RECORD_FROM", "soon"},
                       {"XFERBENCH_RECORD_FOR", "3s"},
                       {"XFERBENCH_RECORD_STACKS", "0"}}),
            plain);
}

}  // namespace
}  // namespace xferbench
