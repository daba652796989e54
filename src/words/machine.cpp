#include "words/machine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "core/lists.hpp"
#include "core/units.hpp"
#include "model/pcie.hpp"
#include "paper/text.hpp"
#include "version.hpp"

namespace xferbench {

namespace {

void add(Labels& facts, const char* name, std::string text) {
  if (!text.empty()) facts.emplace_back(name, std::move(text));
}

std::string rate(double bytes_per_second) { return format_significant(bytes_per_second / 1e9) + " GB/s"; }

/// Returns for example "packets of 256 bytes; read requests of 256 bytes assumed (maximum 512)".
std::string packets_text(const Environment::Pcie& link) {
  const model::PciePackets packets = model::pcie_packets(link);
  if (packets.allowed_request) {
    return fmt::format("packets of {} bytes; read requests of {} bytes assumed (maximum {})", packets.payload,
                       packets.read_request, *packets.allowed_request);
  }
  return fmt::format("assuming packets of {} bytes and read requests of {}{}", packets.payload, packets.read_request,
                     link.source == "profile" ? "" : "; only privileged users can read the real sizes");
}

std::string link_text(const Environment::Pcie& link) {
  std::string text = fmt::format("PCIe Gen{} x{}", link.generation, link.width);
  if (link.under_load) text += " under load";
  if (const model::PcieLimits limits = model::pcie_limits(link); limits.h2d > 0) {
    text += fmt::format(", payload limit {} H2D, {} D2H, {} both at once ({})", rate(limits.h2d), rate(limits.d2h),
                        rate(limits.both), packets_text(link));
  }
  if (link.below_maximum()) {
    text += fmt::format("; the GPU supports Gen{} x{}: check its slot, riser and BIOS settings", link.max_generation,
                        link.max_width);
  } else if (link.max_generation > 0 && !link.under_load) {
    text += "; its speed under load is unknown";
  }
  return text;
}

/// Returns the NUMA nodes of process and GPU, for example "0, the GPU's" or "1; the GPU's is 0"; empty if unknown.
std::string numa_text(const Environment::Host& host, std::size_t gpus) {
  if (!host.numa_node && !host.gpu_numa_node && host.numa_note.empty()) return {};
  std::string text = host.numa_node ? std::to_string(*host.numa_node) : "no single node";
  if (host.gpu_numa_node) {
    const char* whose = gpus == 1 ? "the GPU's" : "the GPUs'";
    text += host.gpu_numa_node == host.numa_node ? fmt::format(", {}", whose)
                                                 : fmt::format("; {} is {}", whose, *host.gpu_numa_node);
  }
  return host.numa_note.empty() ? text : fmt::format("{} ({})", text, host.numa_note);
}

std::string nvlink_text(const Environment::Gpu& gpu) {
  if (gpu.nvlinks == 0) return {};
  std::string text = counted(gpu.nvlinks, "link");
  if (gpu.nvlink_bandwidth > 0) text += fmt::format(", {} per direction", rate(gpu.nvlink_bandwidth));
  return text;
}

// --- How several GPUs reach each other -------------------------------------------------------------------------------

/// Returns for example "over 18 NVLinks, 478.1 GB/s per direction".
std::string way_text(const Environment::PeerLink& link) {
  if (!link.access) return "through the host, without peer access";
  std::string text = "over " + (link.nvlinks == 0 ? "the PCI bus" : counted(link.nvlinks, "NVLink"));
  if (link.bandwidth > 0) text += fmt::format(", {} per direction", rate(link.bandwidth));
  return link.atomics ? text : text + ", without atomics";
}

/// Pairs of GPUs that have the same kind of path: "0-1" if the path back is of this kind, too, else "0 to 1".
struct Ways {
  std::string text;
  std::vector<std::string> pairs;
};

std::vector<Ways> grouped_ways(const std::vector<Environment::PeerLink>& links) {
  std::vector<Ways> groups;
  for (const auto& [text, alike] : by_name(links, way_text)) {
    Ways& group = groups.emplace_back(Ways{text, {}});
    for (const Environment::PeerLink& link : alike) {
      const bool same_back = std::ranges::any_of(
          alike, [&](const Environment::PeerLink& other) { return other.from == link.to && other.to == link.from; });
      if (same_back && link.from > link.to) continue;  // the path in the other direction has added this pair
      group.pairs.push_back(fmt::format("{}{}{}", link.from, same_back ? "-" : " to ", link.to));
    }
  }
  return groups;
}

std::string peers_text(const Environment& e) {
  const std::vector<Ways> groups = grouped_ways(e.links);
  if (groups.empty()) return {};
  const bool two = e.gpus.size() == 2;
  if (groups.size() == 1 && e.links.front().access) {
    return fmt::format("{} are connected {}", two ? "both" : "all", groups.front().text);
  }
  if (groups.size() == 1) {
    return fmt::format("{} memory: copies between them go through the host",
                       two ? "neither can access the other's" : "none can access another's");
  }
  std::string text;
  for (const Ways& group : groups) {
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", fmt::join(group.pairs, ", "), group.text);
  }
  return text;
}

/// Returns the groups of GPUs behind the same PCI bridge, each with the bridge that is nearest to its GPUs.
std::string bridges_text(const Environment& e) {
  std::vector<std::pair<std::vector<int>, std::string>> groups;
  bool known = false;
  for (const Environment::Gpu& gpu : e.gpus) {
    for (const std::string& bridge : gpu.bridges) {
      known = true;
      std::vector<int> below;
      for (std::size_t place = 0; place < e.gpus.size(); ++place) {
        const auto& bridges = e.gpus[place].bridges;
        if (has_item(bridges, bridge)) below.push_back(e.number_of(place));
      }
      const bool told = std::ranges::find(groups, below, &decltype(groups)::value_type::first) != groups.end();
      if (below.size() > 1 && !told) groups.emplace_back(below, bridge);
    }
  }
  if (groups.empty()) return known ? "no shared bridge" : "";
  const auto texts =
      list_of(groups, [](const auto& g) { return fmt::format("{} share {}", fmt::join(g.first, ", "), g.second); });
  return fmt::format("{}", fmt::join(texts, "; "));
}

/// Returns for example "GPU 4", "GPUs 0 to 3" or "GPUs 0, 1, 4 to 6".
std::string numbered_gpus(const std::vector<int>& numbers) {
  return fmt::format("GPU{} {}", numbers.size() == 1 ? "" : "s", fmt::join(in_ranges(numbers), ", "));
}

/// Returns the GPUs of each NUMA node, for example "0: GPUs 0 to 3; 1: GPUs 4 to 7"; empty if all are on one node.
std::string nodes_text(const Environment& e) {
  std::map<int, std::vector<int>> nodes;
  for (std::size_t place = 0; place < e.gpu_count(); ++place) {
    if (const auto node = e.gpu_at(place).numa_node) nodes[*node].push_back(e.number_of(place));
  }
  if (nodes.size() < 2) return {};
  const auto texts =
      list_of(nodes, [](const auto& node) { return fmt::format("{}: {}", node.first, numbered_gpus(node.second)); });
  return fmt::format("{}", fmt::join(texts, "; "));
}

constexpr const char* kEncrypted = ", confidential computing (copies are encrypted)";

void add_gpu(Labels& facts, const Environment& e, const Environment::Gpu& gpu) {
  std::string name = gpu.index ? fmt::format("{}: {}", *gpu.index, gpu.name) : gpu.name;
  if (e.simulated()) name += fmt::format(" (SIMULATED by profile {})", e.profile_text());
  if (gpu.mig) name += ", MIG instance";
  if (gpu.confidential) name += kEncrypted;
  add(facts, "GPU", name);
  add(facts, "  chip",
      fmt::format("compute capability {}, {} SMs up to {:.0f} MHz", gpu.compute_capability, gpu.multiprocessors,
                  gpu.max_sm_clock_hz / 1e6));
  add(facts, "  engines", fmt::format("{} for copies", gpu.copy_engines));
  std::string memory = format_memory(gpu.memory_bytes);
  if (gpu.memory_bandwidth > 0) memory += ", limit " + rate(gpu.memory_bandwidth) + " (reads plus writes)";
  if (gpu.ecc) memory += *gpu.ecc ? ", ECC on" : ", ECC off";
  add(facts, "  memory", memory);
  add(facts, "  link", gpu.pcie ? link_text(*gpu.pcie) : "unknown: neither NVML nor sysfs reports it");
  add(facts, "  NVLink", nvlink_text(gpu));
  if (gpu.numa_node) add(facts, "  NUMA node", std::to_string(*gpu.numa_node));
  add(facts, "  id", fmt::format("{}{}{}", gpu.uuid, gpu.pci_bus_id.empty() ? "" : " at PCI ", gpu.pci_bus_id));
}

// --- One line --------------------------------------------------------------------------------------------------------

/// Returns for example " (GPUs 0,4)"; empty if they are the first of the machine.
std::string gpu_selection_text(const Environment& e) {
  const std::vector<int> numbers = e.gpu_numbers();
  std::vector<int> first(numbers.size());
  std::iota(first.begin(), first.end(), 0);
  return numbers == first ? "" : fmt::format(" (GPUs {})", gpus_text(numbers, ','));
}

/// Returns for example "NVIDIA H200"; several GPUs as "2 x NVIDIA H200", two kinds joined by "and".
std::string gpus_in_words(const Environment& e) {
  if (e.gpus.empty()) return e.gpu.name + (e.gpu.index.value_or(0) == 0 ? "" : fmt::format(" (GPU {})", *e.gpu.index));
  const auto words = list_of(by_name(e.gpus, &Environment::Gpu::name), [](const auto& model) {
    return fmt::format("{} x {}", model.second.size(), model.first);
  });
  return fmt::format("{}{}", fmt::join(words, " and "), gpu_selection_text(e));
}

}  // namespace

std::string version_line() {
  std::string text = fmt::format("xferbench {}", build::kVersion);
  if (*build::kGit != '\0') text += fmt::format(" ({})", build::kGit);
  text += fmt::format(", {}", build::kCompiler);
  text += *build::kCuda != '\0' ? fmt::format(", CUDA {}", build::kCuda)
                                : std::string(", built without CUDA (simulated GPUs only)");
  const std::string type = build::kType;
  // With CMake's build type None, which the tests use, CMake adds no compiler flags.
  return text + ", " + (type.empty() || type == "None" ? "no build type" : type);
}

std::vector<Metric> limits_of(const Environment::Gpu& gpu) {
  const model::PcieLimits link = model::pcie_limits(gpu.pcie);
  std::vector<Metric> limits{{"link", link.h2d / 1e9, "GB/s"},
                             {"link_d2h", link.d2h / 1e9, "GB/s"},
                             {"link_both", link.both / 1e9, "GB/s"},
                             {"memory", gpu.memory_bandwidth / 1e9, "GB/s"},
                             {"nvlink", gpu.nvlink_bandwidth / 1e9, "GB/s"}};
  std::erase_if(limits, [](const Metric& limit) { return !(limit.value > 0); });
  return limits;
}

std::string machine_line(const Environment& e) {
  std::string text = gpus_in_words(e);
  if (e.gpu.pcie) text += fmt::format(", PCIe Gen{} x{}", e.gpu.pcie->generation, e.gpu.pcie->width);
  if (e.gpu.pcie && e.gpu.pcie->below_maximum()) {
    text += fmt::format(" (the GPU supports Gen{} x{})", e.gpu.pcie->max_generation, e.gpu.pcie->max_width);
  }
  if (e.gpu.confidential) text += kEncrypted;
  if (!e.driver.empty()) text += ", driver " + e.driver;
  if (!e.host.cpu.empty() && !e.simulated()) text += ", " + e.host.cpu;
  return text;
}

Labels gpu_facts(const Environment& e) {
  Labels facts;
  for (std::size_t place = 0; place < e.gpu_count(); ++place) add_gpu(facts, e, e.gpu_at(place));
  add(facts, "peers", peers_text(e));
  add(facts, "NUMA nodes", nodes_text(e));
  add(facts, "PCI bridges", bridges_text(e));
  add(facts, "driver", e.driver);
  add(facts, "runtime", e.runtime.empty() ? "" : "CUDA " + e.runtime);
  return facts;
}

Labels host_facts(const Environment::Host& host, std::size_t gpus) {
  Labels facts;
  add(facts, "host",
      fmt::format("{}, {} logical CPUs, {} of memory", host.cpu.empty() ? "unknown CPU" : host.cpu, host.logical_cpus,
                  format_size(host.memory_bytes)));
  add(facts, "  kernel", host.kernel);
  add(facts, "  NUMA node", numa_text(host, gpus));
  return facts;
}

}  // namespace xferbench
