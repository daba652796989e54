// Creates the simulated operations of one GPU: their durations, from the profile, and their effect on memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "device/kernel.hpp"
#include "device/memory.hpp"
#include "device/sim/event_simulator.hpp"
#include "device/sim/memory.hpp"
#include "device/sim/profile.hpp"
#include "device/sim/wiring.hpp"
#include "device/types.hpp"

namespace xferbench::sim {

/// Creates operations for the engines of one GPU and the links that it uses. DataMovement::on decides, when an
/// operation is created, whether bytes move. Sources are read when the operation starts and results written when it
/// finishes, so a missing dependency between streams produces wrong data.
class Operations {
 public:
  /// Adds the engines of GPU `number` to `events`.
  Operations(const Profile& profile, std::size_t number, const Wiring& wiring, EventSimulator& events,
             DataMovement& data);

  [[nodiscard]] unsigned number() const { return static_cast<unsigned>(number_); }

  /// Enables or disables access to another device's memory. Initially only the GPU's own memory is accessible.
  void grant_access(std::size_t device, bool on);

  // The following functions throw DeviceError for memory of a wrong device, or without peer access.

  /// A copy by a copy engine. Its host memory must be page-locked.
  [[nodiscard]] Operation copy(const Copy& copy) const;
  /// A batch of copies as one operation, which takes Profile::batch_copy for each copy in addition to the payload.
  [[nodiscard]] Operation batch(const std::vector<Copy>& copies) const;
  /// Equally long copies at an even distance as one operation: on an H200, it takes as long as one copy of all bytes.
  [[nodiscard]] Operation strided(const std::vector<Copy>& copies) const;
  /// A copy of pageable memory, which the calling thread stages through the driver's pinned buffers.
  [[nodiscard]] Operation staged(const Copy& copy) const;
  /// A small pageable H2D copy, whose source is read during the call.
  [[nodiscard]] Operation inlined(const Copy& copy) const;
  [[nodiscard]] Operation fill(const DeviceView& range, std::byte value) const;
  /// `overhead`: engine time of the launch in seconds, in addition to the kernel's work.
  [[nodiscard]] Operation kernel(const Kernel& kernel, double overhead) const;
  [[nodiscard]] Operation stamp(std::uint64_t* slot) const;
  [[nodiscard]] Operation flip(std::byte* at) const;
  /// A closed gate, which holds its stream for this many seconds.
  [[nodiscard]] Operation hold(double seconds) const;

 private:
  [[nodiscard]] bool has_access(const std::byte* data) const;
  void set_handovers(EventSimulator& events) const;
  void require_own(const std::byte* data, const char* what) const;
  void require_access(const Kernel& kernel) const;
  [[nodiscard]] Operation between_gpus(const Copy& copy) const;
  /// Makes the operation read all sources when it starts and write all destinations when it ends.
  void move_data(Operation& o, std::vector<Copy> copies) const;
  [[nodiscard]] std::vector<Use> uses_of(const KernelCost& cost, double payload) const;

  const Profile& profile_;
  std::size_t number_;
  const Wiring& wiring_;
  EventSimulator& events_;
  DataMovement& data_;
  EngineId h2d_;
  EngineId d2h_;  // equals h2d_ on a GPU with one copy engine
  EngineId compute_;
  EngineId internal_;
  EngineId send_;                  // engine for copies from this GPU's memory to other GPUs
  EngineId fetch_;                 // engine for all other copies between GPUs
  EngineId gate_;                  // only identifies gates in handover times; executes no operation
  std::set<std::size_t> reached_;  // numbers of the devices whose memory this GPU can access
};

}  // namespace xferbench::sim
