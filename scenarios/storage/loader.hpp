// The ways to load a file into GPU memory, and to save GPU memory to a file.
#pragma once

#include <cstddef>

#include "device/device.hpp"
#include "scenarios/common/slot_workers.hpp"
#include "scenarios/storage/case.hpp"
#include "scenarios/storage/cufile_process.hpp"
#include "scenarios/storage/parts.hpp"
#include "scenarios/storage/stored_file.hpp"

namespace xferbench {

/// A way to move data between a file and GPU memory.
class FileWay : NonCopyable {
 public:
  virtual ~FileWay() = default;

  /// Loads or saves the whole file and returns when its data has arrived. Throws FileError or DeviceError.
  virtual void transfer() = 0;
  /// Reads or writes the whole file, to or from the same host memory, but nothing crosses the link. Throws
  /// std::logic_error if the way cannot, see StorageCase::has_read_alone().
  virtual void file_alone() = 0;
  /// Returns the times of the last pass. WorkTimes::moving is the time of reads or writes.
  [[nodiscard]] virtual WorkTimes times() const { return times_; }
  /// For ways that save: seconds of the last pass until its last write had returned. The data was then in the page
  /// cache or, with direct writes, on the device.
  [[nodiscard]] virtual double written() const { return 0; }
  /// Returns the child process that loads the file into GPU memory of its own; null if this process loads the file.
  [[nodiscard]] virtual CufileProcess* other_process() { return nullptr; }

 protected:
  WorkTimes times_;
};

/// What a way moves between a file and one GPU. The way keeps only references to `device` and `file`.
struct FileTask {
  Device& device;
  StoredFile& file;
  const StorageCase& c;
  const PartTable& parts;  ///< the parts of the file that are moved
  std::byte* on_gpu;       ///< GPU address of the first part; null: only file_alone() will be called
  AfterCopy after{};  ///< called in transfer() after each copy to its place, with offsets in the file; may be empty
};

/// Returns the plan of a case's threads and slots.
SlotPlan slot_plan(const FileTask& task);

std::unique_ptr<FileWay> make_file_loader(const FileTask& task);
/// Like make_file_loader() above, for StorageWay::uring. Throws UnavailableError if this system has no io_uring,
/// forbids it, or cannot use the slots' memory for it.
std::unique_ptr<FileWay> make_uring_loader(const FileTask& task);

/// The part of the file that a GPU gets, and its memory for that part.
struct FileOnGpu {
  Device* device;
  PartTable parts;
  std::shared_ptr<DeviceBuffer> memory;
};

/// Makes the case's way for these GPUs, at least one: the way for one GPU if the case has no share. `file` and the
/// memory must outlive the loader. With FileShare::broadcast the first GPU must have access to the memory of the
/// others.
std::unique_ptr<FileWay> make_file_loader(StoredFile& file, const StorageCase& c, const std::vector<FileOnGpu>& gpus);

/// Makes the way of a case that saves. Its passes end when the system says that the data is on the device (fdatasync).
std::unique_ptr<FileWay> make_file_saver(const FileTask& task);

}  // namespace xferbench
