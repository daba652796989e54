// What a profile says operations of one GPU take, and what they do to memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>

#include "device/kernel.hpp"
#include "device/memory.hpp"
#include "device/sim/event_simulator.hpp"
#include "device/sim/memory.hpp"
#include "device/sim/profile.hpp"
#include "device/types.hpp"

namespace xferbench::sim {

/// Makes operations for the engines and the link of one GPU. Bytes move or not as DataMovement says when an operation
/// is made: sources are read when it starts and results committed when it finishes, so that a missing dependency
/// between streams shows up as wrong data.
class Operations {
 public:
  /// Adds the GPU's engines and its link to `events`.
  Operations(const Profile& profile, EventSimulator& events, DataMovement& data);

  /// Whether this GPU may reach the memory of the device of that number; at first it may reach none.
  void let_reach(std::size_t device, bool on);

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

 private:
  [[nodiscard]] bool reaches_both_ends(const Copy& copy) const;

  const Profile& profile_;
  EventSimulator& events_;
  DataMovement& data_;
  EngineId h2d_;
  EngineId d2h_;  // the same where the GPU has one copy engine
  EngineId compute_;
  EngineId internal_;
  EngineId peer_;  // copies to and from other GPUs
  LinkId link_;
  std::set<std::size_t> reached_;  // devices whose memory it may reach
};

}  // namespace xferbench::sim
