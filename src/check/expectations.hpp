// What results are expected to be: absolute limits, written by hand in a file (docs/expect-schema.json).
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

/// A limit: so much, or a share of something else.
struct Limit {
  Quantity amount;  ///< absolute; or the share
  std::string of;   ///< "link", "memory", or a metric or measurement of the same case; empty: absolute
};

/// How a number must compare with an amount.
enum class Bound { equal, less, at_most, more, at_least };
constexpr auto texts_of(Bound) { return std::to_array<std::string_view>({"=", "<", "<=", ">", ">="}); }

/// What a value of an axis may be.
struct Wanted {
  std::string text;  ///< as it is written: a pattern for words (h2d, pin*), an amount (256MiB), or a bound (>=256MiB)
  Bound bound = Bound::equal;
  std::optional<double> amount;  ///< absent: no number can be it
};

/// What an axis of a case must be: one of several.
struct Condition {
  std::string axis;
  std::vector<Wanted> any_of;
};

enum class Aggregate {
  every,   ///< every case must hold; the worst decides
  best,    ///< one must hold; the best decides
  median,  ///< of all cases
};
constexpr auto texts_of(Aggregate) { return std::to_array<std::string_view>({"every", "best", "median"}); }

/// What the number of a measurement is.
enum class Statistic { median, p90, p99, min, max };
constexpr auto texts_of(Statistic) { return std::to_array<std::string_view>({"median", "p90", "p99", "min", "max"}); }

/// In cases that several GPUs work on at once, where these are not those of an axis: which ones --gpus chose.
inline constexpr std::string_view kGpusOfCase = "gpus";

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

inline constexpr std::size_t kMostExpectations = 10'000;  ///< that a file may have

struct Expectations {
  std::string source;  ///< the file, as messages call it
  std::string description{};
  std::string gpu{};  ///< pattern for the GPU's name; empty: any
  std::vector<Expectation> all{};
};

/// Throws InputError with one line: the file, the line in it, the place, what was found and what was expected; of a
/// word that it does not know, which was probably meant. An unknown field is an error: a limit that is misspelt would
/// be none.
Expectations parse_expectations(std::string_view text, std::string_view name);
/// What docs/expect-schema.json says.
std::string expect_schema();

/// The same of a file. Throws InputError if it cannot be read.
Expectations read_expectations(const std::string& path);

}  // namespace xferbench::check
