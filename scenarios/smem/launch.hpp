// Not a scenario: a launch of a tile kernel that is ready to be timed: its grid, what it takes of the GPU, and the L2
// cache before it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "device/device.hpp"
#include "kernels/smem/smem.hpp"
#include "run/scenario.hpp"
#include "scenarios/smem/case.hpp"
#include "scenarios/smem/data.hpp"

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

/// What all launches of a payload share: its data, the L2 cache before each pass, and the copy beside the kernels.
class SmemBench {
 public:
  /// `sizes` are of all shapes, which have the same payload as `c`.
  SmemBench(const RunContext& bench, const SmemSizes& sizes, const SmemCase& c);

  [[nodiscard]] kernels::SmemArgs args() const { return data_.args(); }
  /// Writes the input.
  void prepare() { data_.prepare(case_.shape); }
  /// One launch. The bench outlives the region. The part without memory leaves nothing to be checked.
  [[nodiscard]] Region region(const kernels::SmemShape& shape, StreamView stream, std::string name);
  /// cudaMemcpyAsync of the payload inside the GPU. Checked where it is all of the input: not the rows of a matrix that
  /// have something between them.
  [[nodiscard]] Region device_copy(StreamView stream);
  /// What cudaMemcpyAsync reads and writes if it takes so many seconds, in GB/s.
  [[nodiscard]] double device_copy_traffic(double seconds) const;
  /// Runs on poisoned memory as timed passes do, and checks every byte. Throws VerificationError.
  void verify(const kernels::SmemShape& shape, StreamView stream, const char* name);
  /// Of memory, in bytes per second; 0 where it is no limit.
  [[nodiscard]] double theoretical_bandwidth() const;

 private:
  [[nodiscard]] Region gated(std::string name, StreamView stream, std::function<void()> submit) const;

  Device& device_;
  SmemCase case_;
  SmemData data_;
  std::optional<CacheFlush> flush_;  // before each pass
  DeviceBuffer copied_;              // by cudaMemcpyAsync, where the kernels store no elements
};

}  // namespace xferbench
