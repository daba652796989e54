// What a scenario writes into its results, declared once: tables, files, comparisons and help read it from here.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/enum_text.hpp"

namespace xferbench {

/// Which way a number is better.
enum class Better { lower, higher, neither };
constexpr auto texts_of(Better) { return std::to_array<std::string_view>({"lower", "higher", "neither"}); }

/// A measurement, a metric or a label that results of a scenario may have.
struct MetricDeclaration {
  enum class Kind {
    measurement,  ///< samples
    metric,       ///< a number derived from samples
    label,        ///< a finding that is a word
  };
  /// How a cell of its column is written.
  enum class Format {
    number,   ///< four significant digits; whole where its unit is what is counted
    seconds,  ///< a time with its unit
    percent,  ///< a ratio in percent
    ratio,    ///< a ratio as "1.74x"
    word,     ///< as it is
  };
  /// What else of a measurement has a column, right of its median's.
  enum class Beside {
    interval,  ///< half-width of the median's 95 % interval, in percent
    clock,     ///< which clock timed it; shown only where it differs between cases
    p90,       ///< 90th percentile; empty below 10 samples
    p99,       ///< 99th percentile; empty below 100 samples
  };

  std::string name;
  Kind kind = Kind::measurement;
  std::string unit{};  ///< as results have it; empty for a label
  Better better = Better::neither;
  bool headline = false;  ///< what a case is about: of several the first that the case has
  std::string heading{};  ///< of its column; empty: it has none
  Format format = Format::seconds;
  std::vector<Beside> beside{};
  std::string help{};  ///< one line
  friend bool operator==(const MetricDeclaration&, const MetricDeclaration&) = default;

  // For tables of declarations, which read as sentences: measured("copy", "...").as_headline().column("time").
  [[nodiscard]] MetricDeclaration as_headline() &&;
  /// A unit other than seconds, of a measurement.
  [[nodiscard]] MetricDeclaration in(std::string its_unit, Better its_better) &&;
  [[nodiscard]] MetricDeclaration column(std::string its_heading, std::vector<Beside> columns_beside = {}) &&;
  /// A column of a metric that is not written as its unit suggests.
  [[nodiscard]] MetricDeclaration column(std::string its_heading, Format its_format) &&;
};

constexpr auto texts_of(MetricDeclaration::Kind) {
  return std::to_array<std::string_view>({"measurement", "metric", "label"});
}
constexpr auto texts_of(MetricDeclaration::Format) {
  return std::to_array<std::string_view>({"number", "seconds", "percent", "ratio", "word"});
}
constexpr auto texts_of(MetricDeclaration::Beside) {
  return std::to_array<std::string_view>({"interval", "clock", "p90", "p99"});
}

/// The words of a table of declarations.
namespace declaring {
using enum Better;
using enum MetricDeclaration::Format;
using enum MetricDeclaration::Beside;
}  // namespace declaring

/// A measurement in seconds, of which less is better.
MetricDeclaration measured(std::string name, std::string help);
MetricDeclaration derived(std::string name, std::string unit, Better better, std::string help);
/// A derived time, of which less is better.
MetricDeclaration derived_time(std::string name, std::string help);
MetricDeclaration label(std::string name, std::string help);

/// One column of a scenario's table.
struct Column {
  const MetricDeclaration* of = nullptr;  ///< outlives the column
  std::optional<MetricDeclaration::Beside> beside{};
  [[nodiscard]] std::string header() const;
};

/// The columns of these metrics, in their order.
std::vector<Column> columns_of(std::span<const MetricDeclaration> metrics);

/// The one of that kind and name; null if there is none.
const MetricDeclaration* find(std::span<const MetricDeclaration> metrics, MetricDeclaration::Kind kind,
                              std::string_view name);

}  // namespace xferbench
