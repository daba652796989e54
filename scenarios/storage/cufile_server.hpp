// The process that cuFile runs in, because cuFile may hang, crash or leave files behind. It serves one CufileProcess.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/non_copyable.hpp"
#include "device/host_runtime.hpp"
#include "device/machine.hpp"

namespace xferbench {

/// The memory into which cuFile reads. Tests have an implementation of their own.
class CufileMemory : NonCopyable {
 public:
  virtual ~CufileMemory() = default;
  [[nodiscard]] virtual std::byte* data() = 0;
  virtual void fill(std::byte value) = 0;
  /// Copies from `offset` on to the host.
  virtual void fetch(std::span<std::byte> to, std::uint64_t offset) = 0;
  /// Returns the host whose threads may read into the memory.
  [[nodiscard]] virtual HostRuntime& host() = 0;
};

/// Makes memory of at least that many bytes. May throw any exception; its message becomes the reason why cuFile cannot
/// be used.
using MakeCufileMemory = std::function<std::unique_ptr<CufileMemory>(std::size_t bytes)>;

/// Returns a function that allocates memory on the GPU with this CUDA device index.
MakeCufileMemory cufile_memory_on_gpu(int gpu);

/// Serves requests from the descriptors that a CufileProcess passes to this process. Ends this process without clean-up
/// when the other process has ended, even in the middle of a read. `places`: where to look for the library. Throws
/// UsageError if there are no such descriptors.
[[noreturn]] void serve_cufile(const MakeCufileMemory& make, const std::vector<std::string>& places);

}  // namespace xferbench
