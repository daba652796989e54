#include "scenarios/dynpar/children.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/error.hpp"
#include "core/units.hpp"
#include "kernels/count.hpp"
#include "measure/pattern.hpp"

namespace xferbench {

// --- Launch limit and failed launches -------------------------------------------------------------------------------

LaunchRoom::LaunchRoom(Device& device, std::size_t pending) : device_(device) {
  device_.synchronize();
  before_ = device_.reserved_device_launches();
  granted_ = device_.reserve_device_launches(pending);
  if (granted_ >= pending) return;
  device_.reserve_device_launches(before_);  // restored here, because no destructor runs if the constructor throws
  throw DeviceError(fmt::format("reserving {} pending launches", pending),
                    fmt::format("this device allows {} at most; choose no more", granted_));
}

std::uint64_t LaunchRoom::bytes(std::size_t pending) {
  constexpr std::uint64_t kForAny = 100 * MiB;
  constexpr std::uint64_t kForEachMore = 9600;
  const std::size_t more = std::max(pending, kernels::kDefaultPendingLaunches) - kernels::kDefaultPendingLaunches;
  return kForAny + more * kForEachMore;
}

LaunchRoom::~LaunchRoom() {
  try {
    device_.synchronize();
    device_.reserve_device_launches(before_);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
    // The CUDA context is lost, and the limit with it. The case that lost the context has already reported the error.
  }
}

LaunchLog::LaunchLog(Device& device) : device_(device), memory_(device.allocate_device(sizeof(kernels::LaunchStatus))) {
  device_.fill_and_wait(memory_, std::byte{0});
}

kernels::LaunchStatus* LaunchLog::get() const { return reinterpret_cast<kernels::LaunchStatus*>(memory_.data); }

void LaunchLog::clear(StreamView stream) { stream.fill(memory_, std::byte{0}); }

kernels::LaunchStatus LaunchLog::read() const {
  kernels::LaunchStatus status;
  const HostBuffer host = device_.allocate_host(sizeof(status), HostMemory::pageable);
  device_.copy_and_wait({host.data, memory_.data, host.bytes, Direction::d2h});
  std::memcpy(&status, host.data, sizeof(status));
  return status;
}

std::string describe(const kernels::LaunchStatus& status, std::size_t room, const std::string& remedy) {
  const std::string failed = fmt::format("{} launch{} failed", status.failed, status.failed == 1 ? "" : "es");
  if (status.error == kernels::kLaunchPendingCountExceeded) {
    return fmt::format(
        "{} because more launches were pending than the limit of {} (cudaErrorLaunchPendingCountExceeded); {}", failed,
        room, remedy);
  }
  if (status.error == kernels::kLaunchMaxDepthExceeded) {
    return fmt::format("{} because grids were nested too deeply (cudaErrorLaunchMaxDepthExceeded)", failed);
  }
  return fmt::format("{} with CUDA error {}", failed, status.error);
}

void wait_for_all(Device& device) noexcept {
  try {
    device.synchronize();
  } catch (...) {  // NOLINT(bugprone-empty-catch): other calls report these errors
  }
}

// --- Children --------------------------------------------------------------------------------------------------------

ChildrenRun::ChildrenRun(Device& device, const ChildrenSpec& spec)
    : device_(device),
      spec_(spec),
      slots_(device.allocate_device(std::size_t{spec.children} * sizeof(std::uint32_t))),
      log_(device),
      forked_(device.make_event(EventKind::ordering)) {
  if (spec.pending > 0) room_.emplace(device_, spec.pending);
  args_ = {.tree = kernels::LaunchTree(spec.children, spec.tree ? spec.levels : 1),
           .slots = reinterpret_cast<std::uint32_t*>(slots_.data),
           .status = log_.get(),
           .work = spec.work,
           .seed = static_cast<std::uint32_t>(spec.seed)};
  for (std::size_t i = 0; i < std::max(own_streams(), rival_streams()); ++i) {
    streams_.push_back(device_.make_stream(StreamKind::nonblocking));
    joined_.push_back(device_.make_event(EventKind::ordering));
  }
  // Hazard: kernels cannot be loaded during a stream capture.
  device_.preload(kernels::Count());
  device_.preload(kernels::Child(args_, 0));
  device_.preload(kernels::Children(way(), args_));
  if (spec.launch != ChildLaunch::graph) return;
  graph_ = streams_.front().capture([this] { submit_by_host(own_streams(), With::children); });
  empty_graph_ = streams_.front().capture([this] { submit_by_host(own_streams(), With::no_children); });
}

std::size_t ChildrenRun::own_streams() const { return std::clamp<std::size_t>(spec_.streams, 1, spec_.children); }

std::size_t ChildrenRun::rival_streams() const {
  const bool at_once = spec_.launch == ChildLaunch::fire_and_forget && spec_.work > 0;
  return at_once ? std::min<std::size_t>(kRivalStreams, spec_.children) : own_streams();
}

kernels::LaunchMode ChildrenRun::way() const {
  if (spec_.launch == ChildLaunch::fire_and_forget) return kernels::LaunchMode::fire_and_forget;
  if (spec_.launch != ChildLaunch::tail) return kernels::LaunchMode::none;
  return spec_.tree ? kernels::LaunchMode::tail : kernels::LaunchMode::tail_chain;
}

std::optional<std::size_t> ChildrenRun::room() const { return room_ ? std::optional(room_->granted()) : std::nullopt; }

Region ChildrenRun::region(std::string name, With with, std::function<void()> submit) const {
  Region r{.name = std::move(name),
           .clock = Clock::event,
           .streams = {streams_.front()},
           .submit = std::move(submit),
           .batchable = false};  // a batch would submit the next pass while this pass runs
  // Without children there is no output to check.
  if (with == With::children) r.check = [this] { check("its children"); };
  return r;
}

Region ChildrenRun::pass(std::string name, With with) {
  const StreamView root = streams_.front();
  const kernels::LaunchMode launched = with == With::children ? way() : kernels::LaunchMode::none;
  const Graph& graph = with == With::children ? graph_ : empty_graph_;
  switch (spec_.launch) {
    case ChildLaunch::host: break;
    case ChildLaunch::graph: return region(std::move(name), with, [root, &graph] { root.replay(graph); });
    case ChildLaunch::fire_and_forget:
    case ChildLaunch::tail:
      return region(std::move(name), with,
                    [this, root, launched] { root.launch(kernels::Children(launched, args_, spec_.launchers)); });
  }
  return region(std::move(name), with, [this, with] { submit_by_host(own_streams(), with); });
}

Region ChildrenRun::by_host(std::string name) {
  return region(std::move(name), With::children, [this] { submit_by_host(rival_streams(), With::children); });
}

/// Launches all children level by level. In one stream, children follow the level above in stream order. With several
/// streams, all streams wait for the level above. A level uses at most as many streams as it has children.
void ChildrenRun::submit_by_host(std::size_t most_streams, With with) {
  streams_.front().launch(kernels::Count());
  for (std::uint32_t level = 0; level < args_.tree.levels(); ++level) {
    const std::uint32_t first = args_.tree.first(level);
    const std::uint32_t end = args_.tree.first(level + 1);
    const std::size_t streams = std::min<std::size_t>(most_streams, end - first);
    fork(streams);
    for (std::uint32_t i = first; with == With::children && i < end; ++i) {
      streams_[(i - first) % streams].launch(kernels::Child(args_, i));
    }
    join(streams);
  }
}

void ChildrenRun::fork(std::size_t streams) {
  if (streams < 2) return;
  streams_.front().record(forked_);
  for (std::size_t i = 1; i < streams; ++i) streams_[i].wait(forked_);
}

void ChildrenRun::join(std::size_t streams) {
  for (std::size_t i = 1; i < streams; ++i) {
    streams_[i].record(joined_[i]);
    streams_.front().wait(joined_[i]);
  }
}

void ChildrenRun::clear() {
  streams_.front().fill(slots_, pattern::kPoison);
  log_.clear(streams_.front());
  streams_.front().synchronize();
}

void ChildrenRun::verify(const Region& region) {
  clear();
  run_once(device_.machine(), region);
  check(region.name);
}

void ChildrenRun::check_launches() const {
  const kernels::LaunchStatus status = log_.read();
  if (status.failed == 0) return;
  throw DeviceError("launching children from the device while timing",
                    describe(status, room().value_or(0), "raise --pending, or choose fewer --children"));
}

void ChildrenRun::check(const std::string& name) const {
  const HostBuffer host = device_.allocate_host(slots_.bytes, HostMemory::pageable);
  device_.copy_and_wait({host.data, slots_.data, slots_.bytes, Direction::d2h});
  const auto found = [&](std::uint32_t i) {
    std::uint32_t value = 0;
    std::memcpy(&value, host.data + i * sizeof(value), sizeof(value));
    return value;
  };
  std::uint32_t right = 0;
  std::uint32_t first_wrong = spec_.children;
  for (std::uint32_t i = 0; i < spec_.children; ++i) {
    const bool as_it_should = found(i) == kernels::child_result(args_.seed, i, args_.work);
    right += as_it_should ? 1 : 0;
    if (!as_it_should) first_wrong = std::min(first_wrong, i);
  }
  if (const kernels::LaunchStatus status = log_.read(); status.failed > 0) {
    throw DeviceError(fmt::format("launching {} children from the device", spec_.children),
                      fmt::format("only {} of {} ran; {}", right, spec_.children,
                                  describe(status, room().value_or(0), "raise --pending, or choose fewer --children")));
  }
  if (right == spec_.children) return;
  throw VerificationError(
      fmt::format("{}: {} of {} children are missing or wrong; child {} should have written {}, its slot holds {}",
                  name, spec_.children - right, spec_.children, first_wrong,
                  kernels::child_result(args_.seed, first_wrong, args_.work), found(first_wrong)));
}

}  // namespace xferbench
