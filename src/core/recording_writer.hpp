// Writes the recording of one process (core/recording.hpp). For code that lives in other people's programs: nothing
// here throws, prints or ends the process, and a file that cannot be written any more only stops growing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/descriptor.hpp"
#include "core/recording.hpp"

namespace xferbench {

/// Thread-safe. Records are gathered and appended by flush(), each time by whole records, so that a process that is
/// killed leaves what was flushed.
class RecordingWriter {
 public:
  /// Creates "PID-N.xfrec" in the folder, with the first N that is free, closed by exec. Where that fails error() says
  /// why, and everything else does nothing.
  RecordingWriter(const std::string& folder, std::uint32_t pid);

  /// errno of what went wrong; 0: nothing.
  [[nodiscard]] int error() const;
  [[nodiscard]] std::uint64_t records() const;  ///< appended so far, names not counted

  /// The number of a text, whose record is written before the first use.
  recording::NameId name(std::string_view text);
  template <class Record>
  void add(recording::Type type, const Record& record) {
    static_assert(recording::kIsPlain<Record>);
    append(type, std::as_bytes(std::span(&record, 1)));
  }
  /// A stack that was not added before; its number.
  std::uint32_t stack(std::span<const recording::NameId> frames);

  /// Appends what has been gathered to the file. False once that fails.
  bool flush();

 private:
  void append(recording::Type type, std::span<const std::byte> payload);
};

}  // namespace xferbench
