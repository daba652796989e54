// The ways to load a file into GPU memory.
#pragma once

#include <cstddef>
#include <memory>

#include "core/non_copyable.hpp"
#include "device/device.hpp"
#include "scenarios/common/slot_workers.hpp"
#include "scenarios/storage/case.hpp"
#include "scenarios/storage/parts.hpp"
#include "scenarios/storage/stored_file.hpp"

namespace xferbench {

class FileLoader : NonCopyable {
 public:
  virtual ~FileLoader() = default;

  /// Loads the whole file and returns when its data has arrived. Throws FileError or DeviceError.
  virtual void load() = 0;
  /// Reads the whole file into the same host memory, from where nothing goes on to the GPU. Shows how fast the way
  /// reads.
  virtual void read() = 0;
  /// What happened in the last load() or read(). WorkTimes::moving is the time of reads.
  [[nodiscard]] virtual WorkTimes times() const = 0;
};

/// Makes the way of a case, for the parts of the file that are named. `on_gpu`: where the first of them goes; null:
/// only read() will be called. `file` must outlive the loader.
std::unique_ptr<FileLoader> make_file_loader(Device& device, StoredFile& file, const StorageCase& c,
                                             const PartTable& parts, std::byte* on_gpu);

}  // namespace xferbench
