// Reads and writes open files completely, even if signals interrupt the system calls. Functions that return int return
// 0 or errno; callers add the name of the file to messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/descriptor.hpp"

namespace xferbench::file_io {

/// Opens a file to append to it. Does not wait for a reader of a pipe: if there is none, returns an empty Descriptor
/// with errno ENXIO. Writing to the pipe later waits for slow readers.
Descriptor open_to_append(const std::string& path, int more_flags = 0);
/// Writes all of the text at the current position.
int write(int file, std::string_view text);
/// Writes all of the text from offset `at` on.
int write_at(int file, std::uint64_t at, std::string_view text);
/// Reads text.size() bytes from offset `at` on into `text`; shortens `text` if the file ends before.
int read_at(int file, std::uint64_t at, std::string& text);

/// Makes written data durable (fsync). Files that cannot be synchronized are no error.
int synchronize(int file);
/// Takes a lock (flock) without waiting. Returns false if another process has it, true if the file system has no locks.
bool lock(int file);
bool is_ordinary(int file);
/// Throws InputError for a named pipe (mkfifo), because opening it would wait for a writer, perhaps for ever. The pipes
/// of standard input and of a shell's <(...) are unnamed and already have a writer.
void refuse_named_pipe(const std::string& path);

}  // namespace xferbench::file_io
