// Writes the recording of one process (recording/recording.hpp). For code that lives in other people's programs:
// nothing here throws, prints or ends the process, and a file that cannot be written any more only stops growing.
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

/// Thread-safe. Records are gathered and appended to the file by whole records, when there are many or flush() is
/// called: a process that is killed leaves what was appended.
class RecordingWriter {
 public:
  /// Creates "PID-N.xfrec" in the folder, with the first N that is free; exec closes it. Where that fails error() says
  /// why, and everything else does nothing.
  RecordingWriter(const std::string& folder, std::uint32_t pid) noexcept;

  /// N of the file's name; 0: it could not be created.
  [[nodiscard]] int number() const noexcept;
  /// errno of what went wrong first; 0: nothing.
  [[nodiscard]] int error() const noexcept;
  [[nodiscard]] std::uint64_t records() const noexcept;  ///< added so far, names and stacks not counted

  /// The number of a text, whose record is written before it is used for the first time; 0 where there is none, or
  /// memory is short.
  recording::NameId name(std::string_view text) noexcept;
  template <class Record>
  void add(recording::Type type, const Record& record) noexcept {
    static_assert(recording::kIsPlain<Record>);
    add_bytes(type, std::as_bytes(std::span(&record, 1)));
  }
  /// A stack that was not added before; its number, or 0 where memory is short.
  std::uint32_t stack(std::span<const recording::NameId> frames) noexcept;

  /// Appends what has been gathered. False where the file cannot be written any more.
  bool flush() noexcept;
  /// Appends what has been gathered and this, and closes the file: what is added afterwards is left out.
  void end(const recording::End& record) noexcept;

 private:
  /// Which file it is, so that its descriptor's number is not taken for it once the program has closed that.
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
  std::vector<std::byte> gathered_;  // whole records
  std::map<std::string, recording::NameId, std::less<>> names_;
  std::uint32_t stacks_ = 0;
};

}  // namespace xferbench
