// PCI Express: bandwidth after packet overhead, and packet sizes from the configuration space.
#include "model/pcie.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>

#include "device/pcie_config.hpp"

namespace xferbench {
namespace {

using model::pcie_cost;
using model::pcie_limits;

Environment::Pcie link(unsigned generation, unsigned width, unsigned payload = 0, unsigned request = 0) {
  return {.generation = generation, .width = width, .max_payload = payload, .max_read_request = request};
}

TEST(PcieLimits, AgreeWithHandCalculation) {
  // D2H: GT/s / 8 x lanes x encoding x 256 / (256 + 16 + 8). H2D has a header of 12 instead of 16.
  EXPECT_NEAR(pcie_limits(link(1, 1)).d2h, 0.228571e9, 1e3);    // 2.5 / 8 x 8/10
  EXPECT_NEAR(pcie_limits(link(2, 8)).d2h, 3.657143e9, 1e3);    // 5 / 8 x 8 x 8/10
  EXPECT_NEAR(pcie_limits(link(3, 16)).d2h, 14.403516e9, 1e3);  // 8 / 8 x 16 x 128/130
  EXPECT_NEAR(pcie_limits(link(4, 16)).d2h, 28.807033e9, 1e3);
  EXPECT_NEAR(pcie_limits(link(5, 16)).d2h, 57.614066e9, 1e3);
  EXPECT_NEAR(pcie_limits(link(5, 16)).h2d, 58.449052e9, 1e3);  // 63.015385 x 256 / 276
}

TEST(PcieLimits, OfBothWaysCountTheRequestsBesideTheWrites) {
  EXPECT_NEAR(pcie_limits(link(5, 16, 256, 256)).both, 106.131174e9, 1e3);  // 2 x 63.015385 x 256 / (280 + 24)
  EXPECT_EQ(pcie_limits(link(5, 16, 256, 4096)).both, pcie_limits(link(5, 16, 256, 256)).both) << "allowed, not used";
  EXPECT_EQ(pcie_limits(link(5, 16)).both, pcie_limits(link(5, 16, 256, 256)).both) << "what is assumed";
  for (const unsigned request : {128U, 512U, 4096U}) {
    const auto limits = pcie_limits(link(4, 8, 128, request));
    EXPECT_LT(limits.both, 2 * limits.d2h) << request;
  }
}

TEST(PciePackets, TellWhatIsAllowedFromWhatIsAssumed) {
  EXPECT_EQ(model::pcie_packets(link(5, 16)).allowed_request, std::nullopt) << "nothing was read";
  EXPECT_EQ(model::pcie_packets(link(5, 16, 256, 4096)).allowed_request, 4096U);
  EXPECT_EQ(model::pcie_packets(link(5, 16, 256, 4096)).read_request, 256U);
  EXPECT_EQ(model::pcie_packets(link(5, 16, 256, 128)).read_request, 128U) << "no more than it may";
}

/// Measured on an H200 in GB/s: D2H alone 55.34; both at once D2H 50.7, H2D 52.3. The read requests of H2D, each for
/// 256 bytes, use D2H's lanes and explain the difference.
TEST(PcieLimits, RequestsOf256BytesExplainWhatAnH200Does) {
  const auto beside = [](unsigned request) {
    const model::PcieCost cost = pcie_cost(link(5, 16, 256, request));
    return 55.34 - 52.3 * cost.requests / cost.writes;
  };
  EXPECT_NEAR(beside(256), 50.86, 0.01);
  EXPECT_LT(beside(128), 47);
}

TEST(PcieLimits, FollowTheSizesOfPacketsAndRequests) {
  EXPECT_DOUBLE_EQ(pcie_cost(link(5, 16, 512, 4096)).completions, 1 + 20.0 / 256) << "no answer exceeds its request";
  EXPECT_DOUBLE_EQ(pcie_cost(link(5, 16, 512, 4096)).writes, 1 + 24.0 / 512);
  EXPECT_DOUBLE_EQ(pcie_cost(link(5, 16, 512, 4096)).requests, 24.0 / 256);
  EXPECT_DOUBLE_EQ(pcie_cost(link(5, 16, 512, 128)).completions, 1 + 20.0 / 128) << "no answer exceeds its request";
}

TEST(PcieLimits, AreProportionalToTheLanesAndUnknownForAGenerationWithoutOne) {
  EXPECT_DOUBLE_EQ(pcie_limits(link(4, 16)).h2d, 16 * pcie_limits(link(4, 1)).h2d);
  EXPECT_EQ(pcie_limits(link(0, 16)).h2d, 0);
  EXPECT_EQ(pcie_limits(link(6, 16)).both, 0) << "generation 6 sends flits, whose overhead is another";
  EXPECT_EQ(pcie_limits(link(5, 0)).d2h, 0);
  EXPECT_EQ(pcie_limits(std::nullopt).h2d, 0);
}

// --- Configuration space ---------------------------------------------------------------------------------------------

using Space = std::array<std::byte, 256>;

/// Capabilities: power management at 0x60, PCI Express at 0x78 with this Device Control register.
Space space_with(unsigned control) {
  Space space{};
  space[0x34] = std::byte{0x60};
  space[0x60] = std::byte{0x01};
  space[0x61] = std::byte{0x78};
  space[0x78] = std::byte{0x10};
  space[0x80] = static_cast<std::byte>(control & 0xFFU);
  space[0x81] = static_cast<std::byte>(control >> 8U);
  return space;
}

constexpr unsigned kOf256And512 = 1U << 5U | 2U << 12U | 0x80FU;  // payload 256, read request 512, other bits set

TEST(PacketSizes, AreReadFromDeviceControl) {
  EXPECT_EQ(packet_sizes(space_with(kOf256And512)), (PacketSizes{256, 512}));
  EXPECT_EQ(packet_sizes(space_with(0)), (PacketSizes{128, 128}));
  EXPECT_EQ(packet_sizes(space_with(5U << 5U | 5U << 12U)), (PacketSizes{4096, 4096}));
  EXPECT_EQ(packet_sizes(space_with(6U << 5U)), PacketSizes{}) << "reserved";
}

TEST(PacketSizes, AreUnknownWhereTheSpaceEndsLeadsNowhereOrInACircle) {
  Space space = space_with(kOf256And512);
  EXPECT_EQ(packet_sizes(std::span(space).first(64)), PacketSizes{}) << "what the unprivileged see";
  EXPECT_EQ(packet_sizes(std::span(space).first(0x80)), PacketSizes{});
  EXPECT_EQ(packet_sizes({}), PacketSizes{});
  space[0x61] = std::byte{0x60};
  EXPECT_EQ(packet_sizes(space), PacketSizes{});
  space[0x61] = std::byte{0};
  EXPECT_EQ(packet_sizes(space), PacketSizes{});
}

/// A GPU below a root port, in a folder that imitates sysfs.
class LinkInSysfs : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(gpu()); }
  void TearDown() override { std::filesystem::remove_all(port_); }

  static void write(const std::filesystem::path& folder, const Space& space, std::size_t bytes = sizeof(Space)) {
    std::ofstream(folder / "config", std::ios::binary)
        .write(reinterpret_cast<const char*>(space.data()), static_cast<std::streamsize>(bytes));
  }
  [[nodiscard]] const std::filesystem::path& port() const { return port_; }
  [[nodiscard]] std::filesystem::path gpu() const { return port_ / "0000:0f:00.0"; }

 private:
  std::filesystem::path port_ = std::filesystem::path(testing::TempDir()) / ("port-" + std::to_string(getpid()));
};

TEST_F(LinkInSysfs, HasTheSmallerPayloadOfGpuAndPortAndTheGpusRequests) {
  write(gpu(), space_with(2U << 5U | 2U << 12U));
  EXPECT_EQ(packet_sizes_of_link(gpu()), (PacketSizes{512, 512})) << "the port is not shown";
  write(port(), space_with(1U << 5U | 5U << 12U));
  EXPECT_EQ(packet_sizes_of_link(gpu()), (PacketSizes{256, 512}));
}

TEST_F(LinkInSysfs, IsUnknownWhereTheGpusIsNotReadable) {
  EXPECT_EQ(packet_sizes_of_link(gpu()), PacketSizes{});
  write(port(), space_with(kOf256And512));
  write(gpu(), space_with(kOf256And512), 64);
  EXPECT_EQ(packet_sizes_of_link(gpu()), PacketSizes{});
}

}  // namespace
}  // namespace xferbench
