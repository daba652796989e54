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
  DataFile& file;                         ///< for reads that the queue cannot do in one request
  int number;                             ///< descriptor of `file`
  std::optional<DirectAlignment> direct;  ///< alignment of direct reads; nothing: reads use the page cache
};

/// Makes the queue of DataFile::make_queue(). `calls` and the file must outlive the queue.
std::unique_ptr<ReadQueue> make_uring_queue(SystemCalls& calls, const QueuedFile& file, std::span<std::byte> memory,
                                            std::size_t slots, QueueCopies copies);

}  // namespace xferbench
