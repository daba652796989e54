// Reading and writing open files to the end, whatever interrupts it. Those that do answer with 0 or the system's error,
// which those who know the file's name put into words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/descriptor.hpp"

namespace xferbench::file_io {

/// Does not wait for the reader of a pipe: without one, errno is ENXIO and it returns none. Writing then waits for one
/// that reads slowly.
Descriptor open_to_append(const std::string& path, int more_flags = 0);
/// All of it, where the file stands.
int write(int file, std::string_view text);
/// All of it, from there on.
int write_at(int file, std::uint64_t at, std::string_view text);
/// Fills the text, which becomes shorter where the file ends before it does.
int read_at(int file, std::uint64_t at, std::string& text);

/// Brings what was written to the disk. Some files have nothing to synchronise.
int synchronize(int file);
/// False where another has the lock (flock). A file system without locks has nothing to wait for.
bool lock(int file);
bool is_ordinary(int file);
/// Throws InputError for a named pipe (mkfifo): opening it waits for a writer, perhaps for ever. The pipes of standard
/// input and of a shell's <(...) have no name, and a writer already.
void refuse_named_pipe(const std::string& path);

}  // namespace xferbench::file_io
