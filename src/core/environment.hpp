// Facts about the machine that a run used, for reports.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace xferbench {

/// The environment variable that injects a device fault (device/injection.hpp).
inline constexpr const char* kInjectVariable = "XFERBENCH_INJECT";
/// The field of a profile file that injects the same faults.
inline constexpr const char* kInjectField = "inject";
/// How many changes of a profile a heading names at most.
inline constexpr std::size_t kChangesInHeadings = 4;

/// Facts about the machine. Unknown ones are absent.
struct Environment {
  struct Pcie {
    unsigned generation = 0;
    unsigned width = 0;
    std::string source{};         ///< where the numbers were read: "nvml", "sysfs", "profile"
    unsigned max_generation = 0;  ///< the highest generation of the GPU; 0: unknown
    unsigned max_width = 0;
    bool under_load = false;        ///< read while copies were in flight; else the highest that GPU and slot support
    unsigned max_payload = 0;       ///< bytes per packet, the smaller of GPU and port; 0: could not be read
    unsigned max_read_request = 0;  ///< the GPU's largest read request in bytes; 0: could not be read
    [[nodiscard]] bool below_maximum() const { return generation < max_generation || width < max_width; }
    friend bool operator==(const Pcie&, const Pcie&) = default;
  };
  struct Gpu {
    std::string name;
    std::optional<int> index;
    std::string uuid;
    std::string pci_bus_id;
    std::string compute_capability;
    unsigned multiprocessors = 0;
    std::uint64_t memory_bytes = 0;
    std::uint64_t l2_bytes = 0;
    unsigned copy_engines = 0;
    double max_sm_clock_hz = 0;
    double memory_bandwidth = 0;  ///< bytes per second, clock x bus width; 0: unknown
    std::optional<bool> ecc;
    std::optional<Pcie> pcie;
    std::optional<int> numa_node;      ///< the NUMA node that the GPU is attached to
    std::vector<std::string> bridges;  ///< PCI addresses between GPU and CPU, the nearest to the GPU first
    unsigned nvlinks = 0;              ///< active NVLinks
    double nvlink_bandwidth = 0;       ///< bytes per second of all NVLinks together, per direction; 0: unknown
    bool mig = false;                  ///< this is a MIG instance: others share the GPU
    friend bool operator==(const Gpu&, const Gpu&) = default;
  };
  /// The path from one GPU to another; the path back may differ.
  struct PeerLink {
    int from = 0;  ///< Gpu::index of the GPU that accesses
    int to = 0;
    bool access = false;   ///< whether `from` can reach the memory of `to` directly
    bool atomics = false;  ///< whether `from` can do atomic operations on that memory
    unsigned nvlinks = 0;  ///< NVLinks on the path, through switches too; 0: the path is PCIe
    double bandwidth = 0;  ///< bytes per second of these NVLinks; 0: unknown
    friend bool operator==(const PeerLink&, const PeerLink&) = default;
  };
  struct Host {
    std::string cpu;
    unsigned logical_cpus = 0;
    std::uint64_t memory_bytes = 0;
    std::string kernel;
    std::optional<int> numa_node;  ///< the node the process may run on, if it is a single one
    std::optional<int> gpu_numa_node;
    std::string numa_policy;  ///< requested placement: "local", "node" or "none"; empty if nothing is placed
    std::string numa_note;    ///< why "local" was not fully possible; empty if it was
    friend bool operator==(const Host&, const Host&) = default;
  };
  /// A value that a profile file changes in the built-in profile it is based on.
  struct ProfileChange {
    std::string name;  ///< path of the field in the file, for example "scale.link"
    std::variant<double, std::string> value;
    friend bool operator==(const ProfileChange&, const ProfileChange&) = default;
  };
  std::string backend;       ///< "cuda" or "simulated"
  std::string profile;       ///< name of the simulated device's profile
  std::string profile_base;  ///< the built-in profile that a profile file is based on; empty: `profile` is built in
  std::vector<ProfileChange> profile_changes;  ///< changes that a profile file makes
  Gpu gpu;                                     ///< the first GPU of the run
  std::vector<Gpu> gpus;                       ///< all GPUs of the run if there are several; else empty
  std::vector<PeerLink> links;                 ///< between every two GPUs, each direction
  std::string driver;
  std::string runtime;
  Host host;
  std::vector<std::pair<std::string, std::string>> variables;  ///< environment variables that change results
  /// The profile in words: "h200", "slow-link (h200 with link x 0.9)". By default it names all changes, to the last
  /// digit, so that the text identifies the profile. With `most` it is for readers: at most that many changes, rounded,
  /// and the number of those left out.
  [[nodiscard]] std::string profile_text(std::size_t most = std::numeric_limits<std::size_t>::max()) const;
  /// The injected fault, from the environment variable or from a profile file; empty if none.
  [[nodiscard]] std::string injected_fault() const;
  [[nodiscard]] std::size_t gpu_count() const { return gpus.empty() ? 1 : gpus.size(); }
  /// `place` counts the GPUs of the run from 0.
  [[nodiscard]] const Gpu& gpu_at(std::size_t place) const { return gpus.empty() ? gpu : gpus.at(place); }
  /// The GPU's number as users write it.
  [[nodiscard]] int number_of(std::size_t place) const { return gpu_at(place).index.value_or(static_cast<int>(place)); }
  [[nodiscard]] std::vector<int> gpu_numbers() const {
    std::vector<int> numbers;
    for (std::size_t i = 0; i < gpu_count(); ++i) numbers.push_back(number_of(i));
    return numbers;
  }
  /// The link between the GPUs with these numbers. If there is none: a link without access and with unknown bandwidth.
  [[nodiscard]] PeerLink link(int from, int to) const {
    const auto same = [=](const PeerLink& link) { return link.from == from && link.to == to; };
    const auto found = std::ranges::find_if(links, same);
    return found == links.end() ? PeerLink{.from = from, .to = to} : *found;
  }
  [[nodiscard]] bool simulated() const { return backend == "simulated"; }
  friend bool operator==(const Environment&, const Environment&) = default;
};

}  // namespace xferbench
