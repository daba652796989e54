// Writes the recording of one process (core/recording.hpp). For code that lives in other people's programs: nothing
// here throws, prints or ends the process, and a file that cannot be written any more only stops growing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/descriptor.hpp"
#include "core/recording.hpp"

namespace xferbench {

/// Thread-safe. Records are gathered and appended to the file by whole records, when there are many or flush() is
/// called: a process that is killed leaves what was appended.
class RecordingWriter {
 public:
  /// Creates "PID-N.xfrec" in the folder, with the first N that is free; exec closes it. Where that fails error() says
  /// why, and everything else does nothing.
  RecordingWriter(const std::string& folder, std::uint32_t pid) noexcept;

  /// errno of what went wrong first; 0: nothing.
  [[nodiscard]] int error() const noexcept;
  [[nodiscard]] std::uint64_t records() const noexcept;  ///< added so far, names not counted
  /// How long the file is, what is gathered not counted.
  [[nodiscard]] std::uint64_t bytes() const noexcept;

  /// The number of a text, whose record is written before it is used for the first time; 0 where memory is short.
  recording::NameId name(std::string_view text) noexcept;
  template <class Record>
  void add(recording::Type type, const Record& record) noexcept {
    static_assert(recording::kIsPlain<Record>);
    add(type, std::as_bytes(std::span(&record, 1)), {});
  }
  /// A stack that was not added before; its number, or 0 where memory is short.
  std::uint32_t stack(std::span<const recording::NameId> frames) noexcept;

  /// Appends what has been gathered. False where the file cannot be written any more.
  bool flush() noexcept;
  /// Appends what has been gathered and one more record, and closes the file: nothing can be added after it.
  void end(const recording::End& record) noexcept;
  /// Forgets the file without writing to it: in a child of fork, whose parent goes on with it.
  void abandon() noexcept;

 private:
  void add(recording::Type type, std::span<const std::byte> head, std::span<const std::byte> tail) noexcept;
  void append(recording::Type type, std::span<const std::byte> head, std::span<const std::byte> tail);
  bool write_all();
  void give_up(int error);

  mutable std::mutex mutex_;
  Descriptor file_;
  int error_ = 0;
  std::uint64_t records_ = 0;
  std::uint64_t written_ = 0;        // bytes in the file
  std::vector<std::byte> gathered_;  // whole records
  std::map<std::string, recording::NameId, std::less<>> names_;
  std::uint32_t stacks_ = 0;
};

}  // namespace xferbench
