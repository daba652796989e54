// How far apart the processes of one machine lie that measure the same case: made by --repeat, read by compare --spread
// (docs/spread-schema.json).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace xferbench {

/// What several processes showed of one case.
struct CaseSpread {
  std::string key;
  std::string measured{};     ///< the measurement whose medians these are
  std::size_t processes = 0;  ///< at least two
  double spread = 0;          ///< standard deviation of the logarithms of the processes' medians: 0.01 is about 1 %
  friend bool operator==(const CaseSpread&, const CaseSpread&) = default;
};

struct SpreadFile {
  std::string updated_at;  ///< ISO 8601, UTC
  std::string gpu;         ///< its name
  std::string uuid;        ///< empty where it has none, as the simulated one
  std::string profile;     ///< of the simulated device; empty for a real one
  std::vector<CaseSpread> cases;
  friend bool operator==(const SpreadFile&, const SpreadFile&) = default;
};

/// Throws InputError with one line that says where in the file something is wrong, and what was expected.
SpreadFile read_spread(const std::string& path);

/// The same of a text; `name` is what messages call it.
SpreadFile parse_spread(std::string_view text, std::string_view name);

std::string to_json(const SpreadFile& file);
/// What docs/spread-schema.json says.
std::string spread_schema();

}  // namespace xferbench
