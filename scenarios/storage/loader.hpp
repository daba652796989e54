// The ways to load a file into GPU memory.
#pragma once

#include <cstddef>
#include <memory>

#include "core/non_copyable.hpp"
#include "device/device.hpp"
#include "scenarios/common/slot_workers.hpp"
#include "scenarios/storage/case.hpp"
#include "scenarios/storage/stored_file.hpp"

namespace xferbench {

class FileLoader : NonCopyable {
 public:
  virtual ~FileLoader() = default;

  /// Loads the whole file and returns when its data has arrived. Throws FileError or DeviceError.
  virtual void load() = 0;
  /// What happened in the last load(). WorkTimes::moving is the time of reads.
  [[nodiscard]] virtual WorkTimes times() const = 0;
};

/// Makes the way of a case. `on_gpu`: where the file goes; null: its data gets only as far as the host memory from
/// which it would cross the link, so that a pass shows how fast the way reads. `file` must outlive the loader.
std::unique_ptr<FileLoader> make_file_loader(Device& device, StoredFile& file, const StorageCase& c, std::byte* on_gpu);

}  // namespace xferbench
