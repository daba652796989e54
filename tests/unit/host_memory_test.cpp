// Memory limits of control groups, in folders laid out as /proc and /sys are.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "device/host.hpp"
#include "support/files.hpp"

namespace xferbench {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

/// Returns the headroom of a process whose groups are `groups`, where these files have these contents.
std::optional<std::uint64_t> headroom(const std::string& groups, const std::map<std::string, std::string>& files) {
  const test::TemporaryFolder folder;
  test::write_file(folder / "cgroup", groups);
  for (const auto& [name, content] : files) {
    const std::filesystem::path file = folder / "mounts" / name;
    std::filesystem::create_directories(file.parent_path());
    test::write_file(file, content);
  }
  return control_group_headroom(folder / "cgroup", folder / "mounts");
}

std::string mib(std::uint64_t number) { return std::to_string(number * kMiB) + "\n"; }

TEST(ControlGroup, OfASlurmTaskIsLimitedByTheJobAboveIt) {
  const std::string task = "job_7/step_0/user/task_0";
  EXPECT_EQ(headroom("0::/" + task + "\n", {{task + "/memory.max", "max\n"},
                                            {task + "/memory.current", mib(100)},
                                            {"job_7/step_0/memory.max", mib(900)},
                                            {"job_7/step_0/memory.current", mib(100)},
                                            {"job_7/memory.max", mib(512)},
                                            {"job_7/memory.current", mib(100)}}),
            412 * kMiB);
}

TEST(ControlGroup, CountsPageCacheThatIsNotInUseAsAvailable) {
  EXPECT_EQ(headroom("0::/a\n", {{"a/memory.max", mib(512)},
                                 {"a/memory.current", mib(400)},
                                 {"a/memory.stat", "anon 1\ninactive_file " + mib(300) + "active_file 5\n"}}),
            412 * kMiB);
}

TEST(ControlGroup, IsLimitedByWhatSlowsItsProcessesDown) {
  EXPECT_EQ(headroom("0::/a\n", {{"a/memory.max", mib(512)}, {"a/memory.high", mib(256)}}), 256 * kMiB);
}

TEST(ControlGroup, OfVersion1IsLimitedByItsParent) {
  EXPECT_EQ(headroom("9:cpu,cpuacct:/x\n4:memory:/slurm/uid_0/job_7\n0::/\n",
                     {{"memory/slurm/uid_0/job_7/memory.limit_in_bytes", "9223372036854771712\n"},
                      {"memory/slurm/uid_0/memory.limit_in_bytes", mib(512)},
                      {"memory/slurm/uid_0/memory.usage_in_bytes", mib(300)},
                      {"memory/slurm/uid_0/memory.stat", "inactive_file 1\ntotal_inactive_file " + mib(200)}}),
            412 * kMiB);
}

TEST(ControlGroup, ThatAContainerDoesNotSeeIsTheOneAtTheTop) {
  EXPECT_EQ(headroom("0::/docker/0123\n", {{"memory.max", mib(64)}, {"memory.current", mib(1)}}), 63 * kMiB);
  EXPECT_EQ(headroom("0::/../elsewhere\n", {{"memory.max", mib(64)}}), 64 * kMiB);
}

TEST(ControlGroup, WithMoreThanItsLimitInUseHasNothingLeft) {
  EXPECT_EQ(headroom("0::/a\n", {{"a/memory.max", mib(64)}, {"a/memory.current", mib(65)}}), 0U);
}

TEST(ControlGroup, WithoutALimitHasNone) {
  EXPECT_EQ(headroom("0::/a\n", {{"a/memory.max", "max\n"}, {"a/memory.current", mib(65)}}), std::nullopt);
  EXPECT_EQ(headroom("", {}), std::nullopt);
  EXPECT_EQ(headroom("nonsense\n4:cpu:/x\n", {{"memory.max", mib(64)}}), std::nullopt);
}

TEST(Pinning, OfFreeMemoryMayFailUnderWsl) {
  EXPECT_NE(pinning_hint("5.15.133.1-microsoft-standard-WSL2", 1).find("Windows pins only a part"), std::string::npos);
  EXPECT_EQ(pinning_hint("6.1.0-18-amd64", GiB), "");
  EXPECT_NE(pinning_hint("6.1.0-18-amd64", 512 * GiB).find("alloc --chunk 8G"), std::string::npos);
}

}  // namespace
}  // namespace xferbench
