// NVIDIA's library cuFile (GPUDirect Storage), which reads files into GPU memory. It is loaded by dlopen: it belongs to
// the CUDA Toolkit, and a program linked to it would not start without it. Functions and structures are those of
// cufile.h 1.15 (CUDA 13.0; cuFile API Reference Guide).
//
// Hazard: the library is known to hang, to crash when it is closed, to close standard input and to write cufile.log
// into the current folder. Use it only in a process of its own, which ends by _exit().
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/non_copyable.hpp"

namespace xferbench {

/// First command-line argument of the process that uses cuFile; the second is the GPU's number.
inline constexpr const char* kCufileArgument = "__cufile";

/// Reads that cuFile has made by each path. One read of a program may be several of them.
struct CufilePaths {
  std::uint64_t p2p = 0;    ///< by PCIe P2PDMA, from the device into GPU memory
  std::uint64_t nvfs = 0;   ///< by the kernel module nvidia-fs, from the device into GPU memory
  std::uint64_t posix = 0;  ///< into host memory, then copied (compatibility mode)
};

/// Returns the names of the library to try to load, in this order: in the loader's folders, then in the existing
/// folders of CUDA Toolkits and of Python packages.
std::vector<std::string> cufile_places();

/// The library with its driver, one open file and one piece of GPU memory. It is never unloaded. Functions throw
/// UnavailableError with the reason.
class Cufile : NonCopyable {
 public:
  /// Loads the library and opens its driver. Sets environment variables unless they are set: cuFile may read through
  /// host memory where there is no GPUDirect Storage, and logs nowhere.
  explicit Cufile(const std::vector<std::string>& places);

  /// Registers the file that read() reads. The descriptor stays the caller's. A file without a name has a symbolic link
  /// in its folder for some milliseconds.
  void use_file(int descriptor);
  /// Registers the GPU memory into which read() reads; its GPU must be current.
  void use_memory(std::byte* data, std::size_t bytes);
  /// Reads a range of the file to the same offset of the memory, all of it. Threads may call it at the same time.
  void read(std::uint64_t offset, std::size_t bytes) const;
  /// Returns the number of reads of this process so far; nothing if the library does not report it.
  [[nodiscard]] std::optional<CufilePaths> paths() const;

 private:
  struct Error;  // CUfileError_t
  struct File;   // CUfileDescr_t
  template <class Function>
  Function function(const char* name) const;
  template <class... Parameters, class... Arguments>
  void call(const char* name, Arguments... arguments) const;
  void count_paths();

  void* library_ = nullptr;
  void* file_ = nullptr;
  std::byte* memory_ = nullptr;
  ssize_t (*read_)(void*, void*, std::size_t, off_t, off_t) = nullptr;
  bool counts_ = false;
};

}  // namespace xferbench
