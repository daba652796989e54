// Prepares launches of tile kernels for timing: grid size, resources, and the state of L2 before a launch.
#pragma once

#include "device/device.hpp"
#include "kernels/smem/smem.hpp"
#include "run/scenario.hpp"
#include "scenarios/smem/case.hpp"
#include "scenarios/smem/data.hpp"

namespace xferbench {

/// Evicts the data from L2 by reading other memory of twice the size of L2. The flush must not write, because dirty
/// lines would be written back during the timed pass.
class CacheFlush {
 public:
  explicit CacheFlush(Device& device);
  void run(StreamView stream) const;

  /// Whether data that the previous pass has left in L2 would change the time of a kernel of this shape.
  [[nodiscard]] static bool needed(const kernels::SmemShape& shape, std::uint64_t cache_bytes);

 private:
  DeviceBuffer memory_;
  DeviceBuffer sums_;
  std::unique_ptr<Kernel> kernel_;
};

/// A kernel's shape with its chosen grid size.
struct PlacedSmem {
  kernels::SmemShape shape;
  unsigned per_multiprocessor = 0;  ///< concurrent blocks per multiprocessor, rounded up
  std::optional<KernelResources> resources;
  std::optional<SkipReason> skip_reason;  ///< why the requested grid is impossible
};

/// Loads the kernel and chooses its grid size. `asked`: blocks per multiprocessor; nothing: as many as fit.
PlacedSmem place(Device& device, const kernels::SmemShape& shape, const kernels::SmemArgs& args,
                 std::optional<unsigned> asked);

/// Launches kernels on one payload. Owns the payload, the flush of L2 before each pass, and memory for device_copy().
class SmemBench {
 public:
  /// `sizes` must include all shapes that will be launched; these must have the same payload as `c`.
  SmemBench(const RunContext& bench, const SmemSizes& sizes, const SmemCase& c);

  [[nodiscard]] kernels::SmemArgs args() const { return data_.args(); }
  void prepare() { data_.prepare(case_.shape); }
  /// Returns a region that launches a kernel; this object must outlive it. SmemPart::compute has no output to check.
  [[nodiscard]] Region region(const kernels::SmemShape& shape, StreamView stream, std::string name);
  /// Returns a region that copies the payload inside the GPU with cudaMemcpyAsync. Its output is not checked if rows
  /// have padding between them.
  [[nodiscard]] Region device_copy(StreamView stream);
  /// Returns the memory traffic of device_copy() in GB/s, given its time in seconds.
  [[nodiscard]] double device_copy_traffic(double seconds) const;
  /// Runs a kernel on poisoned memory, at full speed as in timed passes, and checks every byte. Throws
  /// VerificationError if a byte is wrong.
  void verify(const kernels::SmemShape& shape, StreamView stream, const char* name);
  /// Returns the memory bandwidth in bytes per second; 0 if memory is not the limit, because the data stays in L2.
  [[nodiscard]] double theoretical_bandwidth() const;

 private:
  [[nodiscard]] Region gated(std::string name, StreamView stream, std::function<void()> submit) const;

  Device& device_;
  SmemCase case_;
  SmemData data_;
  std::optional<CacheFlush> flush_;  // runs before each pass
  DeviceBuffer copied_;              // destination of device_copy() if the kernels store no elements
};

}  // namespace xferbench
