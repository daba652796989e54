// Reading and writing open files to the end, whatever interrupts it. All answer with 0 or the system's error, which
// those who know the file's name put into words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace xferbench::file_io {

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

}  // namespace xferbench::file_io
