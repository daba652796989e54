// A results file read back: the reverse of report/json.hpp. The file may be large, damaged or hostile.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "results/result.hpp"

namespace xferbench {

/// A case as a file tells it. Its axes have names and values, but no kinds: a size is a whole number, too.
struct StoredResult {
  struct Param {
    std::string name;
    std::variant<std::uint64_t, double, std::string> value;
    friend bool operator==(const Param&, const Param&) = default;
  };

  std::string scenario;
  std::string key;
  std::vector<Param> params;  ///< in the file's order
  Status status = Status::ok;
  std::string reason;
  std::vector<std::string> warnings;
  std::vector<Measurement> measurements;  ///< `auxiliary` is not in the file and never set
  std::vector<Metric> metrics;
  std::vector<std::pair<std::string, std::string>> labels;

  /// Null if there is none of that name.
  [[nodiscard]] const Measurement* measurement(std::string_view name) const;
  [[nodiscard]] const Metric* metric(std::string_view name) const;
  /// Empty if there is none of that name.
  [[nodiscard]] std::string label(std::string_view name) const;
};

/// The program that measured. What is unknown is empty.
struct StoredTool {
  std::string version;
  std::string git;
  std::string compiler;
  std::string cuda;
  std::string type;  ///< CMake's build type
  friend bool operator==(const StoredTool&, const StoredTool&) = default;
};

/// A whole results file. Keys of results are unique.
struct StoredReport {
  bool complete = false;
  std::string started_at;               ///< ISO 8601, UTC
  std::vector<std::string> resumed_at;  ///< the same, each time
  StoredTool tool;
  std::vector<std::string> command;
  Environment environment;
  std::vector<StoredResult> results;  ///< in the file's order
  std::vector<Finding> findings;
};

/// Reads a results file; "-" is standard input. Fields that it does not know are ignored, since the format may grow.
/// Throws InputError with one line: the file, the line in it, the place (results[3].measurements[0].samples[2]), what
/// was found and what was expected. Several files may be read at once, by a thread each.
StoredReport read_report(const std::string& path);

/// The same of a text; `name` is what messages call it.
StoredReport parse_report(std::string_view text, std::string_view name);

}  // namespace xferbench
