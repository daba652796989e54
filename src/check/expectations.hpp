// Expectations of results: absolute limits in a file, which may be written by hand (docs/expect-schema.json).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "check/quantity.hpp"
#include "core/enum_text.hpp"

namespace xferbench::check {

/// A limit for a number: an absolute amount, or a share of another number.
struct Limit {
  Quantity amount;  ///< absolute limit, or the share as a fraction
  std::string of;   ///< the limit is a share of this number: "link", "memory" or one of the case; empty: absolute
};

/// The comparison between a value and an amount.
enum class Bound { equal, less, at_most, more, at_least };
constexpr auto texts_of(Bound) { return enum_texts("=", "<", "<=", ">", ">="); }

/// An allowed value of an axis.
struct Wanted {
  /// the text in the file: a pattern for words (h2d, pin*), an amount (256MiB), or a bound (>=256MiB)
  std::string text;
  Bound bound = Bound::equal;
  std::optional<double> amount;  ///< number in `text`; absent if it is a word or a pattern
};

/// A condition on an axis: its value must be one of `any_of`.
struct Condition {
  std::string axis;
  std::vector<Wanted> any_of;
};

enum class Aggregate {
  every,   ///< every case must meet the limits; the worst case decides
  best,    ///< one case must meet the limits; the best case decides
  median,  ///< the median over all cases must meet the limits
};
constexpr auto texts_of(Aggregate) { return enum_texts("every", "best", "median"); }

/// The statistic of a measurement that is checked.
enum class Statistic { median, p90, p99, min, max };
constexpr auto texts_of(Statistic) { return enum_texts("median", "p90", "p99", "min", "max"); }

/// Name of the case parameter that stores the GPUs chosen by --gpus. Only cases on several GPUs have the parameter, and
/// only if their scenario has no axis for GPUs.
inline constexpr std::string_view kGpusOfCase = "gpus";

struct Expectation {
  std::string name;
  std::string cases;             ///< pattern for keys; empty: any
  std::string scenario;          ///< pattern for scenario names; empty: any
  std::vector<Condition> where;  ///< conditions on axes, all of which a case must meet
  std::string number;            ///< name of the metric or of the measurement
  std::string unit;              ///< unit that the file gives for both limits; already applied to them
  bool is_measurement = false;
  Statistic statistic = Statistic::median;  ///< statistic to check, if `number` is a measurement
  std::optional<Limit> at_least;
  std::optional<Limit> at_most;
  Aggregate aggregate = Aggregate::every;
  bool optional = false;  ///< if true, it is no error if no case matches
};

inline constexpr std::size_t kMostExpectations = 10'000;  ///< largest number of expectations in one file

struct Expectations {
  std::string source;  ///< file name, for messages
  std::string description{};
  std::string gpu{};  ///< pattern for the name of the GPU; empty: any GPU
  std::vector<Expectation> all{};
};

/// Parses the text of an expectations file. Throws InputError, whose one-line message names the file, the line, the
/// field, what was found and what was expected; for an unknown word, it suggests a similar one. Unknown fields are
/// errors, because a misspelled limit would not limit anything.
Expectations parse_expectations(std::string_view text, std::string_view name);
/// Returns the content of docs/expect-schema.json.
std::string expect_schema();

/// Parses the expectations in a file. Throws InputError if it cannot be read or parsed.
Expectations read_expectations(const std::string& path);

}  // namespace xferbench::check
