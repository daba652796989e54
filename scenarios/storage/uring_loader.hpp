// The way of one thread that keeps reads of a file in flight by io_uring.
#pragma once

#include <memory>

#include "scenarios/storage/loader.hpp"

namespace xferbench {

/// As make_file_loader(). Throws UnavailableError if this system has no io_uring, forbids it, or does not take the
/// slots' memory for it.
std::unique_ptr<FileWay> make_uring_loader(Device& device, StoredFile& file, const StorageCase& c,
                                           const PartTable& parts, std::byte* on_gpu, AfterCopy after);

}  // namespace xferbench
