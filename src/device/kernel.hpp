// One kernel launch, described once for every backend: the GPU launches it, the simulated device computes it on the
// host and prices it from its cost. A launch is a small value object; kernels/ has one class per family.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace xferbench {

/// What a launch asks of the machine; the simulated device takes the longest of what each of it takes.
struct KernelCost {
  std::uint64_t bytes = 0;                 ///< device memory traffic, reads plus writes
  double fma = 0;                          ///< arithmetic, in units of one single-precision fused multiply-add
  double seconds = 0;                      ///< a time that the kernel waits for by itself
  std::uint64_t h2d_bytes = 0;             ///< read from host memory over the link
  std::uint64_t d2h_bytes = 0;             ///< written to host memory over the link
  unsigned blocks = 0;                     ///< thread blocks of the launch; 0 fills the GPU
  std::uint64_t peer_bytes = 0;            ///< moved from one GPU's memory to another's, ...
  const std::byte* peer_source = nullptr;  ///< ... one of which is the kernel's own
  const std::byte* peer_destination = nullptr;
};

/// What the compiler and the GPU make of a kernel.
struct KernelResources {
  unsigned registers = 0;                  ///< of each thread
  std::size_t shared_bytes = 0;            ///< of each block, static and dynamic
  std::size_t local_bytes = 0;             ///< of each thread: registers that were spilled, and arrays
  unsigned blocks_per_multiprocessor = 0;  ///< that fit at once
};

class Kernel {
 public:
  virtual ~Kernel() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual KernelCost cost() const = 0;

  /// The device memory that the launch writes.
  [[nodiscard]] virtual std::span<std::byte> output() const = 0;
  /// The reference: reads the launch's inputs as they are now and writes what output() would hold afterwards into
  /// `result` (as large as output(), never overlapping it). Only called where device memory is host-addressable.
  virtual void compute(std::span<std::byte> result) const = 0;

  /// The memory that a kernel reads whose output at a position follows from its inputs at that position alone, and
  /// holds bytes of 0xFF (a NaN) where the first input does. Such a kernel can be computed in parts. Empty for others.
  [[nodiscard]] virtual std::vector<std::span<const std::byte>> inputs_by_position() const { return {}; }
  /// compute() for the part of output() that begins at byte `offset`; both are multiples of 4 unless inputs and output
  /// end there. Only where there are inputs_by_position().
  virtual void compute_part(std::size_t /*offset*/, std::span<std::byte> /*result*/) const {}

  /// What another kernel reads, if that is not just anything.
  [[nodiscard]] virtual std::optional<std::vector<std::span<const std::byte>>> reads() const { return std::nullopt; }

  /// A copy that outlives this launch's arguments (not the memory they point to).
  [[nodiscard]] virtual std::unique_ptr<Kernel> clone() const = 0;

#if XFERBENCH_WITH_CUDA
  /// Loads the kernel's module now (lazy loading inside a gated region would wait for the gate for ever).
  virtual void preload() const = 0;
  /// Launches on a cudaStream_t. Errors are left for cudaGetLastError.
  virtual void launch(void* cuda_stream) const = 0;
  /// On the current GPU; nothing where the kernel does not tell. Errors are left for cudaGetLastError.
  [[nodiscard]] virtual std::optional<KernelResources> resources() const { return std::nullopt; }
#endif

 protected:
  Kernel() = default;
  Kernel(const Kernel&) = default;
  Kernel& operator=(const Kernel&) = default;
};

}  // namespace xferbench
