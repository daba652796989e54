// The ways to save GPU memory to a file.
#pragma once

#include <cstddef>
#include <memory>

#include "device/device.hpp"
#include "scenarios/storage/case.hpp"
#include "scenarios/storage/loader.hpp"
#include "scenarios/storage/stored_file.hpp"

namespace xferbench {

/// Makes the way of a case that saves. Its passes end when the system says that the data is on the device (fdatasync).
/// `on_gpu`: what is saved; null: only file_alone() will be called. `file` must outlive it.
std::unique_ptr<FileWay> make_file_saver(Device& device, StoredFile& file, const StorageCase& c, const PartTable& parts,
                                         std::byte* on_gpu);

}  // namespace xferbench
