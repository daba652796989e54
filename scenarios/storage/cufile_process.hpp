// A child process in which cuFile (GPUDirect Storage) loads the file of a case into GPU memory of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/child_process.hpp"
#include "core/descriptor.hpp"
#include "device/cufile.hpp"
#include "scenarios/common/slot_workers.hpp"
#include "scenarios/storage/case.hpp"
#include "scenarios/storage/cufile_protocol.hpp"

namespace xferbench {

/// What differs in a test.
struct CufileSetting {
  std::string program = kOwnProgram;  ///< which serves requests if its arguments are kCufileArgument and a number
  double timeout = 60;                ///< seconds that an answer may take; for a load plus those of 10 MB/s
};

/// Its functions throw UnavailableError: why cuFile cannot load the file here, with what to do. That includes a child
/// that ends or takes too long; it is then killed, and the object cannot be used any more.
class CufileProcess : NonCopyable {
 public:
  /// Starts the process and makes the whole case ready in it. `file`: open descriptor, which the child inherits; `gpu`:
  /// CUDA device index.
  CufileProcess(const StorageCase& c, int file, int gpu, const CufileSetting& setting = {});

  /// Reads the whole file into the GPU memory once. WorkTimes::waiting is 0.
  WorkTimes load();
  void fill(std::byte value);
  /// Copies from `offset` of the GPU memory on to this process.
  void fetch(std::span<std::byte> to, std::uint64_t offset);

  /// Bytes that the child has made the system read from devices until its last answer; nothing if it does not know.
  [[nodiscard]] std::optional<std::uint64_t> device_bytes() const { return device_bytes_; }
  /// Reads by each path so far; nothing if the library does not tell.
  [[nodiscard]] std::optional<CufilePaths> paths();

 private:
  CufileAnswer ask(const CufileRequest& request, std::string_view what);
  [[noreturn]] void give_up(const std::string& reason);
  [[nodiscard]] std::string how_it_ended();

  CufileSetting setting_;
  std::size_t bytes_;
  Descriptor channel_;
  Descriptor shared_file_;
  std::optional<CufileShared> shared_;
  std::optional<ChildProcess> child_;
  std::optional<std::uint64_t> device_bytes_;
  std::string gone_;  // why the child cannot be asked any more; empty while it can
};

/// Names the path that the data took, as proved by cuFile's counts: "not proved" if there are none.
std::string cufile_path_text(const std::optional<CufilePaths>& paths);
/// Returns what to know about a path that is not GPUDirect Storage, with what to do; empty for one that is.
std::string cufile_path_doubt(const std::optional<CufilePaths>& paths);

}  // namespace xferbench
