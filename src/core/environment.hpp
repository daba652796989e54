// The description of the machine on which a run was measured, for reports.
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

/// Environment variable that injects a fault into the device, for tests (device/injection.hpp).
inline constexpr const char* kInjectVariable = "XFERBENCH_INJECT";
/// Field of a profile file that injects a fault into the simulated device.
inline constexpr const char* kInjectField = "inject";
/// Maximum number of changed profile fields that a heading lists.
inline constexpr std::size_t kChangesInHeadings = 4;

/// Description of the machine. Unknown values are absent.
struct Environment {
  struct Pcie {
    unsigned generation = 0;
    unsigned width = 0;
    std::string source{};         ///< where the link's data was read: "nvml", "sysfs" or "profile"
    unsigned max_generation = 0;  ///< highest PCIe generation that the GPU supports; 0: unknown
    unsigned max_width = 0;
    /// whether generation and width were read during copies; false: they are the highest that GPU and slot support
    bool under_load = false;
    /// maximum payload of a packet in bytes: the smaller of the values of GPU and port; 0: could not be read
    unsigned max_payload = 0;
    unsigned max_read_request = 0;  ///< maximum read request size of the GPU in bytes; 0: could not be read
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
    double memory_bandwidth = 0;  ///< bytes per second, computed as clock x bus width; 0: unknown
    std::optional<bool> ecc;
    std::optional<Pcie> pcie;
    std::optional<int> numa_node;  ///< NUMA node to which the GPU is attached
    /// PCI addresses of the bridges between GPU and CPU, the one nearest to the GPU first
    std::vector<std::string> bridges;
    unsigned nvlinks = 0;         ///< number of active NVLinks
    double nvlink_bandwidth = 0;  ///< bytes per second of all NVLinks together in one direction; 0: unknown
    bool mig = false;             ///< true if this is a MIG instance: other processes may use the rest of the GPU
    bool confidential = false;    ///< confidential computing: what crosses the link is encrypted by driver and GPU
    friend bool operator==(const Gpu&, const Gpu&) = default;
  };
  /// The connection from one GPU to another. The opposite direction may differ.
  struct PeerLink {
    int from = 0;  ///< Gpu::index of the GPU that accesses the other
    int to = 0;
    bool access = false;   ///< whether `from` can access the memory of `to` directly (peer access)
    bool atomics = false;  ///< whether `from` can do atomic operations on the memory of `to`
    unsigned nvlinks = 0;  ///< number of NVLinks on the path, including those to switches; 0: the path is PCIe
    double bandwidth = 0;  ///< bytes per second of the NVLinks on the path together; 0: unknown
    friend bool operator==(const PeerLink&, const PeerLink&) = default;
  };
  struct Host {
    std::string cpu;
    unsigned logical_cpus = 0;
    std::uint64_t memory_bytes = 0;
    std::string kernel;
    std::optional<int> numa_node;  ///< NUMA node that the process is restricted to; absent if it may run on several
    std::optional<int> gpu_numa_node;
    std::string
        numa_policy;  ///< requested placement: "local", "node", "none" or "all"; empty if the process was not placed
    std::string numa_note;        ///< why the placement "local" could be done only in part; empty if it was complete
    std::vector<int> numa_nodes;  ///< NUMA nodes of the machine; empty if it has only one
    friend bool operator==(const Host&, const Host&) = default;
  };
  /// One difference between a profile file and the built-in profile on which it is based.
  struct ProfileChange {
    std::string name;  ///< path of the field in the file, for example "scale.link"
    std::variant<double, std::string> value;
    friend bool operator==(const ProfileChange&, const ProfileChange&) = default;
  };
  std::string backend;  ///< "cuda" or "simulated"
  std::string profile;  ///< name of the simulated device's profile
  /// built-in profile on which a profile file is based; empty if `profile` is a built-in one
  std::string profile_base;
  std::vector<ProfileChange> profile_changes;  ///< all differences between the profile file and `profile_base`
  Gpu gpu;                                     ///< the first GPU of the run
  std::vector<Gpu> gpus;                       ///< all GPUs of the run if there are several; else empty
  std::vector<PeerLink> links;                 ///< one for each ordered pair of GPUs
  std::string driver;
  std::string runtime;
  Host host;
  /// environment variables that may change results, with their values
  std::vector<std::pair<std::string, std::string>> variables;
  /// Returns the profile as text: "h200" or "slow-link (h200 with link x 0.9)". By default, the text lists all
  /// changes exactly, so that it identifies the profile. With `most`, the text lists at most that many changes, with
  /// rounded numbers, and says how many more there are.
  [[nodiscard]] std::string profile_text(std::size_t most = std::numeric_limits<std::size_t>::max()) const;
  /// Returns the injected fault from the environment variable or the profile file; empty if there is none.
  [[nodiscard]] std::string injected_fault() const;
  [[nodiscard]] std::size_t gpu_count() const { return gpus.empty() ? 1 : gpus.size(); }
  /// `place` is the index of the GPU among the GPUs of the run, from 0.
  [[nodiscard]] const Gpu& gpu_at(std::size_t place) const { return gpus.empty() ? gpu : gpus.at(place); }
  /// Returns the number by which users select the GPU at index `place`.
  [[nodiscard]] int number_of(std::size_t place) const { return gpu_at(place).index.value_or(static_cast<int>(place)); }
  [[nodiscard]] std::vector<int> gpu_numbers() const {
    std::vector<int> numbers;
    for (std::size_t i = 0; i < gpu_count(); ++i) numbers.push_back(number_of(i));
    return numbers;
  }
  /// Returns the connection between the GPUs with these numbers. If it is unknown, returns one without peer access.
  [[nodiscard]] PeerLink link(int from, int to) const {
    const auto same = [=](const PeerLink& link) { return link.from == from && link.to == to; };
    const auto found = std::ranges::find_if(links, same);
    return found == links.end() ? PeerLink{.from = from, .to = to} : *found;
  }
  [[nodiscard]] bool simulated() const { return backend == "simulated"; }
  friend bool operator==(const Environment&, const Environment&) = default;
};

}  // namespace xferbench
