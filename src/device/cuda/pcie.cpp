// Reads the generation and width of a GPU's PCIe link while copies keep it busy.
#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <functional>

#include "core/error.hpp"
#include "device/cuda/describe.hpp"
#include "device/pcie_config.hpp"

namespace xferbench::cuda {

namespace {

/// Generation and width of a PCIe link; 0 if unknown.
struct Link {
  unsigned generation = 0;
  unsigned width = 0;
  [[nodiscard]] bool known() const { return generation > 0 && width > 0; }
};

Link larger(Link a, Link b) { return {std::max(a.generation, b.generation), std::max(a.width, b.width)}; }

/// Returns the smaller of two numbers; if one is 0 (unknown), the other.
unsigned smaller(unsigned a, unsigned b) { return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b); }

/// A source of link data: NVML or sysfs.
struct Source {
  std::string name;
  Link gpu;                       ///< maximum that the GPU itself supports
  Link reachable;                 ///< maximum that GPU and slot both support
  std::function<Link()> current;  ///< reads the current state
};

// --- NVML and sysfs -------------------------------------------------------------------------------------------------

std::optional<Source> nvml_source(const Nvml& nvml, const std::string& pci_bus_id) {
  const auto device = nvml.device(pci_bus_id);
  if (!device) return std::nullopt;
  const auto ask = [&nvml, handle = *device](const char* what) { return nvml.number(what, handle).value_or(0); };
  Source source;
  source.name = "nvml";
  source.reachable = {ask("nvmlDeviceGetMaxPcieLinkGeneration"), ask("nvmlDeviceGetMaxPcieLinkWidth")};
  // NVML does not report the maximum width of the GPU itself, and older drivers do not report its maximum generation.
  source.gpu = larger(source.reachable, {ask("nvmlDeviceGetGpuMaxPcieLinkGeneration"), 0});
  source.current = [ask] {
    return Link{ask("nvmlDeviceGetCurrPcieLinkGeneration"), ask("nvmlDeviceGetCurrPcieLinkWidth")};
  };
  return source.reachable.known() ? std::optional(source) : std::nullopt;
}

/// Transfer rates in GT/s per lane, from generation 1 on.
constexpr std::array<double, 7> kRates{2.5, 5, 8, 16, 32, 64, 128};

unsigned generation_of(double gigatransfers) {
  const auto found = std::ranges::find(kRates, gigatransfers);
  return found == kRates.end() ? 0 : static_cast<unsigned>(found - kRates.begin()) + 1;
}

/// Reads generation and width from a device's sysfs folder. `which` is "current" or "max".
Link link_in(const std::string& folder, const std::string& which) {
  double gigatransfers = 0;
  std::ifstream(folder + "/" + which + "_link_speed") >> gigatransfers;  // for example "32.0 GT/s PCIe"
  unsigned width = 0;
  std::ifstream(folder + "/" + which + "_link_width") >> width;
  constexpr unsigned kWidest = 32;  // maximum width; an unknown width reads as 0 or 255
  return {generation_of(gigatransfers), width > kWidest ? 0 : width};
}

std::optional<Source> sysfs_source(const std::string& pci_bus_id) {
  const std::string folder = sysfs_folder(pci_bus_id);
  const Link slot = link_in(folder + "/..", "max");
  Source source;
  source.name = "sysfs";
  source.gpu = link_in(folder, "max");
  source.reachable = {smaller(source.gpu.generation, slot.generation), smaller(source.gpu.width, slot.width)};
  source.current = [folder] { return link_in(folder, "current"); };
  return source.reachable.known() ? std::optional(source) : std::nullopt;
}

// --- Under load -----------------------------------------------------------------------------------------------------

/// Keeps the link busy with pinned H2D copies in a stream of its own.
class Traffic {
 public:
  static constexpr std::size_t kBytes = std::size_t{4} << 20;  // bytes per copy

  explicit Traffic(Device& device)
      : host_(device.allocate_host(kBytes, HostMemory::pinned)),
        gpu_(device.allocate_device(kBytes)),
        done_(device.make_event(EventKind::ordering)),
        stream_(device.make_stream(StreamKind::nonblocking)) {}

  void add(unsigned copies) const {
    for (unsigned i = 0; i < copies; ++i) stream_.copy({gpu_.data, host_.data, kBytes, Direction::h2d});
    stream_.record(done_);
  }
  [[nodiscard]] bool in_flight() const { return !done_.finished(); }
  void finish() const { stream_.synchronize(); }

 private:
  HostBuffer host_;
  DeviceBuffer gpu_;
  Event done_;
  Stream stream_;  // last member, so destroyed first: no copy may run when the buffers are freed
};

/// Whether the raw rate of the reported link is at least `bytes_per_second`. Some virtual machines report links that
/// are slower than the measured traffic.
bool can_carry(Link link, double bytes_per_second) {
  if (!link.known() || link.generation > kRates.size()) return link.known();
  return bytes_per_second <= kRates[link.generation - 1] * 1e9 / 8 * link.width;
}

/// Returns the link state while copies are in flight; unknown if it cannot be read. Enqueues a batch of copies, reads
/// the state, and repeats both until the link reaches its maximum. An idle link may need some tens of milliseconds to
/// train up. After 200 ms, returns the best state that was read.
Link look_under_load(const Source& source, Device& device) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kTimeout{200};
  constexpr unsigned kMostCopies = 256;
  unsigned copies = 8;  // 32 MiB: 0.6 ms at Gen5 x16, ten times as long as two NVML queries
  const Traffic traffic(device);
  Link seen;
  const auto reached = [&] {
    return seen.generation >= source.reachable.generation && seen.width >= source.reachable.width;
  };
  const Clock::time_point begin = Clock::now();
  do {
    const Clock::time_point added = Clock::now();
    traffic.add(copies);
    const Link link = source.current();
    const bool in_flight = traffic.in_flight();
    traffic.finish();
    const std::chrono::duration<double> time = Clock::now() - added;
    if (!in_flight) {  // the link may have been idle during the reading
      copies = std::min(2 * copies, kMostCopies);
    } else if (can_carry(link, static_cast<double>(copies) * Traffic::kBytes / time.count())) {
      seen = larger(seen, link);
    }
  } while (!reached() && Clock::now() - begin < kTimeout);
  return seen;
}

}  // namespace

std::optional<Environment::Pcie> pcie_link(Device& device, const Nvml& nvml, const std::string& pci_bus_id) {
  auto source = nvml_source(nvml, pci_bus_id);
  if (!source) source = sysfs_source(pci_bus_id);
  if (!source) return std::nullopt;
  Link seen;
  try {
    seen = look_under_load(*source, device);
  } catch (const DeviceError&) {  // without traffic, the maximum is reported instead
  }
  const Link link = seen.known() ? seen : source->reachable;
  const Link most = larger(link, source->gpu);
  const PacketSizes sizes = packet_sizes_of_link(sysfs_folder(pci_bus_id));
  return Environment::Pcie{.generation = link.generation,
                           .width = link.width,
                           .source = source->name,
                           .max_generation = most.generation,
                           .max_width = most.width,
                           .under_load = seen.known(),
                           .max_payload = sizes.max_payload,
                           .max_read_request = sizes.max_read_request};
}

}  // namespace xferbench::cuda
