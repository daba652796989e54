// The file of a soak: JSON Lines, one document per line (docs/soak-schema.json). The first line has the settings; each
// further one has an interval and the totals up to it. So the file is complete at every moment, each line takes the
// same time to write, and the last line alone is enough to resume a soak.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/descriptor.hpp"
#include "results/soak.hpp"

namespace xferbench {

/// Return one line of the file, with its line feed.
std::string to_json(const SoakHeader& header);
std::string to_json(const SoakInterval& interval);
/// Returns the contents of docs/soak-schema.json.
std::string soak_schema();

/// Parse one line of the file. Throw InputError; `name` is used in messages.
SoakHeader parse_soak_header(std::string_view text, std::string_view name);
SoakInterval parse_soak_interval(std::string_view text, std::string_view name);

/// The state from which a soak is resumed.
struct StoredSoak {
  SoakHeader header{};
  std::optional<SoakInterval> last{};  ///< last interval; nothing if the soak stopped during its first interval
};

/// Reads a soak's file, which may be compressed with xz or still growing. Throws InputError.
StoredSoak read_soak(const std::string& path);

/// Calls `told` for each complete line after the header. Throws InputError.
void for_each_interval(const std::string& path, const std::function<void(const SoakInterval&)>& told);

/// A soak's file, which grows by whole lines: each line is on the disk before append() returns. Opening it to resume
/// removes an incomplete line that a crash may have left. Locked (flock) while this object exists.
class SoakFile {
 public:
  /// Creates a new file; an existing one is kept as FILE~. "-" is standard output. Throws OutputError.
  static SoakFile create(const std::string& path);
  /// Opens a soak's file to resume it. Throws InputError if it is not a soak's file, OutputError if it is not writable.
  static SoakFile go_on(const std::string& path, StoredSoak& stored);

  [[nodiscard]] bool is_standard_output() const { return path_ == "-"; }
  /// Throws OutputError (a full disk) or ClosedPipeError; then the file ends with its last complete line.
  void append(const std::string& line);
  /// Repairs the file if another program changed it. A deleted file is written again with all its lines. A
  /// truncated file keeps its complete lines; if none is left, the first line is written again. Returns a sentence
  /// about the repair; empty: the file was intact. Throws OutputError.
  [[nodiscard]] std::string restore();

 private:
  SoakFile(std::string path, Descriptor file) : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;
  Descriptor file_;  // none: standard output
  std::string first_{};
  std::uint64_t bytes_ = 0;
};

}  // namespace xferbench
