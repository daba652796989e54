// Reads of a real file that are in flight at the same time, by io_uring with registered memory and a registered file.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "device/file.hpp"
#include "device/system_calls.hpp"

namespace xferbench {

struct QueuedFile {
  DataFile& file;                         ///< reads what the queue cannot read whole
  int number;                             ///< its descriptor
  std::optional<DirectAlignment> direct;  ///< nothing: through the page cache
};

/// As DataFile::make_queue(). `calls` and the file must outlive the queue.
std::unique_ptr<ReadQueue> make_uring_queue(SystemCalls& calls, const QueuedFile& file, std::span<std::byte> memory,
                                            std::size_t slots, QueueCopies copies);

}  // namespace xferbench
