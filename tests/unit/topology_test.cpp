// Topology: how GPUs are connected, from sysfs and the driver.
#include "device/topology.hpp"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "device/open.hpp"
#include "support/files.hpp"

namespace xferbench {
namespace {

/// An imitation of sysfs: a tree of PCI devices, with a link to each in bus/.
class PciTree : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(root_ / "bus"); }

  void add(const std::string& place) {
    const std::filesystem::path folder = root_ / "devices" / place;
    std::filesystem::create_directories(folder);
    std::filesystem::create_directory_symlink(folder, of(folder.filename().string()));
  }
  [[nodiscard]] std::filesystem::path of(const std::string& address) const { return root_ / "bus" / address; }

 private:
  test::TemporaryFolder root_;
};

TEST_F(PciTree, HasTheBridgesAboveADevice) {
  add("pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:03.0/0000:0f:00.0");
  add("pci0001:80/0001:80:00.0");
  EXPECT_EQ(bridges_above(of("0000:0f:00.0")),
            (std::vector<std::string>{"0000:02:03.0", "0000:01:00.0", "0000:00:01.0"}));
  EXPECT_TRUE(bridges_above(of("0001:80:00.0")).empty()) << "the root is no bridge";
  EXPECT_TRUE(bridges_above(of("0000:77:00.0")).empty()) << "no such device";
}

TEST(PciAddress, IsTheSameHoweverItIsWritten) {
  EXPECT_TRUE(same_pci_device("0000:0f:00.0", "00000000:0F:00.0"));
  EXPECT_FALSE(same_pci_device("0000:0f:00.0", "0001:0f:00.0"));
  EXPECT_FALSE(same_pci_device("0000:0f:00.0", "0000:0f:00.1"));
  EXPECT_FALSE(same_pci_device("", ""));
}

TEST(NvLinks, LeadToAnotherGpuDirectly) {
  const std::vector<NvLinkEnd> one{{NvLinkEnd::Kind::gpu, "0000:0f:00.0"},
                                   {NvLinkEnd::Kind::gpu, "0000:0f:00.0"},
                                   {NvLinkEnd::Kind::gpu, "0000:1f:00.0"}};
  EXPECT_EQ(nvlinks_between(one, {}, "00000000:0F:00.0", true), 2U);
  EXPECT_EQ(nvlinks_between(one, {}, "0000:2f:00.0", std::nullopt), 0U);
  EXPECT_EQ(nvlinks_between(one, {}, "0000:0f:00.0", false), 0U) << "the driver says that they lead nowhere";
}

TEST(NvLinks, LeadThroughSwitchesToWhoeverHasAsMany) {
  const std::vector<NvLinkEnd> one(18, {NvLinkEnd::Kind::nvswitch});
  const std::vector<NvLinkEnd> other(16, {NvLinkEnd::Kind::nvswitch});
  EXPECT_EQ(nvlinks_between(one, other, "0000:0f:00.0", std::nullopt), 16U);
  EXPECT_EQ(nvlinks_between(one, {}, "0000:0f:00.0", true), 0U) << "the other has none";
}

TEST(NvLinks, WhoseEndIsNotKnownCountWhereTheDriverSaysThatTheyLeadThere) {
  const std::vector<NvLinkEnd> ends(18);
  EXPECT_EQ(nvlinks_between(ends, ends, "0000:0f:00.0", true), 18U);
  EXPECT_EQ(nvlinks_between(ends, ends, "0000:0f:00.0", std::nullopt), 0U);
}

// --- Names of GPUs --------------------------------------------------------------------------------------------------

TEST(PciAddress, MayLackItsDomain) {
  EXPECT_TRUE(same_pci_device("1a:00.0", "0000:1A:00.0"));
  EXPECT_FALSE(same_pci_device("1a:00.0", "0001:1a:00.0"));
  for (const char* other : {"", "1a:00", "GPU-1:2.0", "1a.0"}) EXPECT_FALSE(is_pci_address(other)) << other;
}

/// Returns the GPU that the name chooses of three, or why it chooses none.
std::string chosen_by(const std::string& name) {
  const std::array<std::pair<const char*, const char*>, 3> gpus{
      {{"GPU-8932f937", "0000:1a:00.0"}, {"GPU-89aa0000", "0000:1b:00.0"}, {"MIG-41b35014", "0000:1c:00.0"}}};
  const auto describe = [&gpus](int index) {
    Environment::Gpu gpu;
    std::tie(gpu.uuid, gpu.pci_bus_id) = gpus.at(static_cast<std::size_t>(index));
    return gpu;
  };
  try {
    return std::to_string(chosen_gpus({.named = name}, gpus.size(), describe).front());
  } catch (const NoDeviceError& error) {
    return error.what();
  }
}

TEST(ChosenGpus, ByNameAreTheOneThatHasIt) {
  EXPECT_EQ(chosen_by("GPU-8932f937"), "0");
  EXPECT_EQ(chosen_by("gpu-89A"), "1");
  EXPECT_EQ(chosen_by("MIG-41b3"), "2");
  EXPECT_EQ(chosen_by("00000000:1B:00.0"), "1");
  EXPECT_EQ(chosen_by("1c:00.0"), "2");
}

TEST(ChosenGpus, ByANameThatNoneOrSeveralHaveAreRefused) {
  EXPECT_EQ(chosen_by("GPU-7"),
            "there is no GPU GPU-7: GPU 0 is GPU-8932f937 at 0000:1a:00.0, 1 is GPU-89aa0000 at 0000:1b:00.0, 2 is "
            "MIG-41b35014 at 0000:1c:00.0; choose one by its number, UUID or PCI address");
  EXPECT_TRUE(chosen_by("GPU-89").starts_with("several GPUs have names that begin with GPU-89: GPU 0 is "));
}

}  // namespace
}  // namespace xferbench
