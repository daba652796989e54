// A machine, real or simulated: its opened GPUs, its host runtime and its tracer.
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

/// Must outlive everything that its devices create.
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

  /// A gate is a word in host memory that streams of all devices poll. `timeout`: seconds after which a closed gate
  /// opens by itself, so that a mistake cannot hang the process.
  [[nodiscard]] virtual Gate make_gate(double timeout) = 0;
  [[nodiscard]] Gate make_gate() { return make_gate(1.0); }

  /// Whether operations move and compute real bytes. A real machine always does and ignores this. The simulated
  /// machine does in verification passes and skips it in timed passes, whose times are modelled.
  virtual void set_data_movement(bool) {}
};

inline HostRuntime& Device::host() const { return machine_.host(); }

}  // namespace xferbench
