// Declarations of the measurements, metrics and labels of a scenario, for tables, files, comparisons and help.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/enum_text.hpp"

namespace xferbench {

enum class Better { lower, higher, neither };
constexpr auto texts_of(Better) { return enum_texts("lower", "higher", "neither"); }

/// Declaration of a measurement, a metric or a label that results of a scenario may have.
struct MetricDeclaration {
  enum class Kind {
    measurement,  ///< a quantity of which samples were measured
    metric,       ///< a number derived from samples
    label,        ///< a result in words, such as the name of the bottleneck
  };
  /// Format of the cells in the metric's table column.
  enum class Format {
    number,   ///< four significant digits; whole numbers for counts
    seconds,  ///< a time with its unit
    percent,  ///< a ratio in percent
    ratio,    ///< a ratio as "1.74x"
    word,     ///< a text, shown unchanged
  };
  /// Further table columns of a measurement, right of its median. A metric can only have the column `interval`.
  enum class Companion {
    /// Half-width of the 95 % confidence interval, in percent of the value. A measurement has the interval of its
    /// median. The interval of a metric is given by two more metrics, NAME_low and NAME_high.
    interval,
    clock,  ///< clock that timed the measurement; shown only if it differs between cases
    p90,    ///< 90th percentile; empty below 10 samples
    p99,    ///< 99th percentile; empty below 100 samples
  };

  std::string name;
  Kind kind = Kind::measurement;
  std::string unit{};  ///< unit, as in results; empty for a label
  Better better = Better::neither;
  bool headline = false;  ///< whether it is the main number of a case; of several headlines, only the first counts
  std::string heading{};  ///< heading of the table column; empty: no column
  Format format = Format::seconds;
  std::vector<Companion> companion{};
  std::string help{};  ///< description in one line
  friend bool operator==(const MetricDeclaration&, const MetricDeclaration&) = default;

  // Functions to build a declaration in one expression: measured("copy", "...").as_headline().column("time").
  [[nodiscard]] MetricDeclaration as_headline() && {
    headline = true;
    return std::move(*this);
  }
  /// Gives a measurement a unit other than seconds.
  [[nodiscard]] MetricDeclaration in(std::string its_unit, Better its_better) && {
    unit = std::move(its_unit);
    better = its_better;
    format = Format::number;
    return std::move(*this);
  }
  [[nodiscard]] MetricDeclaration column(std::string its_heading, std::vector<Companion> companions = {}) && {
    heading = std::move(its_heading);
    companion = std::move(companions);
    return std::move(*this);
  }
  /// Gives a metric a column with a format that does not follow from its unit.
  [[nodiscard]] MetricDeclaration column(std::string its_heading, Format its_format,
                                         std::vector<Companion> companions = {}) && {
    heading = std::move(its_heading);
    format = its_format;
    companion = std::move(companions);
    return std::move(*this);
  }
};

constexpr auto texts_of(MetricDeclaration::Kind) { return enum_texts("measurement", "metric", "label"); }
constexpr auto texts_of(MetricDeclaration::Format) {
  return enum_texts("number", "seconds", "percent", "ratio", "word");
}
constexpr auto texts_of(MetricDeclaration::Companion) { return enum_texts("interval", "clock", "p90", "p99"); }

/// Short names of the enumerators, for use in tables of declarations.
namespace declaring {
using enum Better;
using enum MetricDeclaration::Format;
using enum MetricDeclaration::Companion;
}  // namespace declaring

/// Declares a measurement in seconds; less is better.
inline MetricDeclaration measured(std::string name, std::string help) {
  return {.name = std::move(name), .unit = "s", .better = Better::lower, .help = std::move(help)};
}
inline MetricDeclaration derived(std::string name, std::string unit, Better better, std::string help) {
  return {.name = std::move(name),
          .kind = MetricDeclaration::Kind::metric,
          .unit = std::move(unit),
          .better = better,
          .format = MetricDeclaration::Format::number,
          .help = std::move(help)};
}
/// Declares a metric in seconds; less is better.
inline MetricDeclaration derived_time(std::string name, std::string help) {
  MetricDeclaration time = measured(std::move(name), std::move(help));
  time.kind = MetricDeclaration::Kind::metric;
  return time;
}
inline MetricDeclaration label(std::string name, std::string help) {
  return {.name = std::move(name),
          .kind = MetricDeclaration::Kind::label,
          .format = MetricDeclaration::Format::word,
          .help = std::move(help)};
}

struct Column {
  const MetricDeclaration* of = nullptr;  ///< declaration of the column's metric; must outlive the column
  std::optional<MetricDeclaration::Companion> companion{};
  [[nodiscard]] std::string header() const {
    if (!companion) return of->heading;
    return *companion == MetricDeclaration::Companion::interval ? "±" : std::string(to_text(*companion));
  }
};

/// Returns the table columns of these metrics, in order.
std::vector<Column> columns_of(std::span<const MetricDeclaration> metrics);

/// Returns the declaration of that kind and name; null if there is none.
const MetricDeclaration* find(std::span<const MetricDeclaration> metrics, MetricDeclaration::Kind kind,
                              std::string_view name);

}  // namespace xferbench
