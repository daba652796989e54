#include "report/run/info.hpp"

#include <fmt/format.h>

#include "core/printable.hpp"
#include "core/units.hpp"
#include "model/bounds.hpp"
#include "version.hpp"

namespace xferbench {

namespace {

std::string line(const char* name, const std::string& text) {
  return text.empty() ? "" : fmt::format("{:<12} {}\n", name, printable(text));
}

std::string rate(double bytes_per_second) { return format_significant(bytes_per_second / 1e9) + " GB/s"; }

std::string link_text(const Environment::Pcie& link) {
  std::string text = fmt::format("PCIe Gen{} x{}", link.generation, link.width);
  if (link.under_load) text += " under load";
  if (const double limit = model::pcie_limit(link.generation, link.width); limit > 0) {
    text += ", at most " + rate(limit) + " of payload each way";
  }
  if (link.below_maximum()) {
    text += fmt::format("; the GPU can do Gen{} x{}: look at its slot, riser and BIOS settings", link.max_generation,
                        link.max_width);
  } else if (link.max_generation > 0 && !link.under_load) {
    text += "; what it is under load could not be seen";
  }
  return text;
}

/// "0, the GPU's", "1; the GPU's is 0"; empty if there is nothing to say.
std::string numa_text(const Environment::Host& host) {
  if (!host.numa_node && !host.gpu_numa_node && host.numa_note.empty()) return {};
  std::string text = host.numa_node ? std::to_string(*host.numa_node) : "not a single one";
  if (host.gpu_numa_node) {
    text +=
        host.gpu_numa_node == host.numa_node ? ", the GPU's" : fmt::format("; the GPU's is {}", *host.gpu_numa_node);
  }
  return host.numa_note.empty() ? text : fmt::format("{} ({})", text, host.numa_note);
}

}  // namespace

std::string version_line() {
  std::string text = fmt::format("xferbench {}", build::kVersion);
  if (*build::kGit != '\0') text += fmt::format(" ({})", build::kGit);
  text += fmt::format(", {}", build::kCompiler);
  text += *build::kCuda != '\0' ? fmt::format(", CUDA {}", build::kCuda)
                                : std::string(", built without CUDA (simulated GPUs only)");
  const std::string type = build::kType;
  // CMake's None is a build whose flags are all its own, as those of the tests are.
  return text + ", " + (type.empty() || type == "None" ? "no build type" : type);
}

std::vector<Metric> limits_of(const Environment::Gpu& gpu) {
  const double link = gpu.pcie ? model::pcie_limit(gpu.pcie->generation, gpu.pcie->width) : 0;
  std::vector<Metric> limits{{"link", link / 1e9, "GB/s"}, {"memory", gpu.memory_bandwidth / 1e9, "GB/s"}};
  std::erase_if(limits, [](const Metric& limit) { return !(limit.value > 0); });
  return limits;
}

std::string describe_gpu(const Environment& e) {
  const Environment::Gpu& gpu = e.gpu;
  std::string name = gpu.index ? fmt::format("{}: {}", *gpu.index, gpu.name) : gpu.name;
  if (e.simulated()) name += fmt::format(" (SIMULATED by profile {})", e.profile);
  std::string text = line("GPU", name);
  text += line("  chip",
               fmt::format("compute capability {}, {} multiprocessors up to {:.0f} MHz, copy engines: {}",
                           gpu.compute_capability, gpu.multiprocessors, gpu.max_sm_clock_hz / 1e6, gpu.copy_engines));
  std::string memory = format_memory(gpu.memory_bytes);
  if (gpu.memory_bandwidth > 0) memory += ", at most " + rate(gpu.memory_bandwidth) + " read plus written";
  if (gpu.ecc) memory += *gpu.ecc ? ", ECC on" : ", ECC off";
  text += line("  memory", memory);
  text += line("  link", gpu.pcie ? link_text(*gpu.pcie) : "unknown: neither NVML nor sysfs tells");
  text += line("  id", fmt::format("{}{}{}", gpu.uuid, gpu.pci_bus_id.empty() ? "" : " at PCI ", gpu.pci_bus_id));
  text += line("driver", e.driver);
  return text + line("runtime", e.runtime.empty() ? "" : "CUDA " + e.runtime);
}

std::string describe_host(const Environment::Host& host) {
  std::string text =
      line("host", fmt::format("{}, {} logical CPUs, {} of memory", host.cpu.empty() ? "unknown CPU" : host.cpu,
                               host.logical_cpus, format_size(host.memory_bytes)));
  text += line("  kernel", host.kernel);
  return text + line("  NUMA node", numa_text(host));
}

}  // namespace xferbench
