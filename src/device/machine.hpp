// A machine, real or simulated: its opened GPUs, its host runtime and its tracer.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <stdexcept>

#include "core/non_copyable.hpp"
#include "device/device.hpp"
#include "device/host_runtime.hpp"
#include "device/stream.hpp"
#include "device/tracer.hpp"

namespace xferbench {

/// A machine must outlive everything that its devices create.
class Machine : NonCopyable {
 public:
  virtual ~Machine() = default;

  /// The opened devices, in the order of the selection.
  [[nodiscard]] virtual std::span<Device* const> devices() const = 0;
  [[nodiscard]] Device& device(std::size_t number = 0) const {
    if (number >= devices().size()) throw std::out_of_range("this machine was opened with fewer devices");
    return *devices()[number];
  }
  [[nodiscard]] virtual HostRuntime& host() = 0;
  [[nodiscard]] virtual Tracer& tracer() = 0;

  /// Makes a gate that can hold streams of all devices until the host opens it. A closed gate opens by itself after
  /// `timeout` seconds, so that a mistake cannot hang the process.
  [[nodiscard]] virtual Gate make_gate(double timeout) = 0;
  [[nodiscard]] Gate make_gate() { return make_gate(1.0); }

  /// Makes the calling thread run on this NUMA node and allocate host memory from it. Nothing: restores the placement
  /// with which the machine was opened.
  virtual void place_host(std::optional<int> node) = 0;

  /// Sets whether operations move and compute real bytes. A real machine always does and ignores this call. A simulated
  /// machine moves data in verification passes, but not in timed passes, whose times are modelled.
  virtual void set_data_movement(bool) {}
};

/// Scope guard of Machine::place_host().
class PlacedHost : NonCopyable {
 public:
  PlacedHost(Machine& machine, std::optional<int> node) : machine_(machine) { machine_.place_host(node); }
  ~PlacedHost() { machine_.place_host(std::nullopt); }

 private:
  Machine& machine_;
};

inline HostRuntime& Device::host() const { return machine_.host(); }

}  // namespace xferbench
