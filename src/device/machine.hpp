// A machine, real or simulated: its GPUs, its host, and who watches them.
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>

#include "core/non_copyable.hpp"
#include "device/device.hpp"
#include "device/host_runtime.hpp"
#include "device/stream.hpp"
#include "device/tracer.hpp"

namespace xferbench {

/// Outlives whatever its devices make.
class Machine : NonCopyable {
 public:
  virtual ~Machine() = default;

  /// Those that were opened, in the order in which they were asked for.
  [[nodiscard]] virtual std::span<Device* const> devices() const = 0;
  [[nodiscard]] Device& device(std::size_t number = 0) const {
    if (number >= devices().size()) throw std::out_of_range("this machine was not opened with so many devices");
    return *devices()[number];
  }
  [[nodiscard]] virtual HostRuntime& host() = 0;
  [[nodiscard]] virtual Tracer& tracer() = 0;

  /// One word in host memory that streams of all devices look at. `timeout`: seconds after which a closed gate lets go
  /// by itself, so that a mistake cannot hang the process.
  [[nodiscard]] virtual Gate make_gate(double timeout) = 0;
  [[nodiscard]] Gate make_gate() { return make_gate(1.0); }

  /// Whether work moves and computes real bytes. A real machine always does. The simulated one does in verification
  /// passes and skips it in timed passes, whose times are modelled anyway.
  virtual void set_data_movement(bool) {}
};

inline HostRuntime& Device::host() const { return machine_.host(); }

}  // namespace xferbench
