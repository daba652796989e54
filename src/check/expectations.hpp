// Expectations of results: absolute limits, written by hand in a file (docs/expect-schema.json).
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "check/quantity.hpp"
#include "core/enum_text.hpp"

namespace xferbench::check {

/// An absolute limit, or a share of another number.
struct Limit {
  Quantity amount;  ///< the absolute limit, or the share
  std::string of;   ///< "link", "memory", or a metric or measurement of the same case; empty: absolute
};

/// How a number must compare with an amount.
enum class Bound { equal, less, at_most, more, at_least };
constexpr auto texts_of(Bound) { return std::to_array<std::string_view>({"=", "<", "<=", ">", ">="}); }

/// An allowed value of an axis.
struct Wanted {
  std::string text;  ///< as it is written: a pattern for words (h2d, pin*), an amount (256MiB), or a bound (>=256MiB)
  Bound bound = Bound::equal;
  std::optional<double> amount;  ///< the number in `text`; absent: it is a word or a pattern
};

/// A condition on an axis: its value must be one of several.
struct Condition {
  std::string axis;
  std::vector<Wanted> any_of;
};

enum class Aggregate {
  every,   ///< every case must hold; the worst decides
  best,    ///< one must hold; the best decides
  median,  ///< the median of all cases must hold
};
constexpr auto texts_of(Aggregate) { return std::to_array<std::string_view>({"every", "best", "median"}); }

/// The statistic of a measurement that is checked.
enum class Statistic { median, p90, p99, min, max };
constexpr auto texts_of(Statistic) { return std::to_array<std::string_view>({"median", "p90", "p99", "min", "max"}); }

/// The param that names the GPUs of a case that uses several at once, where the scenario has no axis for them. Its
/// value is the GPUs that --gpus chose.
inline constexpr std::string_view kGpusOfCase = "gpus";

struct Expectation {
  std::string name;
  std::string cases;             ///< pattern for keys; empty: any
  std::string scenario;          ///< pattern for scenario names; empty: any
  std::vector<Condition> where;  ///< conditions on axes, all of which a case must meet
  std::string number;            ///< name of the metric or of the measurement
  std::string unit;              ///< unit that the file gives for both limits; already applied to them
  bool is_measurement = false;
  Statistic statistic = Statistic::median;  ///< which statistic, if `number` is a measurement
  std::optional<Limit> at_least;
  std::optional<Limit> at_most;
  Aggregate aggregate = Aggregate::every;
  bool optional = false;  ///< if true, no case has to match
};

inline constexpr std::size_t kMostExpectations = 10'000;  ///< most expectations in one file

struct Expectations {
  std::string source;  ///< name of the file in messages
  std::string description{};
  std::string gpu{};  ///< pattern for the GPU's name; empty: any
  std::vector<Expectation> all{};
};

/// Throws InputError with one line: the file, the line in it, the place, what was found and what was expected, and the
/// nearest match for an unknown word. Unknown fields are errors, because a misspelled limit would not limit anything.
Expectations parse_expectations(std::string_view text, std::string_view name);
/// The content of docs/expect-schema.json.
std::string expect_schema();

/// Parses the expectations in a file. Throws InputError if it cannot be read or parsed.
Expectations read_expectations(const std::string& path);

}  // namespace xferbench::check
