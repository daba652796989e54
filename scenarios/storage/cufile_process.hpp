// A child process in which cuFile (GPUDirect Storage) loads the file of a case into GPU memory of its own.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/child_process.hpp"
#include "core/descriptor.hpp"
#include "device/cufile.hpp"
#include "scenarios/common/slot_workers.hpp"
#include "scenarios/storage/case.hpp"
#include "scenarios/storage/cufile_protocol.hpp"

namespace xferbench {

/// Settings that tests change.
struct CufileSetting {
  std::string program = kOwnProgram;  ///< program to start with kCufileArgument and a GPU number; it serves requests
  double timeout = 60;                ///< seconds that an answer may take; a load may also take the time of 10 MB/s
};

/// Loads a file by cuFile in a child process. Its functions throw UnavailableError with the reason why cuFile cannot
/// load the file, and advice. If the child ends or takes too long, it is killed, and this object is unusable.
class CufileProcess : NonCopyable {
 public:
  /// Starts the process and prepares the case. `file`: open descriptor, which the child inherits; `gpu`: CUDA device
  /// index.
  CufileProcess(const StorageCase& c, int file, int gpu, const CufileSetting& setting = {});

  /// Reads the whole file into the GPU memory once. WorkTimes::waiting is 0.
  WorkTimes load();
  void fill(std::byte value);
  /// Copies GPU memory from `offset` on to `to` in this process.
  void fetch(std::span<std::byte> to, std::uint64_t offset);

  /// Bytes that the child has caused the system to read from devices, as of its last answer; nothing if unknown.
  [[nodiscard]] std::optional<std::uint64_t> device_bytes() const { return device_bytes_; }
  /// Returns the number of reads by each path so far; nothing if the library does not report it.
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
  std::string gone_;  // why the child is unusable; empty while it is usable
};

/// Names the path that the data took, as proved by cuFile's counts: "not proved" if there are none.
std::string cufile_path_text(const std::optional<CufilePaths>& paths);
/// Returns a warning with advice if the path is not GPUDirect Storage; else empty.
std::string cufile_path_doubt(const std::optional<CufilePaths>& paths);

}  // namespace xferbench
