// Not a scenario: a launch of a tile kernel that is ready to be timed: its grid, what it takes of the GPU, and the L2
// cache before it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "device/device.hpp"
#include "kernels/smem/smem.hpp"
#include "measure/region.hpp"
#include "scenarios/smem/case.hpp"

namespace xferbench {

/// Reads other memory, twice as much as the L2 cache holds, so that the cache has nothing of the data. It only reads: a
/// cache full of written lines would have to be emptied during the pass that follows.
class CacheFlush {
 public:
  explicit CacheFlush(Device& device);
  void run(StreamView stream) const;

  /// Whether what the pass before left in the cache would show in the time of one of these.
  [[nodiscard]] static bool needed(const kernels::SmemShape& shape, std::uint64_t cache_bytes);

 private:
  Device& device_;
  DeviceBuffer memory_;
  DeviceBuffer sums_;
  std::unique_ptr<Kernel> kernel_;
};

/// A shape with its grid.
struct PlacedSmem {
  kernels::SmemShape shape;
  unsigned per_multiprocessor = 0;  ///< blocks at once, on average rounded up
  std::optional<KernelResources> resources;
  std::optional<SkipReason> skip_reason;  ///< why the grid cannot be as asked for
};

/// Loads the kernel. `asked`: blocks for each multiprocessor; nothing: as many as fit at once.
PlacedSmem place(Device& device, const kernels::SmemShape& shape, const kernels::SmemArgs& args,
                 std::optional<unsigned> asked);

/// Launches it once. `flush`, where there is one, runs before each pass, and outlives the region.
Region region_of(Device& device, const kernels::SmemShape& shape, const kernels::SmemArgs& args, StreamView stream,
                 const CacheFlush* flush, std::string name);
/// cudaMemcpyAsync inside the GPU.
Region device_copy(const Copy& copy, StreamView stream, const CacheFlush* flush);

}  // namespace xferbench
