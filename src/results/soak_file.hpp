// The file of a soak: JSON Lines, one document a line (docs/soak-schema.json). The first says what was asked for, each
// further one is an interval and what all came to up to then. So the file is complete at every moment, takes no longer
// to write the longer a soak goes on, and its last line alone is what a soak goes on from.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/descriptor.hpp"
#include "results/soak.hpp"

namespace xferbench {

/// One line each, with its end.
std::string to_json(const SoakHeader& header);
std::string to_json(const SoakInterval& interval);
/// What docs/soak-schema.json says.
std::string soak_schema();

/// Throw InputError; `name` is what messages call the text.
SoakHeader parse_soak_header(std::string_view text, std::string_view name);
SoakInterval parse_soak_interval(std::string_view text, std::string_view name);

/// What a soak goes on from.
struct StoredSoak {
  SoakHeader header{};
  std::optional<SoakInterval> last{};  ///< nothing: it ended before its first interval
};

/// A soak's file, which may be packed with xz and may still be growing. Throws InputError.
StoredSoak read_soak(const std::string& path);

/// Each whole line of such a file behind the first. Throws InputError.
void for_each_interval(const std::string& path, const std::function<void(const SoakInterval&)>& told);

/// A soak's file that grows by whole lines: each is on the disk before append() returns. What a crash may have left of
/// a line is taken away when the file is opened to go on with. Locked (flock) while this object lives.
class SoakFile {
 public:
  /// A new file; what was there is kept as FILE~. "-" is standard output. Throws OutputError.
  static SoakFile create(const std::string& path);
  /// The file of a soak, to be gone on with. Throws InputError where it is none, OutputError where it cannot be
  /// written.
  static SoakFile go_on(const std::string& path, StoredSoak& stored);

  [[nodiscard]] bool is_standard_output() const { return path_ == "-"; }
  /// Throws OutputError (a full disk), ClosedPipeError; the file then ends with the last whole line.
  void append(const std::string& line);
  /// Where somebody has deleted the file, writes it again with all its lines; where somebody has cut it, with its first
  /// line and what is left. What has happened, in words; empty: nothing. Throws OutputError.
  [[nodiscard]] std::string restore();

 private:
  SoakFile(std::string path, Descriptor file) : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;
  Descriptor file_;          // none: standard output
  std::string first_{};      // line
  std::uint64_t bytes_ = 0;  // in the file
};

}  // namespace xferbench
