// Describes one kernel launch for every backend: a GPU launches the kernel; a simulated device computes its result on
// the host and its duration from its cost. kernels/ has one class for each family of kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "device/types.hpp"

namespace xferbench {

/// How the blocks of a kernel that copies pieces over the link wait. A block moves a part of a piece in each turn,
/// after it has read the piece's entry in a list.
struct PieceTurns {
  double turns = 0;       ///< number of turns of one block
  double list_reads = 0;  ///< number of cache misses of one block when it reads the list
  bool bulk = false;      ///< whether one thread issues bulk copies; otherwise each turn waits for its loads
};

/// Work of one launch, by resource. The simulated duration of a launch is the time that its slowest resource needs.
struct KernelCost {
  std::uint64_t bytes = 0;      ///< device memory traffic, reads plus writes
  double fma = 0;               ///< number of single-precision fused multiply-adds
  double seconds = 0;           ///< time that the kernel waits or spins, in seconds
  std::uint64_t h2d_bytes = 0;  ///< bytes read from host memory over the link
  std::uint64_t d2h_bytes = 0;  ///< bytes written to host memory over the link
  PieceTurns pieces{};          ///< additional time that pieces take because blocks wait; only with bytes over the link
  unsigned blocks = 0;          ///< number of thread blocks; 0: enough to fill the GPU
  std::uint64_t peer_bytes = 0;  ///< bytes that the kernel moves between its own GPU's memory and another GPU's
  const std::byte* peer_source = nullptr;       ///< address that the peer bytes are read from; null: none are moved
  const std::byte* peer_destination = nullptr;  ///< address that the peer bytes are written to
};

/// Resources that a compiled kernel needs on a GPU.
struct KernelResources {
  unsigned registers = 0;                  ///< registers per thread
  std::size_t shared_bytes = 0;            ///< shared memory per block, static plus dynamic
  std::size_t local_bytes = 0;             ///< local memory per thread: spilled registers and local arrays
  unsigned blocks_per_multiprocessor = 0;  ///< blocks that are resident at once (occupancy)
};

class Kernel {
 public:
  virtual ~Kernel() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual KernelCost cost() const = 0;

  [[nodiscard]] virtual std::span<std::byte> output() const { return {}; }
  /// CPU reference: reads the launch's current inputs and writes the expected output() to `result`, which has the same
  /// size and does not overlap it. Only called if the host can address device memory. By default by compute_part().
  virtual void compute(std::span<std::byte> result) const { compute_part(0, result); }

  /// Returns the inputs of an element-wise kernel; empty for other kernels. Each output value depends only on the
  /// inputs at its position, and is 0xFF bytes (a NaN) if the first input is. So compute_part() can compute a part.
  [[nodiscard]] virtual std::vector<std::span<const std::byte>> inputs_by_position() const { return {}; }
  /// Like compute(), for the part of output() that begins at byte `offset`. Offset and size are multiples of 4 except
  /// at the end. Only for kernels with inputs_by_position().
  virtual void compute_part(std::size_t /*offset*/, std::span<std::byte> /*result*/) const {}

  /// Returns the ranges that a kernel copies unchanged; empty for kernels that compute. A simulated device executes
  /// these copies and does not call compute().
  [[nodiscard]] virtual std::span<const Copy> moves() const { return {}; }

  /// Returns the memory that a kernel without inputs_by_position() reads; std::nullopt if it may read any memory.
  [[nodiscard]] virtual std::optional<std::vector<std::span<const std::byte>>> reads() const { return std::nullopt; }

  /// Returns a copy that owns the launch's arguments, but not the memory to which they point.
  [[nodiscard]] virtual std::unique_ptr<Kernel> clone() const = 0;

#if XFERBENCH_WITH_CUDA
  /// Loads the kernel's module at once. Hazard: lazy loading while a gate is closed would deadlock.
  virtual void preload() const = 0;
  /// Launches the kernel in a cudaStream_t. Does not check errors; callers use cudaGetLastError.
  virtual void launch(void* cuda_stream) const = 0;
  /// Resources on the current GPU; nothing if unknown. Does not check errors; callers use cudaGetLastError.
  [[nodiscard]] virtual std::optional<KernelResources> resources() const { return std::nullopt; }
#endif

 protected:
  Kernel() = default;
  Kernel(const Kernel&) = default;
  Kernel& operator=(const Kernel&) = default;
};

/// Base class of kernels, which implements the copying of a kernel. `Self` is the derived class.
template <class Self>
class KernelOf : public Kernel {
 public:
  [[nodiscard]] std::unique_ptr<Kernel> clone() const final {
    return std::make_unique<Self>(static_cast<const Self&>(*this));
  }
};

}  // namespace xferbench
