// Writes the recording of one process (recording/recording.hpp). Runs inside other programs: nothing here throws,
// prints or ends the process, and after a write error the file only stops growing.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/descriptor.hpp"
#include "recording/recording.hpp"

namespace xferbench {

/// Thread-safe writer of one recording. Gathers records, and appends them to the file when there are 256 KiB of them or
/// flush() is called. If the process is killed, the appended records remain.
class RecordingWriter {
 public:
  /// Creates "PID-N.xfrec" in the folder, with the first free N, close-on-exec. If that fails, error() returns the
  /// reason, and all other functions do nothing.
  RecordingWriter(const std::string& folder, std::uint32_t pid) noexcept;

  /// N in the file's name; 0: no file was created.
  [[nodiscard]] int number() const noexcept;
  /// errno of the first error; 0: none.
  [[nodiscard]] int error() const noexcept;
  [[nodiscard]] std::uint64_t records() const noexcept;  ///< number of records added so far, without names and stacks

  /// Returns the id of a text, and adds a record of the text on its first use. Returns 0 if the text is empty, there is
  /// no file, or memory is short.
  recording::NameId name(std::string_view text) noexcept;
  template <class Record>
  void add(recording::Type type, const Record& record) noexcept {
    static_assert(recording::kIsPlain<Record>);
    add_bytes(type, std::as_bytes(std::span(&record, 1)));
  }
  /// Adds a call stack that has not been added before. Returns its number, or 0 if there is no file or memory is short.
  std::uint32_t stack(std::span<const recording::NameId> frames) noexcept;

  /// Appends the gathered records. Returns false if the file can no longer be written.
  bool flush() noexcept;
  /// Appends the gathered records and this one, and closes the file. Later records are dropped.
  void end(const recording::End& record) noexcept;

 private:
  /// Identifies our file by its inode, because the program may close our descriptor and reuse its number for another
  /// file.
  struct Identity {
    dev_t device = 0;
    ino_t inode = 0;
    friend bool operator==(const Identity&, const Identity&) = default;
  };

  void add_bytes(recording::Type type, std::span<const std::byte> record) noexcept;
  void append(recording::Type type, std::span<const std::byte> head, std::span<const std::byte> tail);
  bool create(const std::string& folder, std::uint32_t pid);
  static Identity identity_of(int descriptor);
  bool is_open();
  int write_gathered();
  bool write_all();
  void give_up(int error);

  mutable std::mutex mutex_;
  std::string path_;
  Descriptor file_;
  Identity identity_;
  pid_t process_ = 0;
  int number_ = 0;
  int error_ = 0;
  std::uint64_t records_ = 0;
  std::uint64_t written_ = 0;        // bytes in the file
  std::vector<std::byte> gathered_;  // whole records, not yet written
  std::map<std::string, recording::NameId, std::less<>> names_;
  std::uint32_t stacks_ = 0;
};

}  // namespace xferbench
