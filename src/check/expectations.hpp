// What results are expected to be: absolute limits, written by hand in a file (docs/expect-schema.json).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "check/quantity.hpp"

namespace xferbench::check {

/// A limit: so much, or a share of something else.
struct Limit {
  Quantity amount;  ///< absolute; or the share
  std::string of;   ///< "link", "memory", or a metric or measurement of the same case; empty: absolute
};

/// What an axis of a case must be: one of several.
struct Condition {
  std::string axis;
  std::vector<std::string> any_of;  ///< patterns (h2d, pin*), amounts (256MiB), or bounds (>=256MiB)
};

enum class Aggregate {
  every,   ///< every case must hold; the worst decides
  best,    ///< one must hold; the best decides
  median,  ///< of all cases
};
std::string_view to_text(Aggregate aggregate);

/// What the number of a measurement is.
enum class Statistic { median, p90, p99, min, max };
std::string_view to_text(Statistic statistic);

struct Expectation {
  std::string name;
  std::string cases;             ///< pattern for keys; empty: any
  std::string scenario;          ///< pattern; empty: any
  std::vector<Condition> where;  ///< all must be met
  std::string number;            ///< the metric's name, or the measurement's
  std::string unit;              ///< of both limits, where it is written once; they have it
  bool is_measurement = false;
  Statistic statistic = Statistic::median;  ///< of a measurement
  std::optional<Limit> at_least;
  std::optional<Limit> at_most;
  Aggregate aggregate = Aggregate::every;
  bool optional = false;  ///< may match no case
};

struct Expectations {
  std::string source;  ///< the file, as messages call it
  std::string description;
  std::string gpu;  ///< pattern for the GPU's name; empty: any
  std::vector<Expectation> all;
};

/// Throws InputError with one line: the file, the line in it, the place, what was found and what was expected; of a
/// word that it does not know, which was probably meant. An unknown field is an error: a limit that is misspelt would
/// be none.
Expectations parse_expectations(std::string_view text, std::string_view name);

/// The same of a file. Throws InputError if it cannot be read.
Expectations read_expectations(const std::string& path);

}  // namespace xferbench::check
