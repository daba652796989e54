// The child kernels of one dynpar case: launches them in one of four ways, with timing and verification.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/non_copyable.hpp"
#include "kernels/dynpar/dynpar.hpp"
#include "measure/region.hpp"

namespace xferbench {

/// Sets CUDA's limit of pending device launches for the lifetime of this object, then restores it. Constructor and
/// destructor synchronize the device. Throws DeviceError if the device does not grant the limit.
class LaunchRoom : NonCopyable {
 public:
  LaunchRoom(Device& device, std::size_t pending);
  ~LaunchRoom();

  [[nodiscard]] std::size_t granted() const { return granted_; }

  /// Returns the bytes of device memory that the CUDA runtime uses for a limit. Undocumented; measured on an H200 with
  /// driver 580 for limits up to 262144: 100 MiB for the default limit, and 9.2 to 9.6 KB per additional launch.
  static std::uint64_t bytes(std::size_t pending);

 private:
  Device& device_;
  std::size_t before_ = 0;
  std::size_t granted_ = 0;
};

/// Owns the device memory in which kernels record failed launches.
class LaunchLog {
 public:
  explicit LaunchLog(Device& device);

  [[nodiscard]] kernels::LaunchStatus* get() const;
  void clear(StreamView stream);
  /// Returns the recorded failures, after synchronizing with the device.
  [[nodiscard]] kernels::LaunchStatus read() const;

 private:
  Device& device_;
  DeviceBuffer memory_;
};

/// Returns a description of why launches failed. `room`: the limit of pending launches; `remedy`: advice to the user.
std::string describe(const kernels::LaunchStatus& status, std::size_t room, const std::string& remedy);

/// Synchronizes the device. Destructors call this, because after an exception work in flight may still use memory that
/// is about to be freed. Ignores errors, because an earlier call has reported them or the next call will.
void wait_for_all(Device& device) noexcept;

enum class ChildLaunch { host, graph, fire_and_forget, tail };

struct ChildrenSpec {
  ChildLaunch launch = ChildLaunch::host;
  bool tree = false;
  std::uint32_t children = 1;
  std::uint32_t levels = 1;  ///< number of levels, for a tree only
  std::uint32_t work = 0;
  unsigned launchers = 1;   ///< number of threads that launch, for fire_and_forget only
  std::size_t streams = 1;  ///< number of streams, for host and graph only
  std::size_t pending = 0;  ///< limit of pending device launches; 0: unchanged
  std::uint64_t seed = 0;
};

/// Number of streams in which the host launches children for the comparison with fire-and-forget. Fire-and-forget
/// children run concurrently, so children that do work must be able to run concurrently when the host launches them.
inline constexpr std::size_t kRivalStreams = 32;

/// Launches the children of one case and times them. A pass starts with one kernel that precedes all children: the
/// kernel that launches them or, for host and graph, an empty one. childless() measures the cost without children.
class ChildrenRun : NonCopyable {
 public:
  ChildrenRun(Device& device, const ChildrenSpec& spec);
  ~ChildrenRun() { wait_for_all(device_); }

  /// A region that launches all children in the way of ChildrenSpec::launch. It is timed by events without a gate, so
  /// the host's launch calls are part of the time.
  Region all(std::string name) { return pass(std::move(name), With::children); }
  /// Like all(), but without children. For host and graph, all forks and joins of the streams remain.
  Region childless(std::string name) { return pass(std::move(name), With::no_children); }
  /// Like all(), but the host launches the children. Uses several streams if the children of all() run concurrently.
  Region by_host(std::string name);

  /// Runs one pass on poisoned result slots. Throws DeviceError if launches failed, and VerificationError if a child is
  /// missing or wrong for another reason.
  void verify(const Region& region);
  /// Throws DeviceError if any launch has failed since the last verify() began.
  void check_launches() const;
  /// Returns the limit of pending launches; nothing for host and graph.
  [[nodiscard]] std::optional<std::size_t> room() const;

 private:
  enum class With { children, no_children };
  [[nodiscard]] Region region(std::string name, With with, std::function<void()> submit) const;
  [[nodiscard]] kernels::LaunchMode way() const;
  Region pass(std::string name, With with);
  void submit_by_host(std::size_t most_streams, With with);
  void fork(std::size_t streams);
  void join(std::size_t streams);
  [[nodiscard]] std::size_t own_streams() const;
  [[nodiscard]] std::size_t rival_streams() const;
  void clear();
  void check(const std::string& name) const;

  Device& device_;
  ChildrenSpec spec_;
  std::optional<LaunchRoom> room_;  // the limit must be set before kernels are loaded
  DeviceBuffer slots_;
  LaunchLog log_;
  kernels::ChildrenArgs args_;
  std::vector<Stream> streams_;  // the first one runs the kernel that precedes all children
  std::vector<Event> joined_;
  Event forked_;
  Graph graph_;
  Graph empty_graph_;
};

}  // namespace xferbench
