// The machine that a run is on: plain facts for reports.
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

/// The environment variable that asks for a fault of the device (device/injection.hpp).
inline constexpr const char* kInjectVariable = "XFERBENCH_INJECT";
/// The field of a profile file that does.
inline constexpr const char* kInjectField = "inject";
/// Changes of a profile that a heading names.
inline constexpr std::size_t kChangesInHeadings = 4;

/// The machine's facts. What is unknown is absent.
struct Environment {
  struct Pcie {
    unsigned generation = 0;
    unsigned width = 0;
    std::string source{};         ///< where the numbers were read: "nvml", "sysfs", "profile"
    unsigned max_generation = 0;  ///< the most that the GPU can do; 0 is unknown
    unsigned max_width = 0;
    bool under_load = false;        ///< read while copies were in flight; else the most that GPU and slot can agree on
    unsigned max_payload = 0;       ///< bytes of one packet, of GPU and port the smaller; 0: could not be read
    unsigned max_read_request = 0;  ///< bytes that one read request of the GPU asks for; 0: could not be read
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
    double memory_bandwidth = 0;  ///< bytes per second from clock x width; 0 is unknown
    std::optional<bool> ecc;
    std::optional<Pcie> pcie;
    std::optional<int> numa_node;      ///< that it is attached to
    std::vector<std::string> bridges;  ///< PCI addresses on its way to the processor, the nearest first
    unsigned nvlinks = 0;              ///< NVLinks that are up
    double nvlink_bandwidth = 0;       ///< bytes per second of all of them together, each way; 0 is unknown
    bool mig = false;                  ///< it is a part of a GPU that others share
    friend bool operator==(const Gpu&, const Gpu&) = default;
  };
  /// The way from one GPU to another, which may differ from the way back.
  struct PeerLink {
    int from = 0;  ///< Gpu::index
    int to = 0;
    bool access = false;   ///< whether `from` can reach the memory of `to` directly
    bool atomics = false;  ///< and do atomic operations on it
    unsigned nvlinks = 0;  ///< that lead there, through switches too; 0: the way is the PCI bus
    double bandwidth = 0;  ///< of those, in bytes per second; 0 is unknown
    friend bool operator==(const PeerLink&, const PeerLink&) = default;
  };
  struct Host {
    std::string cpu;
    unsigned logical_cpus = 0;
    std::uint64_t memory_bytes = 0;
    std::string kernel;
    std::optional<int> numa_node;  ///< the node the process may run on, if it is a single one
    std::optional<int> gpu_numa_node;
    std::string numa_policy;  ///< what was asked for: "local", "node" or "none"; empty where nothing is placed
    std::string numa_note;    ///< why "local" could not be had in full; empty if it could
    friend bool operator==(const Host&, const Host&) = default;
  };
  /// What a profile file makes otherwise than the built-in profile that it is based on.
  struct ProfileChange {
    std::string name;  ///< where the file says it: "scale.link"
    std::variant<double, std::string> value;
    friend bool operator==(const ProfileChange&, const ProfileChange&) = default;
  };
  std::string backend;                         ///< "cuda" or "simulated"
  std::string profile;                         ///< of the simulated device
  std::string profile_base;                    ///< that a profile file is based on; empty: `profile` is built in
  std::vector<ProfileChange> profile_changes;  ///< of a profile file, by name
  Gpu gpu;                                     ///< the first of those that the run is on
  std::vector<Gpu> gpus;                       ///< all of them, where there are several; else empty
  std::vector<PeerLink> links;                 ///< between every two of them, each way
  std::string driver;
  std::string runtime;
  Host host;
  std::vector<std::pair<std::string, std::string>> variables;  ///< environment variables that change results
  /// "h200", "slow-link (h200 with link x 0.9)": with all changes, to the last digit, by which profiles can be told
  /// apart; or for readers, with so many at most, rounded, and the number of those that are left out.
  [[nodiscard]] std::string profile_text(std::size_t most = std::numeric_limits<std::size_t>::max()) const;
  /// The fault that the device was given on purpose, by the variable or by a profile file; empty if it was given none.
  [[nodiscard]] std::string injected_fault() const;
  /// How many GPUs the run is on.
  [[nodiscard]] std::size_t gpu_count() const { return gpus.empty() ? 1 : gpus.size(); }
  /// The GPU at a place among them.
  [[nodiscard]] const Gpu& gpu_at(std::size_t place) const { return gpus.empty() ? gpu : gpus.at(place); }
  /// Its number as users write it.
  [[nodiscard]] int number_of(std::size_t place) const { return gpu_at(place).index.value_or(static_cast<int>(place)); }
  /// Of all, in their order.
  [[nodiscard]] std::vector<int> gpu_numbers() const {
    std::vector<int> numbers;
    for (std::size_t i = 0; i < gpu_count(); ++i) numbers.push_back(number_of(i));
    return numbers;
  }
  /// The way between GPUs of these numbers; one of which nothing is known, and which permits nothing, where there is
  /// none.
  [[nodiscard]] PeerLink link(int from, int to) const {
    const auto same = [=](const PeerLink& link) { return link.from == from && link.to == to; };
    const auto found = std::ranges::find_if(links, same);
    return found == links.end() ? PeerLink{.from = from, .to = to} : *found;
  }
  [[nodiscard]] bool simulated() const { return backend == "simulated"; }
  friend bool operator==(const Environment&, const Environment&) = default;
};

}  // namespace xferbench
