// Children of one run of dynpar: launched in one of four ways, timed, and checked one by one.
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

/// Room for launches that are pending on the device, for as long as this lives; then it is as it was before. Begins and
/// ends by waiting for the device.
class LaunchRoom : NonCopyable {
 public:
  LaunchRoom(Device& device, std::size_t pending);
  ~LaunchRoom();

  [[nodiscard]] std::size_t granted() const { return granted_; }

  /// Device memory that the runtime takes once kernels launch. Undocumented: what an H200 with driver 580 took as
  /// limits were raised to 262144 (100 MiB for CUDA's own limit, 9.2 to 9.6 KB for each further launch).
  static std::uint64_t bytes(std::size_t pending);

 private:
  Device& device_;
  std::size_t before_ = 0;
  std::size_t granted_ = 0;
};

/// What kernels noted of launches that failed, in device memory.
class LaunchLog {
 public:
  explicit LaunchLog(Device& device);

  [[nodiscard]] kernels::LaunchStatus* get() const;
  void clear(StreamView stream);
  /// Waits for the device.
  [[nodiscard]] kernels::LaunchStatus read() const;

 private:
  Device& device_;
  DeviceBuffer memory_;
};

/// Why launches failed and what to do; `room` is how many may be pending, `remedy` what the user can ask for.
std::string describe(const kernels::LaunchStatus& status, std::size_t room, const std::string& remedy);

/// For destructors: after an exception work may still be using what is about to be freed. An error has been reported
/// before, or will be by whoever asks next.
void wait_for_all(Device& device) noexcept;

enum class ChildLaunch { host, graph, fire_and_forget, tail };

struct ChildrenSpec {
  ChildLaunch launch = ChildLaunch::host;
  bool tree = false;
  std::uint32_t children = 1;
  std::uint32_t levels = 1;  ///< of a tree
  std::uint32_t work = 0;
  unsigned launchers = 1;   ///< threads of the first kernel, with fire-and-forget
  std::size_t streams = 1;  ///< that the host's children, or a graph's, take turns on
  std::size_t pending = 0;  ///< room for launches from the device; 0 leaves it as it is
  std::uint64_t seed = 0;
};

/// Streams of the host's rival of fire-and-forget where children work. Those that were fired run side by side, so the
/// host's must be able to: so many at a time.
inline constexpr std::size_t kRivalStreams = 32;

/// Every way begins with a kernel that all children come after: with launches from the device the one that launches,
/// else an empty one. What a way takes with that kernel alone is what it costs without children.
class ChildrenRun : NonCopyable {
 public:
  ChildrenRun(Device& device, const ChildrenSpec& spec);
  ~ChildrenRun() { wait_for_all(device_); }

  /// In this run's way. By events without a gate: when the host launches, or launches the launcher, is part of it.
  Region all(std::string name) { return pass(std::move(name), With::children); }
  /// The same without any children: of the host's, with all forks and joins of its streams.
  Region childless(std::string name) { return pass(std::move(name), With::no_children); }
  /// The same children launched by the host, side by side where this way's are.
  Region by_host(std::string name);

  /// One pass on poisoned slots, as a timed pass does it. Throws DeviceError where launches failed, VerificationError
  /// where a child is missing or wrong for another reason.
  void verify(const Region& region);
  /// Throws DeviceError if any launch has failed since the last verify() began.
  void check_launches() const;
  /// Nothing where the host launches.
  [[nodiscard]] std::optional<std::size_t> room() const;

 private:
  enum class With { children, no_children };
  [[nodiscard]] Region region(std::string name, With with, std::function<void()> submit) const;
  [[nodiscard]] kernels::LaunchWay way() const;
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
  std::optional<LaunchRoom> room_;  // before kernels are loaded
  DeviceBuffer slots_;
  LaunchLog log_;
  kernels::ChildrenArgs args_;
  std::vector<Stream> streams_;  // the root first
  std::vector<Event> joined_;
  Event forked_;
  Graph graph_;
  Graph empty_graph_;
};

}  // namespace xferbench
