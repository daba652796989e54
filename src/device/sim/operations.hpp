// What a profile says operations of one GPU take, and what they do to memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "device/kernel.hpp"
#include "device/memory.hpp"
#include "device/sim/event_simulator.hpp"
#include "device/sim/memory.hpp"
#include "device/sim/profile.hpp"
#include "device/sim/wiring.hpp"
#include "device/types.hpp"

namespace xferbench::sim {

/// Makes operations for the engines of one GPU and for the links that it reaches. Bytes move or not as DataMovement
/// says when an operation is made: sources are read when it starts and results committed when it finishes, so that a
/// missing dependency between streams shows up as wrong data.
class Operations {
 public:
  /// Adds the engines of the GPU of that number to `events`.
  Operations(const Profile& profile, std::size_t number, const Wiring& wiring, EventSimulator& events,
             DataMovement& data);

  [[nodiscard]] unsigned number() const { return static_cast<unsigned>(number_); }

  /// Whether this GPU may reach the memory of the device of that number; at first it may reach its own.
  void let_reach(std::size_t device, bool on);

  // They throw DeviceError for memory that this GPU has nothing to do with, or may not reach.

  /// From and to memory that the engines reach.
  [[nodiscard]] Operation copy(const Copy& copy) const;
  /// All of a batch is one operation of its engine: on an H200 a batch of 64 copies takes as long as one copy of all.
  [[nodiscard]] Operation batch(std::span<const Copy> copies) const;
  /// Pageable memory, through the driver's pinned buffers by the calling thread.
  [[nodiscard]] Operation staged(const Copy& copy) const;
  /// Little pageable memory that the call itself takes along.
  [[nodiscard]] Operation inlined(const Copy& copy) const;
  [[nodiscard]] Operation fill(const DeviceView& range, std::byte value) const;
  /// `overhead`: seconds on the engine beside the work.
  [[nodiscard]] Operation kernel(const Kernel& kernel, double overhead) const;
  [[nodiscard]] Operation stamp(std::uint64_t* slot) const;
  [[nodiscard]] Operation flip(std::byte* at) const;
  /// A closed gate that holds its stream for so many seconds.
  [[nodiscard]] Operation hold(double seconds) const;

 private:
  [[nodiscard]] bool reaches(const std::byte* data) const;
  void set_handovers(EventSimulator& events) const;
  void require_own(const std::byte* data, const char* what) const;
  void require_reach(const Kernel& kernel) const;
  [[nodiscard]] Operation between_gpus(const Copy& copy) const;
  [[nodiscard]] std::vector<Use> uses_of(const KernelCost& cost, double payload) const;

  const Profile& profile_;
  std::size_t number_;
  const Wiring& wiring_;
  EventSimulator& events_;
  DataMovement& data_;
  EngineId h2d_;
  EngineId d2h_;  // the same where the GPU has one copy engine
  EngineId compute_;
  EngineId internal_;
  EngineId send_;                  // copies from its memory to other GPUs
  EngineId fetch_;                 // copies between GPUs otherwise
  EngineId gate_;                  // does nothing: what follows a gate is told by it
  std::set<std::size_t> reached_;  // devices whose memory it may reach
};

}  // namespace xferbench::sim
