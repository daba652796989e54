// The spread file: how far the results of processes differ that measure the same case on one machine. --repeat writes
// the file, compare --spread reads it (docs/spread-schema.json).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace xferbench {

/// The spread of one case over several processes.
struct CaseSpread {
  std::string key;
  std::string measured{};     ///< measurement whose medians were compared
  std::size_t processes = 0;  ///< number of processes, at least two
  double spread = 0;          ///< standard deviation of the logarithms of the processes' medians: 0.01 is about 1 %
  friend bool operator==(const CaseSpread&, const CaseSpread&) = default;
};

struct SpreadFile {
  std::string updated_at;  ///< ISO 8601, UTC
  std::string gpu;
  std::string uuid;     ///< UUID of the GPU; empty if it has none, as a simulated GPU
  std::string profile;  ///< profile of the simulated device; empty for a real GPU
  std::vector<CaseSpread> cases;
  friend bool operator==(const SpreadFile&, const SpreadFile&) = default;
};

/// Reads a spread file. Throws InputError with one line: the place in the file, what is wrong, and what was expected.
SpreadFile read_spread(const std::string& path);

/// Parses the text of a spread file; `name` is used in messages.
SpreadFile parse_spread(std::string_view text, std::string_view name);

std::string to_json(const SpreadFile& file);
/// Returns the contents of docs/spread-schema.json.
std::string spread_schema();

}  // namespace xferbench
