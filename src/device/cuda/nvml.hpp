// NVML, the driver's library for what the CUDA runtime does not tell about a GPU.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/health.hpp"
#include "core/non_copyable.hpp"
#include "device/topology.hpp"

namespace xferbench::cuda {

/// NVML, loaded if the driver brought it; without it every question is answered by nothing. Its interface is declared
/// here by hand (NVML API reference, versioned symbols with _v2): the library belongs to the driver, and linking it
/// would keep the program from starting without one.
class Nvml : NonCopyable {
 public:
  using Handle = struct nvmlDevice_st*;

  Nvml();
  ~Nvml();

  [[nodiscard]] std::optional<Handle> device(const std::string& pci_bus_id) const;

  /// A property of a device that is one unsigned number; `function` has the type nvmlReturn_t(nvmlDevice_t, unsigned*).
  [[nodiscard]] std::optional<unsigned> number(const char* function, Handle handle) const;

  /// Errors of the device's memory since the driver was loaded.
  [[nodiscard]] std::optional<std::uint64_t> ecc_errors(Handle handle, bool corrected) const;

  /// Why clocks are below what they could be: bits of nvmlClocksEventReasons.
  [[nodiscard]] std::optional<std::uint64_t> throttle_reasons(Handle handle) const;

  /// What it takes, in watts, and how hot its chip is and may be before it slows itself down, in degrees Celsius.
  [[nodiscard]] std::optional<double> power(Handle handle) const;
  [[nodiscard]] std::optional<double> temperature(Handle handle) const;
  [[nodiscard]] std::optional<double> slowdown_temperature(Handle handle) const;

  /// Rates of its clocks now, in hertz.
  [[nodiscard]] std::optional<double> sm_clock(Handle handle) const { return clock(handle, 1); }
  [[nodiscard]] std::optional<double> memory_clock(Handle handle) const { return clock(handle, 2); }

  /// What its PCI Express link has carried; nothing where the driver does not count.
  [[nodiscard]] std::optional<LinkBytes> link_bytes(Handle handle) const;

  /// Of a device: the other ends of its NVLinks that are up, ...
  [[nodiscard]] std::vector<NvLinkEnd> nvlinks(Handle handle) const;
  /// ... what all of those carry together, in bytes per second each way; 0 where the driver does not tell, ...
  [[nodiscard]] double nvlink_bandwidth(Handle handle) const;
  /// ... and whether they lead to another one.
  [[nodiscard]] std::optional<bool> reachable_by_nvlink(Handle from, Handle to) const;

  /// Whether the device is divided into instances, of which CUDA shows one as if it were a GPU.
  [[nodiscard]] bool is_divided(Handle handle) const;
  /// "GPU-01234567-..."; empty where it is not told.
  [[nodiscard]] std::string uuid(Handle handle) const;

  /// Critical errors (Xid) of one device, as they come.
  class XidEvents : NonCopyable {
   public:
    XidEvents(const Nvml& nvml, Handle handle);
    ~XidEvents();

    /// Those since the last time, without waiting; nothing where the driver does not tell of them.
    [[nodiscard]] std::optional<std::vector<std::uint64_t>> take() const;

   private:
    const Nvml& nvml_;
    struct nvmlEventSet_st* set_ = nullptr;
  };

  /// The driver's version, "580.159.04"; empty where NVML cannot be loaded.
  [[nodiscard]] std::string driver() const;

 private:
  /// `domain`: NVML_CLOCK_SM, NVML_CLOCK_MEM.
  [[nodiscard]] std::optional<double> clock(Handle handle, int domain) const;
  /// Numbers of the links that are up.
  [[nodiscard]] std::vector<unsigned> active_nvlinks(Handle handle) const;
  /// A field of the device or of one of its links; nothing where the driver does not know it.
  [[nodiscard]] std::optional<double> field(Handle handle, unsigned id, unsigned link) const;
  template <class Function>
  [[nodiscard]] Function* find(const char* name) const;
  /// What a function writes to its last parameter; nothing where there is none of that name, or it refuses. The other
  /// arguments have to be of its own types.
  template <class Value, class... Arguments>
  [[nodiscard]] std::optional<Value> ask(const char* function, Arguments... arguments) const;
  /// The same of one that writes a text; empty where it does not.
  template <class... Arguments>
  [[nodiscard]] std::string text(const char* function, Arguments... arguments) const;

  std::unique_ptr<void, int (*)(void*)> library_;
  bool ready_ = false;
};

}  // namespace xferbench::cuda
