// `xferbench info`: the link, NUMA nodes and GPUs of a machine, and the links between GPUs.
#include "words/machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "unit/report_fixture.hpp"

namespace xferbench {
namespace {

/// All facts of this name, separated by blanks; empty if there are none.
std::string said(const Labels& facts, const std::string& name) {
  std::string all;
  for (const auto& [its_name, text] : facts) {
    if (its_name == name) all += (all.empty() ? "" : " ") + text;
  }
  return all;
}

TEST(InfoOnNuma, SaysWhereTheProcessIsAndWhatWasNotPossible) {
  struct NumaCase {
    std::optional<unsigned> node;
    std::optional<unsigned> gpus;
    std::string note;
    const char* text;
  };
  const std::string unknown = "the GPU's NUMA node is unknown";
  for (const NumaCase& t : {NumaCase{{}, {}, "", ""},
                            {1, {}, "", "1"},
                            {1, 1, "", "1, the GPU's"},
                            {1, 0, "", "1; the GPU's is 0"},
                            {{}, 0, "", "no single node; the GPU's is 0"},
                            {{}, {}, unknown, "no single node (the GPU's NUMA node is unknown)"},
                            {0, {}, unknown, "0 (the GPU's NUMA node is unknown)"}}) {
    Environment::Host host;
    host.numa_node = t.node;
    host.gpu_numa_node = t.gpus;
    host.numa_note = t.note;
    if (!t.note.empty()) host.numa_policy = "local";
    EXPECT_EQ(said(host_facts(host), "  NUMA node"), t.text);
  }
}

TEST(InfoOnTheLink, SaysWhatItCarriesWhetherUnderLoadAndWhatTheGpuCouldDo) {
  using Pcie = Environment::Pcie;
  const std::string gen5 = "payload limit 58.45 GB/s H2D, 57.61 GB/s D2H, 106.1 GB/s both at once (";
  const std::string assumed = "assuming packets of 256 bytes and read requests of 256";
  const std::string unread = assumed + "; only privileged users can read the real sizes)";
  const std::vector<std::pair<std::optional<Pcie>, std::string>> links{
      {Pcie{5, 16, "nvml", 5, 16, true}, "PCIe Gen5 x16 under load, " + gen5 + unread},
      {Pcie{5, 16, "nvml", 5, 16, false}, "PCIe Gen5 x16, " + gen5 + unread + "; its speed under load is unknown"},
      {Pcie{4, 8, "nvml", 5, 16, true},
       "PCIe Gen4 x8 under load, payload limit 14.61 GB/s H2D, 14.40 GB/s D2H, 26.53 GB/s both at once (" + unread +
           "; the GPU supports Gen5 x16: check its slot, riser and BIOS settings"},
      {Pcie{5, 16, "nvml", 5, 16, true, 256, 512},
       "PCIe Gen5 x16 under load, payload limit 58.45 GB/s H2D, 57.61 GB/s D2H, 106.1 GB/s both at once (packets of "
       "256 bytes; read requests of 256 bytes assumed (maximum 512))"},
      {Pcie{5, 16, "profile"}, "PCIe Gen5 x16, " + gen5 + assumed + ")"},
      {std::nullopt, "unknown: neither NVML nor sysfs reports it"}};
  for (const auto& [link, text] : links) {
    Environment e = test::real_report().environment;
    e.gpu.pcie = link;
    EXPECT_EQ(said(gpu_facts(e), "  link"), text);
  }
}

/// A machine of `count` GPUs, all connected by NVLink.
Environment several(int count) {
  Environment e = test::real_report().environment;
  for (int i = 0; i < count; ++i) {
    e.gpus.push_back(e.gpu);
    e.gpus.back().index = i;
    e.gpus.back().pci_bus_id = "0000:0" + std::to_string(i) + ":00.0";
    e.gpus.back().nvlinks = 18;
    e.gpus.back().nvlink_bandwidth = 18 * 26.5625e9;
    for (int to = 0; to < count; ++to) {
      if (to != i) e.links.push_back({i, to, true, true, 18, 18 * 26.5625e9});
    }
  }
  e.gpu = e.gpus.front();
  return e;
}

TEST(InfoOnSeveralGpus, TellsOfEachAndOfWhatIsBetweenThem) {
  Environment e = several(2);
  e.gpus[1].numa_node = 1;
  const Labels text = gpu_facts(e);
  EXPECT_EQ(said(text, "  NVLink"), "18 links, 478.1 GB/s per direction 18 links, 478.1 GB/s per direction");
  EXPECT_EQ(said(text, "  NUMA node"), "1") << "only where it is known";
  EXPECT_EQ(said(text, "peers"), "both are connected over 18 NVLinks, 478.1 GB/s per direction");
  EXPECT_EQ(said(text, "PCI bridges"), "") << "none is known";
  EXPECT_EQ(said(text, "driver"), e.driver);
  EXPECT_EQ(said(gpu_facts(test::real_report().environment), "peers"), "") << "one GPU has no peers";
}

TEST(InfoOnSeveralGpus, SaysHowTheyReachEachOther) {
  EXPECT_EQ(said(gpu_facts(several(4)), "peers"), "all are connected over 18 NVLinks, 478.1 GB/s per direction");
  Environment e = several(3);
  for (Environment::PeerLink& link : e.links) link = {link.from, link.to};
  EXPECT_EQ(said(gpu_facts(e), "peers"), "none can access another's memory: copies between them go through the host");
  for (Environment::PeerLink& link : e.links) link.access = true;
  EXPECT_EQ(said(gpu_facts(e), "peers"), "all are connected over the PCI bus, without atomics");
  for (Environment::PeerLink& link : e.links) link.atomics = true;
  EXPECT_EQ(said(gpu_facts(e), "peers"), "all are connected over the PCI bus");
  for (Environment::PeerLink& link : e.links) {
    if (link.from + link.to == 1) link.nvlinks = 1;  // the pair 0 and 1
    if (link.from == 2 && link.to == 1) link.access = false;
  }
  EXPECT_EQ(said(gpu_facts(e), "peers"),
            "0-1 over 1 NVLink; 0-2, 1 to 2 over the PCI bus; 2 to 1 through the host, without peer access");
}

TEST(InfoOnSeveralGpus, NamesTheNearestBridgeThatSomeShare) {
  Environment e = several(4);
  const auto told = [&e] { return said(gpu_facts(e), "PCI bridges"); };
  for (std::size_t i = 0; i < 4; ++i) e.gpus[i].bridges = {"0000:0" + std::to_string(i) + ":01.0"};
  EXPECT_EQ(told(), "no shared bridge");
  for (std::size_t i = 0; i < 2; ++i)
    e.gpus[i].bridges.insert(e.gpus[i].bridges.end(), {"0000:a0:00.0", "0000:b0:00.0"});
  EXPECT_EQ(told(), "0, 1 share 0000:a0:00.0") << "what is above that they share as well";
  e.gpus[3].bridges.emplace_back("0000:b0:00.0");
  EXPECT_EQ(told(), "0, 1 share 0000:a0:00.0; 0, 1, 3 share 0000:b0:00.0");
}

TEST(InfoOnSeveralGpus, SaysWhichAreOnWhichNode) {
  Environment e = several(8);
  const auto told = [&e] { return said(gpu_facts(e), "NUMA nodes"); };
  EXPECT_EQ(told(), "") << "none is known";
  for (Environment::Gpu& gpu : e.gpus) gpu.numa_node = 1;
  EXPECT_EQ(told(), "") << "one is no choice";
  for (std::size_t i = 0; i < 4; ++i) e.gpus[i].numa_node = 0;
  EXPECT_EQ(told(), "0: GPUs 0 to 3; 1: GPUs 4 to 7");
  e.gpus[5].numa_node = 0;
  e.gpus[0].numa_node = 2;
  e.gpus[7].numa_node.reset();
  EXPECT_EQ(told(), "0: GPUs 1 to 3, 5; 1: GPUs 4, 6; 2: GPU 0");
  Environment spread = several(32);
  for (std::size_t i = 0; i < 32; ++i) spread.gpus[i].numa_node = static_cast<int>(i % 4);
  e = spread;
  EXPECT_TRUE(told().ends_with("3: GPUs 3, 7, 11, 15, 19, 23, 27, 31")) << "over lines of at most 80 columns";
}

TEST(InfoOnOneGpu, SaysItsNodeWhereThatIsKnown) {
  Environment e = test::real_report().environment;
  EXPECT_EQ(said(gpu_facts(e), "  NUMA node"), "");
  e.gpu.numa_node = 1;
  EXPECT_EQ(said(gpu_facts(e), "  NUMA node"), "1");
  EXPECT_EQ(said(gpu_facts(e), "NUMA nodes"), "");
}

TEST(InfoOnSeveralGpus, SaysThatAGpuIsAPartOfOne) {
  Environment e = test::real_report().environment;
  EXPECT_EQ(said(gpu_facts(e), "GPU").find("MIG"), std::string::npos);
  e.gpu.mig = true;
  EXPECT_NE(said(gpu_facts(e), "GPU").find("MIG instance"), std::string::npos);
}

TEST(MachineLine, SaysThatCopiesAreEncrypted) {
  Environment e = test::real_report().environment;
  e.gpu.confidential = true;
  EXPECT_EQ(machine_line(e),
            "NVIDIA H200, PCIe Gen5 x16, confidential computing (copies are encrypted), driver 580.1, Some CPU");
  EXPECT_TRUE(said(gpu_facts(e), "GPU").ends_with(", confidential computing (copies are encrypted)"));
}

TEST(MachineLine, NamesTheGpuItsLinkTheDriverAndTheProcessor) {
  Environment e = test::real_report().environment;
  EXPECT_EQ(machine_line(e), "NVIDIA H200, PCIe Gen5 x16, driver 580.1, Some CPU");
  e.gpu.pcie = Environment::Pcie{4, 8, "nvml", 5, 16, true};
  EXPECT_EQ(machine_line(e), "NVIDIA H200, PCIe Gen4 x8 (the GPU supports Gen5 x16), driver 580.1, Some CPU");
  e.gpu.pcie.reset();
  e.driver.clear();
  EXPECT_EQ(machine_line(e), "NVIDIA H200, Some CPU") << "what is not known is not spoken of";
  EXPECT_EQ(machine_line(test::simulated_report().environment), "NVIDIA H200, PCIe Gen5 x16");
}

TEST(MachineLine, CountsSeveralGpusAndNumbersThemWhereTheyAreNotTheFirst) {
  Environment e = several(3);
  EXPECT_TRUE(machine_line(e).starts_with("3 x NVIDIA H200, PCIe Gen5 x16, ")) << machine_line(e);
  e.gpus[1].name = "NVIDIA A100";
  EXPECT_TRUE(machine_line(e).starts_with("2 x NVIDIA H200 and 1 x NVIDIA A100, ")) << machine_line(e);
  e = several(2);
  e.gpus[1].index = 4;
  EXPECT_TRUE(machine_line(e).starts_with("2 x NVIDIA H200 (GPUs 0,4), ")) << machine_line(e);
}

TEST(InfoOnLimits, LeavesOutWhatIsNotKnown) {
  Environment e = several(2);
  const auto names = [](const Environment::Gpu& gpu) {
    std::vector<std::string> all;
    for (const Metric& limit : limits_of(gpu)) all.push_back(limit.name);
    return all;
  };
  EXPECT_EQ(names(e.gpu).back(), "nvlink");
  e.gpu.nvlink_bandwidth = 0;
  EXPECT_EQ(std::ranges::count(names(e.gpu), "nvlink"), 0);
}

}  // namespace
}  // namespace xferbench
