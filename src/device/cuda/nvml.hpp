// Calls NVML, the driver's management library, for facts that the CUDA runtime does not report.
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

/// Loads NVML if the driver is installed; otherwise every query returns nothing. NVML belongs to the driver, and a
/// program linked to it would not start without one. So its functions are declared here by hand (NVML API reference,
/// versioned symbols with _v2).
class Nvml : NonCopyable {
 public:
  using Handle = struct nvmlDevice_st*;

  Nvml();
  ~Nvml();

  [[nodiscard]] std::optional<Handle> device(const std::string& pci_bus_id) const;

  /// Queries one unsigned property; `function` has the signature nvmlReturn_t(nvmlDevice_t, unsigned*).
  [[nodiscard]] std::optional<unsigned> number(const char* function, Handle handle) const;

  /// Number of corrected or uncorrected ECC memory errors since the driver was loaded.
  [[nodiscard]] std::optional<std::uint64_t> ecc_errors(Handle handle, bool corrected) const;

  /// Reasons for reduced clocks, as bits of nvmlClocksEventReasons.
  [[nodiscard]] std::optional<std::uint64_t> throttle_reasons(Handle handle) const;

  /// Power in watts; temperature of the chip, and its slowdown threshold, in degrees Celsius.
  [[nodiscard]] std::optional<double> power(Handle handle) const;
  [[nodiscard]] std::optional<double> temperature(Handle handle) const;
  [[nodiscard]] std::optional<double> slowdown_temperature(Handle handle) const;

  /// Current clocks in Hz.
  [[nodiscard]] std::optional<double> sm_clock(Handle handle) const { return clock(handle, 1); }
  [[nodiscard]] std::optional<double> memory_clock(Handle handle) const { return clock(handle, 2); }

  /// Bytes that the PCIe link has carried each way; nothing if the driver does not count them.
  [[nodiscard]] std::optional<LinkBytes> link_bytes(Handle handle) const;

  /// Remote ends of the GPU's active NVLinks.
  [[nodiscard]] std::vector<NvLinkEnd> nvlinks(Handle handle) const;
  /// Total bandwidth of the GPU's active NVLinks, in bytes per second each way; 0 if unknown.
  [[nodiscard]] double nvlink_bandwidth(Handle handle) const;
  /// Whether the driver reports that `from` reaches `to` over NVLink; nothing if it does not know.
  [[nodiscard]] std::optional<bool> reachable_by_nvlink(Handle from, Handle to) const;

  /// Whether the GPU is in MIG mode; CUDA then shows one instance as if it were a GPU.
  [[nodiscard]] bool is_divided(Handle handle) const;
  /// Whether confidential computing is on in this machine.
  [[nodiscard]] bool is_confidential() const;
  /// UUID such as "GPU-01234567-..."; empty if unknown.
  [[nodiscard]] std::string uuid(Handle handle) const;

  /// Collects the critical errors (Xid) of one device.
  class XidEvents : NonCopyable {
   public:
    XidEvents(const Nvml& nvml, Handle handle);
    ~XidEvents();

    /// Returns the Xid numbers of errors since the previous call, without waiting; std::nullopt if unsupported.
    [[nodiscard]] std::optional<std::vector<std::uint64_t>> take() const;

   private:
    const Nvml& nvml_;
    struct nvmlEventSet_st* set_ = nullptr;
  };

  /// Driver version such as "580.159.04"; empty if NVML cannot be loaded.
  [[nodiscard]] std::string driver() const;

 private:
  /// Current clock in Hz. `domain`: NVML_CLOCK_SM or NVML_CLOCK_MEM.
  [[nodiscard]] std::optional<double> clock(Handle handle, int domain) const;
  /// Indices of the GPU's active NVLinks.
  [[nodiscard]] std::vector<unsigned> active_nvlinks(Handle handle) const;
  /// A field value of the GPU or of one of its links; nothing if the driver does not support the field.
  [[nodiscard]] std::optional<double> field(Handle handle, unsigned id, unsigned link) const;
  template <class Function>
  [[nodiscard]] Function* find(const char* name) const;
  /// Calls an NVML function that writes its result to its last parameter. Returns nothing if the function is missing or
  /// fails. The argument types must match the C signature exactly.
  template <class Value, class... Arguments>
  [[nodiscard]] std::optional<Value> ask(const char* function, Arguments... arguments) const;
  /// Like ask(), for NVML functions that write a text. Returns an empty text on failure.
  template <class... Arguments>
  [[nodiscard]] std::string text(const char* function, Arguments... arguments) const;

  std::unique_ptr<void, int (*)(void*)> library_;
  bool ready_ = false;
};

}  // namespace xferbench::cuda
