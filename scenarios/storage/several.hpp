// Loads one file into the memory of several GPUs at once.
#pragma once

#include <memory>
#include <vector>

#include "device/device.hpp"
#include "scenarios/storage/case.hpp"
#include "scenarios/storage/loader.hpp"
#include "scenarios/storage/parts.hpp"
#include "scenarios/storage/stored_file.hpp"

namespace xferbench {

/// What a GPU gets of the file, and its memory for that.
struct FileOnGpu {
  Device* device;
  PartTable parts;
  std::shared_ptr<DeviceBuffer> memory;
};

/// Makes the case's way for these GPUs, at least one: the way for one GPU if the case has no share. `file` and the
/// memory must outlive the loader. With FileShare::broadcast the first GPU must have access to the memory of the
/// others.
std::unique_ptr<FileWay> make_file_loader(StoredFile& file, const StorageCase& c, const std::vector<FileOnGpu>& gpus);

}  // namespace xferbench
